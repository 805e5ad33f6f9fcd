import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { freePort, loopback } from '../../src/sandbox/free-port.ts'
import { RedisNotReady, startRedis } from './redis.ts'
import { until } from './until.ts'

export type ClusterNode = {
  id: string
  url: string
  port: number
  /** An administrator's command. */
  call: (...words: [string, ...string[]]) => Promise<unknown>
  /** At once, as if the machine lost power; started again it has nothing but its place in the cluster. */
  kill: () => Promise<void>
  start: () => Promise<void>
}

export type RedisCluster = {
  /** Of one of the masters. */
  url: string
  masters: readonly ClusterNode[]
  /** The master of the slot that holds the queue. */
  holder: () => Promise<ClusterNode>
  /** Adds a replica of that master, and waits until it has all that the master has. */
  addReplica: (of: ClusterNode) => Promise<ClusterNode>
  /** Gives the slot of the queue, with all that is in it, to another master. */
  moveQueue: () => Promise<void>
  stop: () => Promise<void>
}

export type ClusterOptions = {
  /** `redis` by default. */
  scheme?: 'redis' | 'rediss'
  /** Command line words of one server that listens on that port. */
  words?: (port: number) => readonly string[]
}

const slots = 16_384
const nodeTimeoutMs = 2000
const queueKey = '{depositd}'

/** Three masters on loopback that share the slots. */
export async function startRedisCluster(options: ClusterOptions = {}): Promise<RedisCluster> {
  const stack = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'depositd-cluster-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const start = () => startNode(folder, stack, options)
  const masters = await Promise.all([start(), start(), start()])
  const [first, ...others] = masters
  for (const [place, node] of masters.entries()) {
    const [from, to] = [place, place + 1].map((edge) => Math.floor((edge * slots) / masters.length))
    await node.call('CLUSTER', 'SET-CONFIG-EPOCH', String(place + 1))
    await node.call('CLUSTER', 'ADDSLOTSRANGE', String(from), String((to ?? 0) - 1))
  }
  for (const node of others) await meet(node, first)
  await until('the cluster is whole', () => isWhole(masters))
  const holder = () => holderOf(masters)
  return {
    url: first.url,
    masters,
    holder,
    async addReplica(master) {
      const replica = await start()
      await meet(replica, master)
      await until('they know each other', () => knows(replica, master))
      await replica.call('CLUSTER', 'REPLICATE', master.id)
      await until('it has everything', () => isInStep(replica))
      await until('the others know it', () => allKnow(masters, replica))
      return replica
    },
    moveQueue: async () => moveSlot(masters, await holder()),
    stop: () => stack.disposeAsync(),
  }
}

async function startNode(
  folder: string,
  stack: AsyncDisposableStack,
  options: ClusterOptions,
): Promise<ClusterNode> {
  // Another process may take a free port before the server listens on it.
  for (let attempt = 1; ; attempt++)
    try {
      return await startNodeOnce(folder, stack, options)
    } catch (error) {
      if (attempt === 3 || !(error instanceof RedisNotReady)) throw error
    }
}

async function startNodeOnce(
  folder: string,
  stack: AsyncDisposableStack,
  { scheme = 'redis', words }: ClusterOptions,
): Promise<ClusterNode> {
  const port = await freePort()
  const cluster = ['--cluster-enabled', 'yes', '--cluster-node-timeout', String(nodeTimeoutMs)]
  const places = ['--dir', folder, '--cluster-config-file', `${port}.conf`]
  const bus = ['--cluster-port', String(await freePort()), '--repl-diskless-load', 'swapdb']
  // A replica is listed once it was sent something.
  bus.push('--repl-ping-replica-period', '1')
  const listening = words?.(port) ?? ['--port', String(port)]
  const server = await startRedis(...listening, ...cluster, ...places, ...bus)
  stack.defer(() => server.stop())
  const url = `${scheme}://${loopback}:${port}`
  const call = async (...[name, ...rest]: [string, ...string[]]) => {
    const redis = new Redis(url, { retryStrategy: () => null })
    // The call fails with it.
    redis.on('error', () => undefined)
    try {
      return await redis.call(name, ...rest)
    } finally {
      redis.disconnect()
    }
  }
  return {
    id: String(await call('CLUSTER', 'MYID')),
    url,
    port,
    call,
    kill: server.stop,
    start: server.start,
  }
}

async function meet(node: ClusterNode, other: ClusterNode): Promise<void> {
  const bus = /cport|@(\d+)/.exec(await lineOf(other, other.id))?.[1] ?? ''
  await node.call('CLUSTER', 'MEET', loopback, String(other.port), bus)
}

async function lineOf(asked: ClusterNode, id: string): Promise<string> {
  const lines = String(await asked.call('CLUSTER', 'NODES')).split('\n')
  return lines.find((line) => line.startsWith(id)) ?? ''
}

async function isWhole(nodes: readonly ClusterNode[]): Promise<true | null> {
  const reported = await Promise.all(nodes.map((node) => node.call('CLUSTER', 'INFO')))
  const known = `cluster_known_nodes:${nodes.length}`
  return (
    reported.every((info) => String(info).includes('cluster_state:ok') && String(info).includes(known)) ||
    null
  )
}

async function knows(asked: ClusterNode, { id }: ClusterNode): Promise<true | null> {
  return / connected( |$)/.test(await lineOf(asked, id)) || null
}

async function allKnow(masters: readonly ClusterNode[], { id }: ClusterNode): Promise<true | null> {
  const lines = await Promise.all(masters.map((master) => lineOf(master, id)))
  const slotsOf = await Promise.all(masters.map((master) => master.call('CLUSTER', 'SLOTS')))
  const isListed = slotsOf.every((reported) => JSON.stringify(reported).includes(id))
  return (isListed && lines.every((line) => line.includes('slave') && line.includes(' connected'))) || null
}

async function isInStep(replica: ClusterNode): Promise<true | null> {
  return /master_link_status:up/.test(String(await replica.call('INFO', 'replication'))) || null
}

async function holderOf(masters: readonly ClusterNode[]): Promise<ClusterNode> {
  for (const node of masters) {
    const held = await node.call('EXISTS', queueKey).catch(() => null)
    if (held !== null) return node
  }
  throw new Error('no master holds the queue')
}

async function moveSlot(masters: readonly ClusterNode[], from: ClusterNode): Promise<void> {
  const to = masters.find((node) => node !== from) ?? from
  const slot = String(await from.call('CLUSTER', 'KEYSLOT', queueKey))
  await to.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', from.id)
  await from.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', to.id)
  for (;;) {
    const keys = (await from.call('CLUSTER', 'GETKEYSINSLOT', slot, '100')) as string[]
    if (keys.length === 0) break
    await from.call('MIGRATE', loopback, String(to.port), '', '0', '5000', 'KEYS', ...keys)
  }
  for (const node of [to, from, ...masters]) await node.call('CLUSTER', 'SETSLOT', slot, 'NODE', to.id)
}
