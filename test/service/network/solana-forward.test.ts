import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Address, parseAddress } from '../../../src/core/asset.ts'
import { parseAmount } from '../../../src/core/money.ts'
import { type Chains, type SandboxNetwork, startChains } from '../../../src/sandbox/chains.ts'
import type { DepositRecord } from '../../../src/service/deposits/record.ts'
import { liquidityAddresses } from '../../../src/service/keyring/keyring.ts'
import { type DepositService, startService } from '../../../src/service/service.ts'
import { emptyDatabase, type TestDatabase } from '../../support/postgres.ts'
import { type Answer, honest, type RpcProxy, startRpcProxy } from '../../support/rpc-proxy.ts'
import { until } from '../../support/until.ts'
import { call, readKey, seed, serviceSettings, writeKey } from '../fixtures.ts'

const log = pino({ level: 'silent' })
const recipient = 'GjJyeC1r2RgkuoCWMyPYkCWSGSGLcz266EaAkLA27AhL'
/** Short slots, so that a blockhash expires within seconds. */
const slotMs = 50
const withinMs = 120_000

let folder: string
let chains: Chains
let solana: SandboxNetwork
let proxy: RpcProxy
let database: TestDatabase
let db: Client
let service: DepositService
let address: Address

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'depositd-service-'))
  chains = await startChains({ folder, names: ['solana'], slotMs, log })
  const [network] = chains.networks
  if (network === undefined) throw new Error('Solana was asked for')
  solana = network
  proxy = await startRpcProxy(solana.rpcUrls[0] ?? '')
  const liquidity = parseAddress('solana', liquidityAddresses({ seed }).solana)
  for (const { key, decimals } of solana.assets)
    await solana.fund(liquidity, key, parseAmount('100', decimals))
  database = await emptyDatabase()
  db = new Client({ connectionString: database.url })
  await db.connect()
  service = await start()
  const rule = { forward_network: 'solana', forward_asset: 'USDC', forward_recipient: recipient }
  const { body } = await call(`${service.url}/v1/channels`, writeKey, { id: 'shop', ...rule })
  const [given] = body['addresses'] as { address: string }[]
  address = parseAddress('solana', given?.address ?? '')
})

afterAll(async () => {
  await service.stop()
  await db.end()
  await Promise.all([proxy.stop(), chains.stop()])
  await database.drop()
  await rm(folder, { recursive: true, force: true })
})

function start(): Promise<DepositService> {
  const network = { ...solana, rpcUrls: [proxy.url] }
  return startService(serviceSettings(database.url, [network], { pollEveryMs: 50 }), { log })
}

function pay(amount: string): Promise<string> {
  const usdc = solana.assets.find(({ symbol }) => symbol === 'USDC')
  if (usdc === undefined) throw new Error('the sandbox has USDC')
  return solana.pay({ asset: usdc.key, to: address, amount: parseAmount(amount, usdc.decimals) })
}

function untilRecord(
  transaction: string,
  wanted: (record: DepositRecord) => boolean,
): Promise<DepositRecord> {
  const ask = async (): Promise<DepositRecord | null> => {
    const { body } = await call(`${service.url}/v1/proxies/deposits?transaction=${transaction}`, readKey)
    const [record] = body['data'] as DepositRecord[]
    return record !== undefined && wanted(record) ? record : null
  }
  return until(`what was wanted of ${transaction}`, ask, withinMs)
}

const isSettled = ({ status }: DepositRecord): boolean => status === 'settled'
const isForwarding = ({ status }: DepositRecord): boolean => status === 'forwarding'

async function attempts(id: string): Promise<(string | null)[]> {
  const text =
    "select outcome from service.transfer where kind = 'forward' and deposit_id = $1 order by attempt"
  const { rows } = await db.query<{ outcome: string | null }>(text, [id])
  return rows.map(({ outcome }) => outcome)
}

test('stopped before a forward was sent, it sends the stored bytes after the start', async () => {
  proxy.behave(({ method }, forward) =>
    method === 'sendTransaction' ? { error: { code: -32005, message: 'Node is behind' } } : forward(),
  )
  const transaction = await pay('1')
  const forwarding = await untilRecord(transaction, isForwarding)
  await service.stop()
  proxy.behave(honest)
  service = await start()
  const settled = await untilRecord(transaction, isSettled)
  const outcomes = await attempts(settled.id)
  // On a busy machine the start may take longer than the bytes are good for.
  const isSame = settled.destination.transaction === forwarding.destination.transaction
  expect(outcomes).toEqual(isSame ? ['landed'] : ['expired', 'landed'])
})

test('a forward is signed anew only when its blockhash has expired and it has not landed', async () => {
  proxy.behave(({ method }, forward) =>
    method === 'sendTransaction' ? { error: { code: -32005, message: 'Node is behind' } } : forward(),
  )
  const transaction = await pay('2')
  const first = await untilRecord(transaction, isForwarding)
  const isAnew = (record: DepositRecord): boolean =>
    isForwarding(record) && record.destination.transaction !== first.destination.transaction
  const second = await untilRecord(transaction, isAnew)
  proxy.behave(honest)
  const settled = await untilRecord(transaction, isSettled)
  expect(settled.destination).toMatchObject({ amount: '1994000' })
  expect((await attempts(second.id)).at(-1)).toBe('landed')
  expect((await attempts(second.id)).slice(0, -1).every((outcome) => outcome === 'expired')).toBe(true)
  const text = 'select type from service.event where deposit_id = $1 order by revision'
  const { rows } = await db.query<{ type: string }>(text, [second.id])
  expect(rows.map(({ type }) => type).slice(0, 5)).toEqual([
    'deposit.detected',
    'deposit.confirmed',
    'deposit.converting',
    'deposit.forwarded',
    'deposit.forwarded',
  ])
})

test('a forward whose answer was lost is not signed anew, however long that takes to be known', async () => {
  proxy.behave(async ({ method }, forward) => {
    const answer = await forward()
    return method === 'sendTransaction' ? { status: 502 } : answer
  })
  const settled = await untilRecord(await pay('3'), isSettled)
  proxy.behave(honest)
  expect(await attempts(settled.id)).toEqual(['landed'])
})

test('equal forwards on one blockhash are different transactions, and each is paid', async () => {
  let first: Promise<Answer> | undefined
  proxy.behave(({ method }, forward) => (method === 'getLatestBlockhash' ? (first ??= forward()) : forward()))
  const transactions = await Promise.all(['4', '4', '4'].map(pay))
  const settled = await Promise.all(transactions.map((transaction) => untilRecord(transaction, isSettled)))
  proxy.behave(honest)
  expect(new Set(settled.map(({ destination }) => destination.transaction)).size).toBe(3)
  for (const { id } of settled) expect(await attempts(id)).toEqual(['landed'])
})
