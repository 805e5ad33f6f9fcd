import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { assetCode, type Family, parseAddress } from '../../src/core/asset.ts'
import { type Amount, parseAmount } from '../../src/core/money.ts'
import { type Chains, type SandboxNetwork, startChains } from '../../src/sandbox/chains.ts'
import { putPolicy } from '../../src/service/deposits/policy.ts'
import type { DepositRecord } from '../../src/service/deposits/record.ts'
import { liquidityAddresses } from '../../src/service/keyring/keyring.ts'
import { type DepositService, startService } from '../../src/service/service.ts'
import type { ServiceDatabase, ServiceTables } from '../../src/service/tables.ts'
import { createWithdrawal } from '../../src/service/transfers/withdrawals.ts'
import { openDatabase } from '../../src/store/database.ts'
import { evmCosts, solanaCosts } from '../oracle/chain-costs.ts'
import { eachAtOnce, fundEach, heldBy, holdings } from '../scenario/holdings.ts'
import { temporaryFolderOfFile } from '../support/folder.ts'
import { emptyDatabase } from '../support/postgres.ts'
import { until } from '../support/until.ts'
import { isSwept } from './evm-world.ts'
import { call, readKey, seed, serviceSettings, writeKey } from './fixtures.ts'

const folder = temporaryFolderOfFile()
const log = pino({ level: 'silent' })
const liquidity = liquidityAddresses({ seed })
const recipients: Record<Family, string> = {
  evm: '0x00000000000000000000000000000000000000aa',
  solana: 'GjJyeC1r2RgkuoCWMyPYkCWSGSGLcz266EaAkLA27AhL',
}

/** The whole measure is `CHANNELS=10000 DEPOSITS=1000 npm test -- test/service/every-unit`. */
const channelCount = Number(process.env.CHANNELS ?? 20)
const depositCount = Number(process.env.DEPOSITS ?? 8)
const withinMs = 180_000 + depositCount * 500

const stack = new AsyncDisposableStack()
let chains: Chains
let db: ServiceDatabase
let service: DepositService
let before: ReadonlyMap<string, bigint>
/** Every deposit address that was handed out. */
const addresses: Addresses[number][] = []

type Addresses = readonly { network: string; address: string }[]

beforeAll(async () => {
  chains = await startChains({ folder, blockMs: 200, slotMs: 100, log })
  stack.defer(() => chains.stop())
  const database = await emptyDatabase()
  stack.defer(() => database.drop())
  db = openDatabase<ServiceTables>({ url: database.url, poolMax: 2, applicationName: 'test' })
  stack.defer(() => db.destroy())
  await fundEach(chains.networks, liquidity, '1000')
  before = await holdings(chains.networks, ({ family }) => [liquidity[family]])
  service = await startService(serviceSettings(database.url, chains.networks, { sweep: { minimums: {} } }), {
    log,
  })
  stack.defer(() => service.stop())
})

afterAll(() => stack.disposeAsync())

async function channel(id: string, to: SandboxNetwork): Promise<Addresses> {
  const rule = {
    id,
    forward_network: to.name,
    forward_asset: 'USDC',
    forward_recipient: recipients[to.family],
  }
  const { body } = await call(`${service.url}/v1/channels`, writeKey, rule)
  addresses.push(...(body['addresses'] as Addresses))
  return body['addresses'] as Addresses
}

async function pay(to: Addresses, network: SandboxNetwork, payment: { symbol: string; amount: string }) {
  const asset = network.assets.find(({ symbol }) => symbol === payment.symbol)
  const address = to.find((one) => one.network === network.name)?.address
  if (asset === undefined || address === undefined) throw new Error('nothing to pay')
  const amount = (parseAmount(payment.amount, asset.decimals) + 1n) as Amount
  await network.pay({ asset: asset.key, to: parseAddress(network.family, address), amount })
}

async function listAll(): Promise<DepositRecord[]> {
  const records: DepositRecord[] = []
  let place: string | null = ''
  while (place !== null) {
    const { body } = await call(`${service.url}/v1/proxies/deposits?limit=500${place}`, readKey)
    records.push(...(body['data'] as DepositRecord[]))
    const cursor = body['next_cursor'] as string | null
    place = cursor === null ? null : `&cursor=${cursor}`
  }
  return records
}

async function untilStatuses(
  wanted: Partial<Record<DepositRecord['status'], number>>,
): Promise<DepositRecord[]> {
  const ask = async (): Promise<DepositRecord[] | null> => {
    const records = await listAll()
    const counts = Object.entries(wanted).map(
      ([status, count]) => records.filter((record) => record.status === status).length === count,
    )
    return counts.every(Boolean) ? records : null
  }
  return until(JSON.stringify(wanted), ask, withinMs)
}

/** Into every network in its coin and in a token, to be forwarded to the next one. */
async function payChannels(): Promise<void> {
  for (const [place, network] of chains.networks.entries()) {
    const next = chains.networks[(place + 1) % chains.networks.length] ?? network
    const to = await channel(`from-${network.name}`, next)
    await pay(to, network, { symbol: network.family === 'evm' ? 'ETH' : 'SOL', amount: '0.02' })
    await pay(to, network, { symbol: 'USDC', amount: '3' })
  }
}

function networkAt(place: number): SandboxNetwork {
  return chains.networks[place % chains.networks.length] ?? throwNothing()
}

/** To many channels, some at once. */
async function payMany(): Promise<void> {
  const channels = await eachAtOnce(channelCount, (place) => channel(`many-${place}`, networkAt(place)))
  const startedAt = performance.now()
  await eachAtOnce(depositCount, (place) => {
    const to = channels[(place * 7919) % channelCount] ?? throwNothing()
    return pay(to, networkAt(place), { symbol: 'USDC', amount: '2' })
  })
  await untilStatuses({ settled: depositCount })
  const seconds = (performance.now() - startedAt) / 1000
  process.stdout.write(`${depositCount} deposits paid and settled in ${seconds.toFixed(1)} s\n`)
}

function throwNothing(): never {
  throw new Error('there are networks and channels')
}

/** In a token that its policy refuses, and one payment to a channel that holds all. */
async function payPolicies(): Promise<void> {
  for (const network of chains.networks) {
    const id = `refused-${network.name}`
    const to = await channel(id, network)
    const deny = [{ network: network.name, asset: 'USDT' }]
    await putPolicy(db, { kind: 'channel', id }, { assets: { deny }, otherwise: 'refund' })
    await pay(to, network, { symbol: 'USDT', amount: '4' })
  }
  const [network] = chains.networks
  if (network === undefined) throw new Error('there are networks')
  const held = await channel('held', network)
  await putPolicy(db, { kind: 'channel', id: 'held' }, { hold: true })
  await pay(held, network, { symbol: 'USDC', amount: '5' })
}

async function payWallet(): Promise<void> {
  const { body } = await call(`${service.url}/v1/stable-wallets`, writeKey, { id: 'savings' })
  const { deposit_addresses: to } = body['stable_wallet'] as { deposit_addresses: Addresses }
  addresses.push(...to)
  for (const network of chains.networks) await pay(to, network, { symbol: 'USDC', amount: '6' })
  await untilStatuses({ credited: 4 })
  for (const { name, family } of chains.networks) {
    const recipient = parseAddress(family, recipients[family])
    const request = { wallet: 'savings', id: name, network: name, recipient, amount: 2_000_001n }
    expect((await createWithdrawal({ db, networks: chains.networks }, request)).kind).toBe('created')
  }
  await until(
    'every withdrawal settled',
    async () => {
      const settled = db.selectFrom('service.withdrawal').select('id').where('status', '=', 'settled')
      return (await settled.execute()).length === 4 ? true : null
    },
    withinMs,
  )
}

/** Every deposit that is swept, and every transfer at its end. */
function untilRest(): Promise<boolean> {
  return until('rest', async () => (await isSwept(db)) || null, withinMs)
}

type Flow = { key: string; amount: bigint }

function keyOf(network: string | null, contract: string | null): string {
  return `${network}/${contract?.toLowerCase() ?? 'native'}`
}

/** What the records say came in and went out. */
async function statedFlows(records: readonly DepositRecord[]): Promise<{ ins: Flow[]; outs: Flow[] }> {
  const forwards = records.filter(({ status }) => status === 'settled')
  const refunds = records.filter(({ status }) => status === 'refunded')
  const withdrawals = await db.selectFrom('service.withdrawal').selectAll().execute()
  return {
    ins: records.map(({ source }) => ({
      key: keyOf(source.network, source.contract),
      amount: BigInt(source.amount),
    })),
    outs: [
      ...forwards.map(({ destination }) => ({
        key: keyOf(destination.network, destination.contract),
        amount: BigInt(destination.amount ?? 0),
      })),
      ...refunds.map(({ source, refund }) => ({
        key: keyOf(source.network, source.contract),
        amount: BigInt(refund?.amount ?? 0),
      })),
      ...withdrawals.map(({ network, asset, amount }) => ({
        key: keyOf(network, asset),
        amount: BigInt(amount),
      })),
    ],
  }
}

async function costsOf(
  { family, rpcUrls: [rpcUrl = ''] }: SandboxNetwork,
  own: readonly string[],
): Promise<bigint> {
  return family === 'evm'
    ? evmCosts({ rpcUrl, owners: new Set(own.map((address) => address.toLowerCase())) })
    : solanaCosts(rpcUrl, liquidity.solana)
}

test('what came in is what went out, what the chains took and what the service holds, on each network to the unit', {
  timeout: 4 * withinMs,
}, async () => {
  await payMany()
  await payChannels()
  await payPolicies()
  await payWallet()
  const records = await untilStatuses({ settled: 8 + depositCount, refunded: 4, held: 1, credited: 4 })
  await untilRest()
  const { ins, outs } = await statedFlows(records)
  for (const network of chains.networks) {
    const own = [
      liquidity[network.family],
      ...new Set(addresses.filter((one) => one.network === network.name).map(({ address }) => address)),
    ]
    const costs = await costsOf(network, own)
    for (const asset of network.assets) {
      const sum = (flows: readonly Flow[]) =>
        flows
          .filter(({ key }) => key === asset.key.toLowerCase())
          .reduce((total, { amount }) => total + amount, 0n)
      const rise = (await heldBy(own, network, asset)) - (before.get(asset.key) ?? 0n)
      const spent = assetCode(asset.key) === 'native' ? costs : 0n
      expect(rise, `what the service holds more of ${asset.key}`).toBe(sum(ins) - sum(outs) - spent)
    }
  }
})
