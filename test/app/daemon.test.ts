import { type Logger, pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Daemon, startDaemon } from '../../src/app/daemon.ts'
import { parseSettings } from '../../src/config/settings.ts'
import type { Role } from '../../src/health.ts'
import { freePort, loopback } from '../../src/sandbox/free-port.ts'
import { openDatabase } from '../../src/store/database.ts'
import type { Tables } from '../../src/store/tables.ts'
import { type Anvil, startAnvil } from '../support/anvil.ts'
import { emptyDatabase } from '../support/postgres.ts'
import { makeSecret } from '../support/sign-webhook.ts'
import { deployToken, type TestToken } from '../support/test-token.ts'
import { until } from '../support/until.ts'

let anvil: Anvil
let token: TestToken
let database: Awaited<ReturnType<typeof emptyDatabase>>

beforeAll(async () => {
  anvil = await startAnvil()
  token = await deployToken(anvil, 'TKN')
  database = await emptyDatabase()
})
afterAll(async () => {
  await database.drop()
  await anvil.stop()
})

type Start = { rpcUrl: string; roles: Role[]; log: Logger }

async function start(
  decimals: string,
  { rpcUrl = anvil.url, roles = [], log = pino({ level: 'silent' }) }: Partial<Start> = {},
): Promise<Daemon> {
  const asset = `{ symbol: TKN, contract: "${token.address}" ${decimals} }`
  const settings = parseSettings(
    {
      DATABASE_URL: database.url,
      SERVICE_URL: 'http://127.0.0.1:9',
      SERVICE_API_KEY: 'key',
      WEBHOOK_SECRETS: makeSecret(),
      RPC_BASE: rpcUrl,
      OPS_HOST: loopback,
      OPS_PORT: String(await freePort()),
      DEPOSITD_CONFIG: 'settings.yaml',
    },
    () => `networks: [{ name: base, family: evm, chainId: 8453, assets: [${asset}] }]`,
  )
  return startDaemon(settings, { roles, version: 'test', log })
}

async function pinned(): Promise<number | undefined> {
  const db = openDatabase<Tables>({ url: database.url, poolMax: 1, applicationName: 'test' })
  const row = await db.selectFrom('asset').select('decimals').where('symbol', '=', 'TKN').executeTakeFirst()
  await db.destroy()
  return row?.decimals
}

test('a new asset needs its chain at the start, to tell its decimals; later starts do not', async () => {
  const away = `http://${loopback}:${await freePort()}`
  await expect(start('', { rpcUrl: away })).rejects.toThrow(
    /the decimals of TKN on base, which the settings do not state/,
  )
  await (await start('')).stop()
  expect(await pinned()).toBe(18)
  await (await start('', { rpcUrl: away })).stop()
})

test('a number that is not that of the chain stops the reading of its network, and can be mended', async () => {
  const lines: string[] = []
  const log = pino({ level: 'error' }, { write: (line) => void lines.push(line) })
  const daemon = await start(', decimals: 6', { roles: ['worker', 'scheduler'], log })
  const wrong = /"event":"job_failed".*asset TKN .*: expected decimals 6, found 18/
  await until('reading stops', () => lines.some((line) => wrong.test(line)) || null)
  await daemon.stop()
  await (await start(', decimals: 18')).stop()
  expect(await pinned()).toBe(18)
})
