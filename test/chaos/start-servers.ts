import { join } from 'node:path'
import { pino } from 'pino'
import { type Chains, startChains } from '../../src/sandbox/chains.ts'
import { type PostgresProcess, startPostgresProcess } from './postgres-process.ts'
import { type RedisProcess, startRedisProcess } from './redis-process.ts'
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts'
import type { ChaosNetwork, ChaosWorld, ServerProcess } from './world.ts'

/** What the daemon and the service find when they start. */
export type Servers = {
  postgres: PostgresProcess
  /** Of the service, and of nobody else. */
  servicePostgres: PostgresProcess
  redis: RedisProcess | null
  chains: Chains
}

export const databases = { daemon: 'depositd', service: 'deposit_service' } as const

const log = pino({ level: 'silent' })
const names = ['base', 'arbitrum', 'solana'] as const
const pace = { blockMs: 200, slotMs: 100 }

/** All beside each other; where one fails, none is left running. */
export async function startServers(
  folder: string,
  backend: ChaosWorld['backend'],
  stack: AsyncDisposableStack,
): Promise<Servers> {
  const keep = async <Part>(starting: Promise<Part>, end: (part: Part) => Promise<void>): Promise<Part> => {
    const part = await starting
    stack.defer(() => end(part))
    return part
  }
  const postgres = (name: keyof typeof databases, durability: 'full' | 'none') =>
    keep(
      startPostgresProcess({
        folder: join(folder, `postgres-${name}`),
        durability,
        databases: [databases[name]],
      }),
      (part) => part.stop(),
    )
  const parts = [
    postgres('daemon', 'full'),
    postgres('service', 'none'),
    backend === 'redis'
      ? keep(startRedisProcess(join(folder, 'redis')), (part) => part.kill())
      : Promise.resolve(null),
    keep(startChains({ folder: join(folder, 'chains'), names, ...pace, log }), (part) => part.stop()),
  ] as const
  // Each is waited for, also where another failed, so that none comes up after the stack has ended the rest.
  await Promise.allSettled(parts)
  const [ours, theirs, redis, chains] = await Promise.all(parts)
  return { postgres: ours, servicePostgres: theirs, redis, chains }
}

/** A server, and the way to it that can be spoiled. */
export async function behindProxy(
  url: string,
  server: Pick<PostgresProcess | RedisProcess, 'pid' | 'data' | 'kill' | 'start'>,
  stack: AsyncDisposableStack,
): Promise<ServerProcess> {
  const proxy = stack.use(await startTcpProxy({ url }))
  const { data, kill, start } = server
  return {
    get pid() {
      return server.pid()
    },
    url,
    data,
    proxy,
    kill,
    start,
  }
}

export function networksBehindProxies(
  { networks }: Chains,
  stack: AsyncDisposableStack,
): Promise<ChaosNetwork[]> {
  return Promise.all(
    names.map(async (name) => {
      const sandbox = networks.find((network) => network.name === name)
      const url = sandbox?.rpcUrls[0]
      if (sandbox === undefined || url === undefined) throw new Error(`there is no ${name}`)
      const proxy: TcpProxy = stack.use(await startTcpProxy({ url }))
      return { name, url, sandbox, proxy }
    }),
  )
}
