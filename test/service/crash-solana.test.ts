import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type Address, type Asset, type NetworkName, parseAddress } from '../../src/core/asset.ts'
import type { Amount } from '../../src/core/money.ts'
import { type SandboxNetwork, startChains } from '../../src/sandbox/chains.ts'
import type { DepositRecord } from '../../src/service/deposits/record.ts'
import { liquidityAddresses } from '../../src/service/keyring/keyring.ts'
import type { DepositServiceSettings } from '../../src/service/settings.ts'
import type { ServiceDatabase, ServiceTables } from '../../src/service/tables.ts'
import { openDatabase } from '../../src/store/database.ts'
import { temporaryFolderOfFile } from '../support/folder.ts'
import { emptyDatabase } from '../support/postgres.ts'
import { type Answer, honest, type RpcProxy, type Script, startRpcProxy } from '../support/rpc-proxy.ts'
import { until } from '../support/until.ts'
import { type ChildService, startChildService } from './child-service.ts'
import { call, readKey, seed, serviceSettings, writeKey } from './fixtures.ts'

const folder = temporaryFolderOfFile()
const recipient = parseAddress('solana', 'GjJyeC1r2RgkuoCWMyPYkCWSGSGLcz266EaAkLA27AhL')
const liquidity = parseAddress('solana', liquidityAddresses({ seed }).solana)
const log = pino({ level: 'silent' })
const withinMs = 120_000

const stack = new AsyncDisposableStack()
let solana: SandboxNetwork
let proxy: RpcProxy
let settings: DepositServiceSettings
let db: ServiceDatabase
let running: ChildService
let made = 0

beforeAll(async () => {
  const chains = await startChains({ folder, names: ['solana'], slotMs: 50, log })
  stack.defer(() => chains.stop())
  const [network] = chains.networks
  if (network === undefined) throw new Error('there is one network')
  solana = network
  for (const { key } of solana.assets) await solana.fund(liquidity, key, 10_000_000_000n as Amount)
  proxy = await startRpcProxy(solana.rpcUrls[0] ?? '')
  stack.defer(() => proxy.stop())
  const database = await emptyDatabase()
  stack.defer(() => database.drop())
  db = openDatabase<ServiceTables>({ url: database.url, poolMax: 2, applicationName: 'test' })
  stack.defer(() => db.destroy())
  settings = serviceSettings(database.url, [{ ...solana, rpcUrls: [proxy.url] }], {
    pollEveryMs: 50,
    sweep: { minimums: {} },
  })
  running = await startChildService(settings)
  stack.defer(() => running.kill())
})

afterEach(() => proxy.behave(honest))

afterAll(() => stack.disposeAsync())

async function killAndRestart(): Promise<void> {
  await running.kill()
  proxy.behave(honest)
  running = await startChildService(settings)
}

function assetOf(symbol: string): Asset {
  const asset = solana.assets.find((one) => one.symbol === symbol)
  if (asset === undefined) throw new Error(`there is no ${symbol}`)
  return asset
}

/** A channel that forwards USDC, and a payment to it. */
async function paid(symbol: string, amount: bigint): Promise<{ owner: string; address: Address }> {
  const owner = `channel-${++made}`
  const rule = { id: owner, forward_network: 'solana', forward_asset: 'USDC', forward_recipient: recipient }
  const { body } = await call(`${running.url}/v1/channels`, writeKey, rule)
  const [{ address }] = body['addresses'] as [{ address: string }]
  const to = parseAddress('solana', address)
  await solana.pay({ asset: assetOf(symbol).key, to, amount: amount as Amount })
  return { owner, address: to }
}

/** The transaction by which it is forwarded, however far that has come: on this chain it may be final at once. */
function untilSigned(owner: string): Promise<string> {
  return until(
    `${owner} signed`,
    async () => (await recordOf(owner))?.destination.transaction ?? null,
    withinMs,
  )
}

function untilStatus(owner: string, status: DepositRecord['status']): Promise<DepositRecord> {
  const ask = async (): Promise<DepositRecord | null> => {
    const record = await recordOf(owner)
    return record?.status === status ? record : null
  }
  return until(`${owner} ${status}`, ask, withinMs)
}

async function recordOf(owner: string): Promise<DepositRecord | undefined> {
  const { body } = await call(`${running.url}/v1/proxies/deposits?owner=${owner}`, readKey)
  return (body['data'] as DepositRecord[])[0]
}

/** The forwards that were signed for the owner's deposits, and what became of them. */
function attemptsOf(owner: string) {
  return db
    .selectFrom('service.transfer')
    .innerJoin('service.deposit', 'service.deposit.id', 'deposit_id')
    .innerJoin('service.signing', 'transfer_id', 'service.transfer.id')
    .select(['attempt', 'outcome', 'service.signing.transaction'])
    .where('owner_id', '=', owner)
    .orderBy('attempt')
    .execute()
}

const isSending: Script = ({ method }, forward) =>
  method === 'sendTransaction' ? { error: { code: -32603, message: 'out of order' } } : forward()
const takesWithoutAnswer: Script = async ({ method }, forward) => {
  const answer = await forward()
  return method === 'sendTransaction' ? { status: 502 } : answer
}

test.each<[string, Script]>([
  ['after it was stored and before it was sent', isSending],
  ['after it was sent and before the answer', takesWithoutAnswer],
])('killed %s, a forward on Solana is paid once', async (_moment, script) => {
  proxy.behave(script)
  const before = await solana.balance(recipient, assetOf('USDC').key)
  const { owner } = await paid('USDC', 1_000_000n)
  const signed = await untilSigned(owner)
  await killAndRestart()
  const settled = await untilStatus(owner, 'settled')
  const all = await attemptsOf(owner)
  expect(all[0]?.transaction).toBe(signed)
  // On a busy machine the start may take longer than the bytes are good for.
  for (const { outcome } of all.slice(0, -1)) expect(outcome).toBe('expired')
  expect(all.at(-1)).toMatchObject({ outcome: 'landed', transaction: settled.destination.transaction })
  expect((await solana.balance(recipient, assetOf('USDC').key)) - before).toBe(997_000n)
})

test('a forward that expired unsent is followed by another, and paid once', {
  timeout: 240_000,
}, async () => {
  proxy.behave(isSending)
  const before = await solana.balance(recipient, assetOf('USDC').key)
  const { owner } = await paid('USDC', 2_000_000n)
  await until('another attempt', async () => ((await attemptsOf(owner)).length > 1 ? true : null), withinMs)
  await killAndRestart()
  const settled = await untilStatus(owner, 'settled')
  const [first] = await attemptsOf(owner)
  expect(first).toMatchObject({ attempt: 1, outcome: 'expired' })
  expect(settled.destination.transaction).not.toBe(first?.transaction)
  expect((await solana.balance(recipient, assetOf('USDC').key)) - before).toBe(1_994_000n)
})

test('equal forwards on one blockhash are different transactions, and each is paid', async () => {
  let first: Promise<Answer> | undefined
  proxy.behave(({ method }, forward) => (method === 'getLatestBlockhash' ? (first ??= forward()) : forward()))
  const payments = await Promise.all([1, 2, 3].map(() => paid('USDC', 4_000_000n)))
  const settled = await Promise.all(payments.map(({ owner }) => untilStatus(owner, 'settled')))
  expect(new Set(settled.map(({ destination }) => destination.transaction)).size).toBe(3)
  for (const { owner } of payments) expect(await attemptsOf(owner)).toMatchObject([{ outcome: 'landed' }])
})

test('killed while sweeps are on their way, lamports and tokens are swept to the last unit', async () => {
  const coins = await paid('SOL', 20_000_000n)
  const tokens = await paid('USDT', 3_000_000n)
  await until('a signed sweep', async () => {
    const swept = db.selectFrom('service.deposit').select('id').where('sweep_id', 'is not', null)
    const owned = swept.where('owner_id', 'in', [coins.owner, tokens.owner])
    return (await owned.execute()).length > 0 ? true : null
  })
  await killAndRestart()
  const held = async () => [
    await solana.balance(coins.address, assetOf('SOL').key),
    await solana.balance(tokens.address, assetOf('USDT').key),
  ]
  await until(
    'both swept',
    async () => ((await held()).every((amount) => amount === 0n) ? true : null),
    withinMs,
  )
  const network = 'solana' as NetworkName
  const sweeps = db
    .selectFrom('service.transfer')
    .select(['amount', 'outcome'])
    .where('network', '=', network)
    .where('kind', '=', 'sweep')
    .where('amount', 'in', ['20000000', '3000000'])
  const landed = await until('both final', async () => {
    const all = await sweeps.where('outcome', '=', 'landed').execute()
    return all.length === 2 ? all : null
  })
  expect(landed.map(({ amount }) => amount).toSorted((left, right) => left.length - right.length)).toEqual([
    '3000000',
    '20000000',
  ])
})
