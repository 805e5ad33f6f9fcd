import * as fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openTestQueue, type QueueServer, queueServers, type TestQueue } from '../../support/queue.ts'

const emptied = (queue: TestQueue) =>
  expect.poll(() => queue.counts()).toEqual({ waiting: 0, active: 0, delayed: 0, failed: 0, completed: 0 })

/** @returns sets it right, which the end of the test does, too */
function setClock(minutesAhead: number): () => void {
  const { now } = Date
  Object.assign(Date, { now: () => now() + minutesAhead * 60_000 })
  const setRight = () => void Object.assign(Date, { now })
  onTestFinished(setRight)
  return setRight
}

for (const { server, missing, begin } of queueServers) {
  describe.skipIf(missing)(`a queue on ${server}`, () => {
    let running: QueueServer
    const open: TestQueue[] = []
    beforeAll(async () => {
      running = await begin()
    })
    afterEach(async () => {
      await Promise.all(open.splice(0).map((queue) => queue.stop()))
    })
    afterAll(() => running.end())

    const openQueue = async (limits?: Parameters<typeof openTestQueue>[1]) => {
      const queue = await openTestQueue(running.url, limits)
      open.push(queue)
      return queue
    }

    test('a wake-up runs the handler of its name once, with its key', async () => {
      const queue = await openQueue()
      const runs: string[] = []
      queue.work(
        {
          apply: async (key) => void runs.push(`apply ${key}`),
          poll: async (key) => void runs.push(`poll ${key}`),
        },
        { concurrency: 2 },
      )
      await queue.wake('apply')
      await queue.wake('poll', 'base')
      await expect.poll(() => runs.toSorted()).toEqual(['apply ', 'poll base'])
      await emptied(queue)
      expect(runs).toHaveLength(2)
    })

    test('wake-ups that nobody has taken yet are one per name and key', async () => {
      const queue = await openQueue()
      await Promise.all(Array.from({ length: 50 }, () => queue.wake('apply')))
      for (const key of ['base', 'base', 'solana']) await queue.wake('scan', key)
      expect(await queue.counts()).toEqual({ waiting: 3, active: 0, delayed: 0, failed: 0, completed: 0 })
      const runs: string[] = []
      queue.work(
        { apply: async () => void runs.push('apply'), scan: async (key) => void runs.push(key) },
        { concurrency: 1 },
      )
      await emptied(queue)
      expect(runs.toSorted()).toEqual(['apply', 'base', 'solana'])
    })

    test('a hundred wake-ups during a run lead to one more run', async () => {
      const queue = await openQueue()
      const { promise: released, resolve: release } = Promise.withResolvers<void>()
      let runs = 0
      queue.work({ apply: () => (runs++ === 0 ? released : Promise.resolve()) }, { concurrency: 4 })
      await queue.wake('apply')
      await expect.poll(() => runs).toBe(1)
      await Promise.all(Array.from({ length: 100 }, () => queue.wake('apply')))
      expect(runs).toBe(1)
      release()
      await emptied(queue)
      expect(runs).toBe(2)
    })

    test('a wake-up after a finished run runs again', async () => {
      const queue = await openQueue()
      let runs = 0
      queue.work({ apply: async () => void runs++ }, { concurrency: 1 })
      for (let wake = 1; wake <= 5; wake++) {
        await queue.wake('apply')
        await expect.poll(() => runs).toBe(wake)
        await emptied(queue)
      }
    })

    test('no wake-up is lost, however wake-ups, runs and failures interleave on two processes', async () => {
      const processes = [await openQueue(), await openQueue()] as const
      let written = 0
      let seen = 0
      let pauses: number[] = []
      const handlers = {
        async apply() {
          const read = written
          const pause = pauses.pop() ?? 0
          await new Promise((resolve) => setTimeout(resolve, pause))
          if (pause % 5 === 4) throw new Error('this attempt fails')
          seen = Math.max(seen, read)
        },
      }
      for (const queue of processes) queue.work(handlers, { concurrency: 2 })
      const steps = fc.array(fc.record({ by: fc.constantFrom(0, 1), after: fc.nat({ max: 12 }) }), {
        minLength: 1,
        maxLength: 25,
      })
      await fc.assert(
        fc.asyncProperty(steps, fc.array(fc.nat({ max: 9 }), { maxLength: 20 }), async (wakes, runPauses) => {
          pauses = [...runPauses]
          for (const { by, after } of wakes) {
            await new Promise((resolve) => setTimeout(resolve, after))
            written++
            await processes[by].wake('apply')
          }
          pauses = []
          // A retry may be slow on a busy machine; a wake-up that is lost never comes.
          await expect.poll(() => seen, { timeout: 30_000, interval: 5 }).toBe(written)
        }),
        { numRuns: 15, endOnFailure: true },
      )
    }, 600_000)

    test('a handler that fails is tried again, then dropped, and a later wake-up works', async () => {
      const queue = await openQueue()
      let runs = 0
      let failing = true
      queue.work(
        {
          async apply() {
            runs++
            if (failing) throw new Error('cannot')
          },
        },
        { concurrency: 1 },
      )
      await queue.wake('apply', 'base')
      await expect.poll(() => queue.events.at(-1)).toMatchObject({ kind: 'job_failed', dropped: true })
      expect(
        queue.events.map((event) => event.kind === 'job_failed' && [event.wake.key, event.dropped]),
      ).toEqual([
        ['base', false],
        ['base', false],
        ['base', true],
      ])
      expect(runs).toBe(3)
      await emptied(queue)
      failing = false
      await queue.wake('apply', 'base')
      await expect.poll(() => runs).toBe(4)
    })

    test('a job that failed while the clock was an hour ahead is not tried an hour later', async () => {
      // So late that the clock is right again by then.
      const queue = await openQueue({ stuckMs: 600, retryDelayMs: 5000 })
      const setRight = setClock(60)
      let runs = 0
      const fail = () => (runs++ === 0 ? Promise.reject(new Error('cannot')) : Promise.resolve())
      queue.work({ apply: fail }, { concurrency: 1 })
      await queue.wake('apply')
      await expect.poll(() => queue.events).toMatchObject([{ kind: 'job_failed', dropped: false }])
      setRight()
      await expect.poll(() => runs).toBe(2)
    })

    test('a job nobody here knows is reported and dropped, and does not stand in the way', async () => {
      const queue = await openQueue({ attempts: 1 })
      let runs = 0
      queue.work({ apply: async () => void runs++ }, { concurrency: 1 })
      await queue.wake('from-a-newer-version')
      await queue.wake('apply')
      await expect.poll(() => runs).toBe(1)
      expect(queue.events).toMatchObject([
        { kind: 'job_failed', error: { message: 'no handler for from-a-newer-version' } },
      ])
    })

    test.each([0, 60])(
      'a job whose process died with a clock %d min ahead is run by another',
      async (ahead) => {
        const short = { lockMs: 400, stalledCheckMs: 200, stuckMs: 600 }
        const setRight = setClock(ahead)
        const dying = await openQueue({ ...short, stopTimeoutMs: 50 })
        let hangs = 0
        dying.work({ apply: () => new Promise(() => hangs++) }, { concurrency: 1 })
        await dying.wake('apply')
        await expect.poll(() => hangs).toBe(1)
        await dying.stop()
        setRight()
        const surviving = await openQueue(short)
        await surviving.wake('apply')
        let runs = 0
        surviving.work({ apply: async () => void runs++ }, { concurrency: 1 })
        // A lock so short may be lost on a busy machine, and then it is run once more.
        await expect.poll(() => runs).toBeGreaterThanOrEqual(2)
        await emptied(surviving)
      },
    )

    test('stopping waits for what is active, and the run after it is left to others', async () => {
      const [stopping, other] = [await openQueue(), await openQueue()]
      const { promise: released, resolve: release } = Promise.withResolvers<void>()
      let runs = 0
      stopping.work({ apply: () => (runs++, released) }, { concurrency: 1 })
      await stopping.wake('apply')
      await expect.poll(() => runs).toBe(1)
      await other.wake('apply')
      const stopped = stopping.stop()
      release()
      await stopped
      expect(await other.counts()).toEqual({ waiting: 1, active: 0, delayed: 0, failed: 0, completed: 0 })
      other.work({ apply: async () => void runs++ }, { concurrency: 1 })
      await expect.poll(() => runs).toBe(2)
    })

    test('it answers a ping', async () => {
      const queue = await openQueue()
      await expect(queue.ping()).resolves.toBeNull()
    })
  })
}

test.each(['', 'localhost', 'http://127.0.0.1', 'mysql://127.0.0.1'])(
  'the address %j is a settings fault',
  async (url) => {
    await expect(openTestQueue(url)).rejects.toThrow('QUEUE_URL must start with redis://')
  },
)

test.each(['redis', 'postgres'])(
  'a %s server that is not there is named, without the password',
  async (scheme) => {
    const opened = openTestQueue(`${scheme}://user:hidden@127.0.0.1:1/0`)
    await expect(opened).rejects.toThrow(
      /^remote_failed: what "connecting to QUEUE_URL \(127\.0\.0\.1:1\)".*ECONNREFUSED/,
    )
    await expect(opened).rejects.not.toThrow('hidden')
  },
)
