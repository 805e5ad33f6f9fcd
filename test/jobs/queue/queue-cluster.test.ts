import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterEach, describe, expect, test } from 'vitest'
import { openTestQueue, type TestQueue } from '../../support/queue.ts'
import { redisInstalled } from '../../support/redis.ts'
import { type ClusterOptions, type RedisCluster, startRedisCluster } from '../../support/redis-cluster.ts'

const certificates = join(import.meta.dirname, '../../service/http/fixtures')

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

async function startCluster(options?: ClusterOptions): Promise<RedisCluster> {
  const cluster = await startRedisCluster(options)
  ends.push(cluster.stop)
  return cluster
}

async function openQueue(...opening: Parameters<typeof openTestQueue>): Promise<TestQueue> {
  const queue = await openTestQueue(...opening)
  ends.push(queue.stop)
  return queue
}

/** Counts runs; each waits for what it is given, which by default is over. */
function counting(queue: TestQueue): { runs: () => number; holdNext: () => () => void } {
  let runs = 0
  let held = Promise.resolve()
  const apply = () => {
    runs++
    return held
  }
  queue.work({ apply }, { concurrency: 1 })
  return {
    runs: () => runs,
    holdNext() {
      const { promise, resolve } = Promise.withResolvers<void>()
      held = promise
      return () => {
        held = Promise.resolve()
        resolve()
      }
    },
  }
}

const outcomeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    () => 'away',
  )

const untilWoken = (queue: TestQueue) => expect.poll(() => outcomeOf(queue.wake('apply'))).toBe('done')

const evicts = ['CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru'] as const
const keeps = ['CONFIG', 'SET', 'maxmemory-policy', 'noeviction'] as const

describe.skipIf(!redisInstalled())('a queue on a Redis Cluster', () => {
  test('goes on when its slot moves to another node, while idle and while a job is active', async () => {
    const cluster = await startCluster()
    const queue = await openQueue(cluster.url)
    const { runs, holdNext } = counting(queue)
    const from = await cluster.holder()
    await queue.wake('apply')
    await expect.poll(runs).toBe(1)
    await cluster.moveQueue()
    expect((await cluster.holder()).id).not.toBe(from.id)
    await queue.wake('apply')
    await expect.poll(runs).toBe(2)
    const release = holdNext()
    await queue.wake('apply')
    await expect.poll(runs).toBe(3)
    await cluster.moveQueue()
    release()
    await queue.wake('apply')
    await expect.poll(runs).toBeGreaterThanOrEqual(4)
    const quiet = { waiting: 0, active: 0, delayed: 0, failed: 0, completed: 0 }
    await expect.poll(() => queue.counts()).toEqual(quiet)
  })

  test('goes on when the node that holds it dies and its replica takes over, wherever the URL leads', async () => {
    const cluster = await startCluster()
    const holder = await cluster.holder()
    await cluster.addReplica(holder)
    const queue = await openQueue(holder.url)
    const { runs } = counting(queue)
    await queue.wake('apply')
    await expect.poll(runs).toBe(1)
    await holder.kill()
    await untilWoken(queue)
    await expect.poll(runs).toBeGreaterThanOrEqual(2)
  })

  test('fails a wake-up soon while the cluster is away, and works again once it is back, empty', async () => {
    const cluster = await startCluster()
    const queue = await openQueue(cluster.url)
    const { runs } = counting(queue)
    await queue.wake('apply')
    await expect.poll(runs).toBe(1)
    await Promise.all(cluster.masters.map((node) => node.kill()))
    await expect.poll(() => outcomeOf(queue.ping())).toBe('away')
    for (let wake = 0; wake < 5; wake++) {
      const askedAt = performance.now()
      await expect(queue.wake('apply')).rejects.toThrow()
      expect(performance.now() - askedAt).toBeLessThan(6000)
    }
    await expect.poll(() => queue.events.map((event) => event.kind)).toContain('connection_failed')
    await Promise.all(cluster.masters.map((node) => node.start()))
    await untilWoken(queue)
    await expect.poll(runs).toBeGreaterThanOrEqual(2)
  })

  test('fails a wake-up soon while the node of its slot is away, and works again once that is back', async () => {
    const cluster = await startCluster()
    const holder = await cluster.holder()
    const other = cluster.masters.find((node) => node.id !== holder.id) ?? holder
    const queue = await openQueue(other.url)
    const { runs } = counting(queue)
    await queue.wake('apply')
    await expect.poll(runs).toBe(1)
    await holder.kill()
    const askedAt = performance.now()
    await expect(queue.wake('apply')).rejects.toThrow()
    expect(performance.now() - askedAt).toBeLessThan(6000)
    await holder.start()
    await untilWoken(queue)
    await expect.poll(runs).toBeGreaterThanOrEqual(2)
  })

  test('stops within its limit while the cluster is away', async () => {
    const cluster = await startCluster()
    const queue = await openQueue(cluster.url, { stopTimeoutMs: 1000 })
    const { runs } = counting(queue)
    await queue.wake('apply')
    await expect.poll(runs).toBe(1)
    await Promise.all(cluster.masters.map((node) => node.kill()))
    await expect.poll(() => outcomeOf(queue.ping())).toBe('away')
    await queue.stop()
  })

  test('speaks TLS to every node where the URL says so', async () => {
    const [cert, key] = ['localhost.pem', 'localhost-key.pem'].map((name) => join(certificates, name))
    setDefaultCACertificates([...getCACertificates('default'), readFileSync(cert ?? '', 'utf8')])
    const files = [
      '--tls-cert-file',
      cert ?? '',
      '--tls-key-file',
      key ?? '',
      '--tls-ca-cert-file',
      cert ?? '',
    ]
    const modes = ['--tls-auth-clients', 'no', '--tls-cluster', 'yes', '--tls-replication', 'yes']
    const words = (port: number) => ['--port', '0', '--tls-port', String(port), ...files, ...modes]
    const cluster = await startCluster({ scheme: 'rediss', words })
    for (const node of cluster.masters) {
      const queue = await openQueue(node.url)
      await queue.wake('apply')
      expect((await queue.counts()).waiting).toBe(1)
      expect(queue.events).toEqual([])
    }
    const plain = openTestQueue(cluster.url.replace('rediss:', 'redis:'))
    await expect(plain).rejects.toThrow('remote_failed')
  })

  test('tells of any node that is set to evict while it runs, a replica too, though another one is away', async () => {
    const cluster = await startCluster()
    const replica = await cluster.addReplica(await cluster.holder())
    const queue = await openQueue(cluster.url)
    const [away] = cluster.masters.filter((node) => node.url !== cluster.url)
    for (const node of [...cluster.masters, replica]) {
      expect(await queue.ping()).toBe(null)
      await node.call(...evicts)
      await expect.poll(() => queue.ping()).toContain('maxmemory-policy allkeys-lru')
      await node.call(...keeps)
      await expect.poll(() => queue.ping()).toBe(null)
    }
    await away?.kill()
    await replica.call(...evicts)
    await expect.poll(() => queue.ping(), { timeout: 10_000 }).toContain('maxmemory-policy allkeys-lru')
  })

  test('refuses a cluster of which any node evicts, and the number of a database', async () => {
    const cluster = await startCluster()
    const replica = await cluster.addReplica(await cluster.holder())
    for (const node of [cluster.masters[2], replica]) {
      await node?.call(...evicts)
      await expect(openTestQueue(cluster.url)).rejects.toThrow(
        'QUEUE_URL: the Redis server has maxmemory-policy allkeys-lru and could drop wake-ups',
      )
      await node?.call(...keeps)
    }
    await expect(openTestQueue(`${cluster.url}/1`)).rejects.toThrow('a Redis Cluster has a single database')
  })
})
