import { expect, onTestFinished, test } from 'vitest'
import { openTestQueue, queueServers } from '../../support/queue.ts'

test.each(queueServers.filter(({ missing }) => !missing))(
  'on $server a recurring job that keeps failing is tried with growing pauses, which wake-ups do not cut short',
  async ({ begin }) => {
    const { url, end } = await begin()
    onTestFinished(end)
    const queue = await openTestQueue(url, { retryDelayMs: 100, retryDelayMaxMs: 400 }, ['apply'])
    onTestFinished(queue.stop)
    const starts: number[] = []
    let failing = true
    const apply = async () => {
      starts.push(performance.now())
      // Long enough for wake-ups to come meanwhile.
      await new Promise((resolve) => setTimeout(resolve, 40))
      if (failing) throw new Error('cannot')
    }
    queue.work({ apply }, { concurrency: 2 })
    await expect
      .poll(() => queue.wake('apply', 'base').then(() => starts.length), { interval: 5 })
      .toBeGreaterThanOrEqual(7)
    const pauses = starts.slice(1, 7).map((start, place) => start - (starts[place] ?? start))
    // Timers of another process than the clock's may be a little early.
    for (const [place, least] of [100, 200, 400, 400, 400, 400].entries())
      expect(pauses[place]).toBeGreaterThan(least - 20)
    failing = false
    const failed = starts.length
    await expect.poll(() => starts.length).toBeGreaterThan(failed)
    expect(queue.events.every((event) => event.kind === 'job_failed' && !event.dropped)).toBe(true)
  },
)
