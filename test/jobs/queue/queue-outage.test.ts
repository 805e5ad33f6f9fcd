import { Redis } from 'ioredis'
import { Client } from 'pg'
import { afterEach, describe, expect, test } from 'vitest'
import { startTcpProxy } from '../../chaos/tcp-proxy.ts'
import { emptyDatabase } from '../../support/postgres.ts'
import { openTestQueue, type TestQueue } from '../../support/queue.ts'
import { redisInstalled, rewritingProxy, startRedis } from '../../support/redis.ts'

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

async function redisServer(...options: readonly string[]) {
  const server = await startRedis(...options)
  ends.push(server.stop)
  return server
}

async function openQueue(...opening: Parameters<typeof openTestQueue>): Promise<TestQueue> {
  const queue = await openTestQueue(...opening)
  ends.push(queue.stop)
  return queue
}

/** Runs one command as an operator would. */
async function command(url: string, ...words: [string, ...string[]]): Promise<unknown> {
  const redis = new Redis(url)
  try {
    return await redis.call(...words)
  } finally {
    redis.disconnect()
  }
}

/** That server, but one line of INFO is missing. */
async function withoutEvictionPolicy(url: string): Promise<string> {
  const proxy = await rewritingProxy(url, (text) => text.replace('maxmemory_policy', 'x'.repeat(16)))
  ends.push(() => proxy.stop())
  return proxy.url
}

/** In milliseconds, over so many seconds that the pauses between tries to connect have grown. */
async function slowestRefusal(queue: TestQueue): Promise<number> {
  const endAt = performance.now() + 6000
  let slowest = 0
  while (performance.now() < endAt) {
    const askedAt = performance.now()
    await expect(queue.wake('apply')).rejects.toThrow()
    slowest = Math.max(slowest, performance.now() - askedAt)
  }
  return slowest
}

function counting(queue: TestQueue): () => number {
  let runs = 0
  queue.work({ apply: async () => void runs++ }, { concurrency: 1 })
  return () => runs
}

describe.skipIf(!redisInstalled())('a queue on Redis', () => {
  test('fails a wake-up soon while the server is away, and works again once it is back, empty', async () => {
    const server = await redisServer()
    const queue = await openQueue(server.url, { reconnectDelayMs: 6000 })
    const runs = counting(queue)
    await queue.wake('apply')
    await expect.poll(runs).toBe(1)
    await server.stop()
    await expect
      .poll(() =>
        queue.ping().then(
          () => 'answers',
          () => 'away',
        ),
      )
      .toBe('away')
    expect(await slowestRefusal(queue)).toBeLessThan(2000)
    await expect.poll(() => queue.events.map((event) => event.kind)).toContain('connection_failed')
    await server.start()
    await expect
      .poll(() =>
        queue.wake('apply').then(
          () => 'woken',
          () => 'away',
        ),
      )
      .toBe('woken')
    await expect.poll(runs).toBe(2)
  })

  test('works on after FLUSHALL, while idle and while a job is active', async () => {
    const { url } = await redisServer()
    const queue = await openQueue(url)
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    let runs = 0
    queue.work({ apply: () => (runs++ === 1 ? released : Promise.resolve()) }, { concurrency: 1 })
    await queue.wake('apply')
    await expect.poll(() => runs).toBe(1)
    await command(url, 'FLUSHALL')
    await queue.wake('apply')
    await expect.poll(() => runs).toBe(2)
    await command(url, 'FLUSHALL')
    release()
    await queue.wake('apply')
    await expect.poll(() => runs).toBe(3)
  })

  test('keeps all its keys in one slot of a cluster', async () => {
    const { url } = await redisServer()
    const queue = await openQueue(url)
    await queue.wake('apply', 'base')
    const keys = await command(url, 'KEYS', '*')
    expect(keys).toContain('{depositd}:test:de:apply/base')
    expect((keys as string[]).filter((key) => !key.startsWith('{depositd}:'))).toEqual([])
  })

  test.each(['allkeys-lru', 'volatile-ttl'])(
    'refuses a server that evicts by %s and names the mend',
    async (policy) => {
      const { url } = await redisServer('--maxmemory-policy', policy)
      await expect(openTestQueue(url)).rejects.toThrow(
        `QUEUE_URL: the Redis server has maxmemory-policy ${policy} and could drop wake-ups: set its maxmemory-policy to noeviction`,
      )
    },
  )

  test('tells of a server that is set to evict while it runs, and goes on', async () => {
    const { url } = await redisServer()
    const queue = await openQueue(url)
    expect(await queue.ping()).toBeNull()
    await command(url, 'CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
    expect(await queue.ping()).toContain('maxmemory-policy allkeys-lru and could drop wake-ups')
    const runs = counting(queue)
    await queue.wake('apply')
    await expect.poll(runs).toBe(1)
  })

  test('finds out about evictions although CONFIG is forbidden, and names what INFO needs', async () => {
    const { url } = await redisServer('--maxmemory-policy', 'allkeys-lru')
    const limited = url.replace('redis://', 'redis://limited:secret@')
    await command(url, 'ACL', 'SETUSER', 'limited', 'on', '>secret', '~*', '&*', '+@all', '-config')
    await expect(openTestQueue(limited)).rejects.toThrow('maxmemory-policy allkeys-lru')
    await command(url, 'ACL', 'SETUSER', 'limited', '-info')
    await expect(openTestQueue(limited)).rejects.toThrow(
      /^remote_failed: .*no permissions to run the 'info' command/,
    )
  })

  test('says so where the server does not tell whether it evicts', async () => {
    const { url } = await redisServer()
    const queue = await openQueue(await withoutEvictionPolicy(url))
    expect(queue.events).toEqual([{ kind: 'eviction_policy_unknown' }])
    const runs = counting(queue)
    await queue.wake('apply')
    await expect.poll(runs).toBe(1)
  })

  test('stops within its limit while the server is away', async () => {
    const server = await redisServer()
    const queue = await openQueue(server.url, { stopTimeoutMs: 1000 })
    const runs = counting(queue)
    await queue.wake('apply')
    await expect.poll(runs).toBe(1)
    await server.stop()
    await expect.poll(() => queue.events.map((event) => event.kind)).toContain('connection_failed')
    const startedAt = performance.now()
    await queue.stop()
    expect(performance.now() - startedAt).toBeLessThan(30_000)
  })
})

async function observed() {
  const { url, drop } = await emptyDatabase()
  ends.push(drop)
  const observer = new Client({ connectionString: url })
  await observer.connect()
  ends.push(() => observer.end())
  return { url, observer }
}

describe('a queue on Postgres', () => {
  const others = `from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`

  test('works on after all its connections were cut, while idle and while a job is active', async () => {
    const { url, observer } = await observed()
    const queue = await openQueue(url)
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    let runs = 0
    queue.work({ apply: () => (runs++ === 1 ? released : Promise.resolve()) }, { concurrency: 1 })
    await queue.wake('apply')
    await expect.poll(() => runs).toBe(1)
    const cut = () => observer.query(`select pg_terminate_backend(pid) ${others}`)
    const wakeAgain = () =>
      queue.wake('apply').then(
        () => 'woken',
        () => 'away',
      )
    await cut()
    await expect.poll(wakeAgain).toBe('woken')
    await expect.poll(() => runs).toBeGreaterThanOrEqual(2)
    await cut()
    await expect.poll(wakeAgain).toBe('woken')
    release()
    await expect.poll(() => runs).toBeGreaterThanOrEqual(3)
  })

  test('works although its connections broke while its worker began', async () => {
    const { url, observer } = await observed()
    const proxy = await startTcpProxy({ url })
    ends.push(async () => proxy[Symbol.asyncDispose]())
    const queue = await openQueue(proxy.url, { stuckMs: 600 })
    await observer.query('begin')
    // A worker begins by reading that table, on a connection that it holds meanwhile.
    await observer.query('lock table bullmq.migration in access exclusive mode')
    let runs = 0
    queue.work({ apply: async () => void runs++ }, { concurrency: 1 })
    const waiting = `select pid ${others} and wait_event_type = 'Lock'`
    await expect.poll(async () => (await observer.query(waiting)).rows).not.toEqual([])
    proxy.cut()
    await observer.query('commit')
    proxy.heal()
    const runsAfterWake = () =>
      queue.wake('apply').then(
        () => runs,
        () => 0,
      )
    await expect.poll(runsAfterWake).toBeGreaterThan(0)
  })

  test('two processes that open a new database at once both work', async () => {
    const { url } = await observed()
    const queues = await Promise.all([openQueue(url), openQueue(url)])
    await Promise.all(queues.map((queue) => queue.wake('apply')))
    expect((await queues[0].counts()).waiting).toBe(1)
  })

  test('a role that may not create schemas can use a queue that is up to date', async () => {
    const { url, observer } = await observed()
    await openQueue(url)
    const role = `limited_${Date.now()}`
    await observer.query(`create role ${role} login password 'secret';
      grant usage, create on schema bullmq to ${role};
      grant all on all tables in schema bullmq to ${role};
      grant all on all sequences in schema bullmq to ${role}`)
    ends.push(() => observer.query(`drop owned by ${role}; drop role ${role}`))
    const limited = new URL(url)
    limited.username = role
    limited.password = 'secret'
    const queue = await openQueue(limited.href)
    const runs = counting(queue)
    await queue.wake('apply')
    await expect.poll(runs).toBe(1)
  })

  test('holds one connection to listen and few for queries', async () => {
    const { url, observer } = await observed()
    const queue = await openQueue(url)
    const runs = counting(queue)
    await Promise.all(Array.from({ length: 100 }, (_, key) => queue.wake('apply', String(key))))
    await expect.poll(runs).toBe(100)
    const { rows } = await observer.query<{ count: string }>(`select count(*) ${others}`)
    expect(Number(rows[0]?.count)).toBeLessThanOrEqual(6)
  })
})
