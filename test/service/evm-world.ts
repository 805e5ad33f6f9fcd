import { sql } from 'kysely'
import { pino } from 'pino'
import { getAddress, type Hex, parseAbiItem, parseEther } from 'viem'
import type { Address } from '../../src/core/asset.ts'
import { openDeposits } from '../../src/service/deposits/deposits.ts'
import { type OwnerPolicy, putPolicy } from '../../src/service/deposits/policy.ts'
import { type DepositRecord, recordWriter } from '../../src/service/deposits/record.ts'
import { createFaults } from '../../src/service/faults/faults.ts'
import { liquidityAddresses } from '../../src/service/keyring/keyring.ts'
import { startService } from '../../src/service/service.ts'
import type { DepositServiceSettings } from '../../src/service/settings.ts'
import type { ServiceDatabase, ServiceTables } from '../../src/service/tables.ts'
import { openOutbox } from '../../src/service/webhooks/outbox.ts'
import { openDatabase } from '../../src/store/database.ts'
import { type Anvil, startAnvil } from '../support/anvil.ts'
import { serviceDatabase } from '../support/postgres.ts'
import { startRpcProxy } from '../support/rpc-proxy.ts'
import { deployToken, type TestToken } from '../support/test-token.ts'
import { until } from '../support/until.ts'
import { call, networkSettings, readKey, seed, serviceSettings, writeKey } from './fixtures.ts'

const transferEvent = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)')
export const liquidity = liquidityAddresses({ seed }).evm as Hex
export const recipient = getAddress('0x00000000000000000000000000000000000000aa')

export type Paid = { transaction: string; from: string; to: string; value: bigint }

/** One EVM network that mines when told to, with a token of 18 decimals, and a service's database beside it. */
export type EvmWorld = Awaited<ReturnType<typeof openEvmWorld>>

export async function openEvmWorld(stack: AsyncDisposableStack) {
  const anvil = await startAnvil(8453)
  stack.defer(() => anvil.stop())
  const proxy = await startRpcProxy(anvil.url)
  stack.defer(() => proxy.stop())
  const token = await deployToken(anvil, 'USDC')
  await token.send(liquidity, 10n ** 24n)
  await anvil.client.setBalance({ address: liquidity, value: parseEther('10') })
  await anvil.mine(3)
  const database = await serviceDatabase()
  stack.defer(() => database.drop())
  const db = openDatabase<ServiceTables>({ url: database.url, poolMax: 4, applicationName: 'test' })
  stack.defer(() => db.destroy())
  const tokens = [
    { symbol: 'ETH', decimals: 18, code: 'native' },
    { symbol: 'USDC', decimals: 18, code: token.address },
  ]
  const base = networkSettings({ name: 'base', family: 'evm', chainId: 8453, url: proxy.url, tokens })
  const faults = createFaults(null)
  return {
    anvil,
    proxy,
    token,
    db,
    deposits: openDeposits(openOutbox(recordWriter([base]), faults)),
    settings: (changes: Partial<DepositServiceSettings> = {}) =>
      serviceSettings(database.url, [base], { pollEveryMs: 20, ...changes }),
    balance: (of: Hex) => balances(anvil, token, of),
    paidBy: (from: Hex) => paidBy(anvil, token, from),
  }
}

/** A world with a service in this process, which sweeps, replaces fees early and may be told to fail. */
export async function startEvmWorld(stack: AsyncDisposableStack) {
  const world = await openEvmWorld(stack)
  const settings = world.settings({
    sweep: { minimums: { 'base/USDC': '0.000000000000001', 'base/ETH': '0.001' } },
    replaceAfterMs: 300,
    faults: { seed: 'test' },
  })
  const service = await startService(settings, { log: pino({ level: 'silent' }) })
  stack.defer(() => service.stop())
  return { ...world, service, url: service.url }
}

/** Waits for an answer while blocks are mined. */
export function minedUntil<Answer>(
  { anvil }: Pick<EvmWorld, 'anvil'>,
  what: string,
  ask: () => Promise<Answer | null>,
): Promise<Answer> {
  const askMined = async (): Promise<Answer | null> => {
    await anvil.mine()
    return ask()
  }
  return until(what, askMined)
}

/** A new channel that forwards the token to the recipient; its deposit address. */
export async function newChannel(
  world: EvmWorld,
  url: string,
  options: { id: string; asset?: string; policy?: OwnerPolicy },
) {
  const { id, asset = 'USDC', policy } = options
  const rule = { id, forward_network: 'base', forward_asset: asset, forward_recipient: recipient }
  const { body } = await call(`${url}/v1/channels`, writeKey, rule)
  if (policy !== undefined) await putPolicy(world.db, { kind: 'channel', id }, policy)
  return (body as { addresses: [{ address: Hex }] }).addresses[0].address
}

export async function listDeposits(url: string, query = ''): Promise<DepositRecord[]> {
  const { body } = await call(`${url}/v1/proxies/deposits?limit=500&${query}`, readKey)
  return body['data'] as DepositRecord[]
}

/** Waits until so many deposits of the owner are in that state, and returns them. */
export function untilAll(
  world: Pick<EvmWorld, 'anvil'>,
  url: string,
  wanted: { owner?: string; status: DepositRecord['status']; count?: number },
): Promise<DepositRecord[]> {
  const { owner, status, count = 1 } = wanted
  return minedUntil(world, `${count} ${status} of ${owner ?? 'all'}`, async () => {
    const records = await listDeposits(url, owner === undefined ? '' : `owner=${owner}`)
    const found = records.filter((record) => record.status === status)
    return found.length === count ? found : null
  })
}

/** The deposit of the owner in that state, once it is the only one. */
export async function untilOne(
  world: Pick<EvmWorld, 'anvil'>,
  url: string,
  wanted: { owner: string; status: DepositRecord['status'] },
): Promise<DepositRecord> {
  const [record] = await untilAll(world, url, wanted)
  if (record === undefined) throw new Error('there is none')
  return record
}

/** Mines until everything that was signed is final. */
export function untilRest(world: EvmWorld): Promise<boolean> {
  const open = world.db.selectFrom('service.transfer').select('id').where('outcome', 'is', null)
  return minedUntil(
    world,
    'every transfer at its end',
    async () => (await open.execute()).length === 0 || null,
  )
}

/** Mines until nothing is left to be swept, and everything that was signed is final. */
export function untilSwept(world: EvmWorld): Promise<boolean> {
  return minedUntil(world, 'everything swept', async () => (await isSwept(world.db)) || null)
}

/** In one question: a sweep that fails between two leaves its deposits to another. */
export async function isSwept(db: ServiceDatabase): Promise<boolean> {
  const { rows } = await sql<{ swept: boolean }>`
    select not exists (select from service.deposit where sweep_id is null)
      and not exists (select from service.transfer where outcome is null) as swept`.execute(db)
  return rows[0]?.swept === true
}

async function balances({ client }: Anvil, token: TestToken, address: Hex) {
  const coins = await client.getBalance({ address })
  const tokens = await client.readContract({
    address: token.address,
    abi: [parseAbiItem('function balanceOf(address) view returns (uint256)')],
    functionName: 'balanceOf',
    args: [address],
  })
  return { coins, tokens }
}

/** What the liquidity wallet paid in tokens by the transaction that the record states. */
export async function forwardsOf(world: EvmWorld, { destination }: DepositRecord): Promise<Paid[]> {
  const all = await world.paidBy(liquidity)
  return all.filter(({ transaction }) => transaction === destination.transaction)
}

/** Every transfer of the token from this address, in the order of the chain. */
async function paidBy({ client }: Anvil, token: TestToken, from: Hex): Promise<Paid[]> {
  const logs = await client.getLogs({
    address: token.address,
    event: transferEvent,
    args: { from },
    fromBlock: 0n,
    strict: true,
  })
  return logs.map(({ transactionHash, args }) => ({ transaction: transactionHash, ...args }))
}

export function lower(address: string): Address {
  return address.toLowerCase() as Address
}
