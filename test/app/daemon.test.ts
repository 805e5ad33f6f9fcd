import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Daemon, startDaemon } from '../../src/app/daemon.ts'
import { parseSettings } from '../../src/config/settings.ts'
import { freePort, loopback } from '../../src/sandbox/free-port.ts'
import { openDatabase } from '../../src/store/database.ts'
import type { Tables } from '../../src/store/tables.ts'
import { type Anvil, startAnvil } from '../support/anvil.ts'
import { emptyDatabase } from '../support/postgres.ts'
import { makeSecret } from '../support/sign-webhook.ts'
import { deployToken, type TestToken } from '../support/test-token.ts'

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

async function start(decimals: string, rpcUrl = anvil.url): Promise<Daemon> {
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
  return startDaemon(settings, { roles: [], version: 'test', log: pino({ level: 'silent' }) })
}

async function pinned(): Promise<number | undefined> {
  const db = openDatabase<Tables>({ url: database.url, poolMax: 1, applicationName: 'test' })
  const row = await db.selectFrom('asset').select('decimals').where('symbol', '=', 'TKN').executeTakeFirst()
  await db.destroy()
  return row?.decimals
}

test('a new asset needs its chain at the start, to tell its decimals; later starts do not', async () => {
  const away = `http://${loopback}:${await freePort()}`
  await expect(start('', away)).rejects.toThrow(
    /the decimals of TKN on base, which the settings do not state/,
  )
  await (await start('')).stop()
  expect(await pinned()).toBe(18)
  await (await start('', away)).stop()
})

test('a number that is not that of the chain stops the reading of its network, and can be mended', async () => {
  const daemon = await start(', decimals: 6')
  await expect(daemon.processAll()).rejects.toThrow(/asset TKN .*: expected decimals 6, found 18/)
  await daemon.stop()
  await (await start(', decimals: 18')).stop()
  expect(await pinned()).toBe(18)
})
