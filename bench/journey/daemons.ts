import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { assetCode } from '../../src/core/asset.ts'
import { transfersPath } from '../../src/intake/server.ts'
import { freePort, loopback } from '../../src/sandbox/free-port.ts'
import { spawnProgram } from '../../test/support/embedded-program.ts'
import { vocabulary } from '../../test/support/own-payloads.ts'
import { until } from '../../test/support/until.ts'

/** What a daemon is connected to. */
export type Places = {
  folder: string
  databaseUrl: string
  queueUrl: string
  serviceUrl: string
  secret: string
  /** Further settings. */
  environment?: Readonly<Record<string, string>> | undefined
}

export type Running = {
  pid: number
  webhookUrl: string
  metricsUrl: string
  /** When the process was started, in milliseconds since 1970. */
  startedAt: number
  untilUp: () => Promise<void>
  kill: () => Promise<void>
}

const never = '0 0 0 1 1 *'
const tenYears = '87600h'

/** Nothing is overdue, nothing is read from chains: what they showed is in the inbox. */
const file = {
  networks: [
    ...vocabulary.networks.map(({ name, assets }) => ({
      name,
      family: 'evm',
      chainId: name === 'base' ? 8453 : 42_161,
      assets: assets.map(({ key, symbol, decimals }) => ({ symbol, contract: assetCode(key), decimals })),
    })),
    {
      name: 'idle',
      family: 'evm',
      chainId: 1,
      assets: [{ symbol: 'ETH', contract: 'native', decimals: 18 }],
    },
  ],
  policy: {
    webhookWithin: tenYears,
    apiWithin: tenYears,
    chainWithin: tenYears,
    reportWithin: tenYears,
    settlementWithin: tenYears,
    stuckAfter: tenYears,
  },
  schedule: { scan: never, backfill: never, balances: never, pollOverlap: '10s' },
  events: { allowPrivate: true },
}

/** `depositd start` with these roles, as a process of its own. */
export async function startProcess(places: Places, roles: string): Promise<Running> {
  const { folder, databaseUrl, queueUrl, serviceUrl, secret, environment } = places
  const path = join(folder, 'journey.yaml')
  writeFileSync(path, stringify(file))
  const [port, opsPort] = [await freePort(), await freePort()]
  const startedAt = Date.now()
  const program = spawnProgram(folder, ['start', '--roles', roles], {
    DATABASE_URL: databaseUrl,
    QUEUE_URL: queueUrl,
    SERVICE_URL: serviceUrl,
    SERVICE_API_KEY: 'key',
    WEBHOOK_SECRETS: secret,
    RPC_IDLE: 'http://127.0.0.1:9',
    HTTP_HOST: loopback,
    HTTP_PORT: String(port),
    OPS_HOST: loopback,
    OPS_PORT: String(opsPort),
    DEPOSITD_CONFIG: path,
    LOG_LEVEL: 'info',
    ...environment,
  })
  let hasEnded = false
  const ended = program.ended.finally(() => {
    hasEnded = true
  })
  return {
    pid: program.pid,
    webhookUrl: `http://${loopback}:${port}${transfersPath}`,
    metricsUrl: `http://${loopback}:${opsPort}/metrics`,
    startedAt,
    untilUp: () =>
      until('the daemon is up', () => {
        if (hasEnded) throw new Error(`the daemon ended: ${program.output().slice(-2000)}`)
        return program.output().includes('"daemon_started"') || null
      }).then(() => undefined),
    async kill() {
      await program.end('SIGKILL')
      await ended
    },
  }
}
