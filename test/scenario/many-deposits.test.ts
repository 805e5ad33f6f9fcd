import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Asset, assetCode, parseAddress } from '../../src/core/asset.ts'
import { parseAmount } from '../../src/core/money.ts'
import { type Chains, type SandboxNetwork, startChains } from '../../src/sandbox/chains.ts'
import type { DepositRecord } from '../../src/service/deposits/record.ts'
import { liquidityAddresses } from '../../src/service/keyring/keyring.ts'
import { type DepositService, startService } from '../../src/service/service.ts'
import { evmCosts, solanaCosts } from '../oracle/chain-costs.ts'
import { call, readKey, seed, serviceSettings, writeKey } from '../service/fixtures.ts'
import { emptyDatabase } from '../support/postgres.ts'
import { until } from '../support/until.ts'
import { eachAtOnce, fundEach, heldBy, holdings } from './holdings.ts'

/** The whole measure is `CHANNELS=10000 DEPOSITS=1000 npm test -- test/scenario/many-deposits`. */
const channelCount = Number(process.env.CHANNELS ?? 200)
const depositCount = Number(process.env.DEPOSITS ?? 40)

const withinMs = 60_000 + depositCount * 500

const log = pino({ level: 'silent' })
const recipients = {
  evm: '0x00000000000000000000000000000000000000aa',
  solana: 'GjJyeC1r2RgkuoCWMyPYkCWSGSGLcz266EaAkLA27AhL',
} as const

const stack = new AsyncDisposableStack()
let chains: Chains
let service: DepositService

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'depositd-many-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const database = await emptyDatabase()
  stack.defer(() => database.drop())
  chains = await startChains({ folder, blockMs: 500, slotMs: 200, log })
  stack.defer(() => chains.stop())
  await fundEach(chains.networks, liquidityAddresses({ seed }), '100000')
  service = await startService(serviceSettings(database.url, chains.networks, { sweep: { minimums: {} } }), {
    log,
  })
  stack.defer(() => service.stop())
})
afterAll(() => stack.disposeAsync())

type Channel = { id: string; addresses: { network: string; address: string }[] }

function networkAt(place: number): SandboxNetwork {
  const network = chains.networks[place % chains.networks.length]
  if (network === undefined) throw new Error('there are four networks')
  return network
}

async function createChannel(place: number): Promise<Channel> {
  const { name, family } = networkAt(place)
  const { status, body } = await call(`${service.url}/v1/channels`, writeKey, {
    id: `channel-${place}`,
    forward_network: name,
    forward_asset: 'USDC',
    forward_recipient: recipients[family],
  })
  expect(status).toBe(201)
  return body as Channel
}

async function listAll(): Promise<DepositRecord[]> {
  const records: DepositRecord[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const query: string = cursor === '' ? 'limit=500' : `limit=500&cursor=${cursor}`
    const { body } = await call(`${service.url}/v1/proxies/deposits?${query}`, readKey)
    records.push(...(body.data as DepositRecord[]))
    cursor = body.next_cursor as string | null
  }
  return records
}

function rate(count: number, startedAt: number): string {
  const seconds = (performance.now() - startedAt) / 1000
  return `${count} in ${seconds.toFixed(1)} s, ${(count / seconds).toFixed(0)} a second`
}

type Paid = { channel: Channel; asset: Asset; amount: bigint }

/** Every fourth payment is in the network's own coin, the others in USDC; no two amounts are alike. */
async function payOne(place: number, channels: readonly Channel[]): Promise<Paid> {
  const network = networkAt(place)
  const symbol = place % 4 === Math.floor(place / 4) % 4 ? network.assets[0]?.symbol : 'USDC'
  const asset = network.assets.find((one) => one.symbol === symbol)
  const channel = channels[(place * 7919) % channels.length]
  const address = channel?.addresses.find((one) => one.network === network.name)?.address
  if (asset === undefined || channel === undefined || address === undefined) throw new Error('nothing to pay')
  const amount = parseAmount(symbol === 'USDC' ? '2' : '0.01', asset.decimals) + BigInt(place)
  await network.pay({
    asset: asset.key,
    to: parseAddress(network.family, address),
    amount: amount as Parameters<SandboxNetwork['pay']>[0]['amount'],
  })
  return { channel, asset, amount }
}

function keyOf({ network, contract }: { network: string | null; contract: string | null }): string {
  return `${network}/${contract?.toLowerCase() ?? 'native'}`
}

function sumBy<Item>(items: readonly Item[], key: (item: Item) => string, amount: (item: Item) => bigint) {
  const sums = new Map<string, bigint>()
  for (const item of items) sums.set(key(item), (sums.get(key(item)) ?? 0n) + amount(item))
  return sums
}

/** A record's own arithmetic, anew: amount × rate in units of the other asset, floored. */
function grossOf({ source, destination, rate: text }: DepositRecord): bigint {
  const [whole = '', fraction = ''] = (text ?? '').split('.')
  const scaled = BigInt(source.amount) * BigInt(whole + fraction) * 10n ** BigInt(destination.decimals)
  return scaled / 10n ** BigInt(fraction.length + source.decimals)
}

/** The deposit addresses that were paid, of one network. */
function paidAddresses(paid: readonly Paid[], { name }: SandboxNetwork): string[] {
  const addresses = paid
    .filter(({ asset }) => asset.network === name)
    .map(({ channel }) => channel.addresses.find(({ network }) => network === name)?.address ?? '')
  return [...new Set(addresses)]
}

/** Of all tokens together, at all paid addresses. */
async function tokensHeld(paid: readonly Paid[]): Promise<bigint> {
  const held = await holdings(chains.networks, (network) => paidAddresses(paid, network))
  return [...held].filter(([key]) => !key.endsWith('/native')).reduce((sum, [, amount]) => sum + amount, 0n)
}

type Flows = {
  paid: readonly Paid[]
  delivered: ReadonlyMap<string, bigint>
  liquidityBefore: ReadonlyMap<string, bigint>
}

/** What came in is what went out and what the service's own addresses hold more, to the unit; fees of the chain aside. */
async function expectKept(
  network: SandboxNetwork,
  { paid, delivered, liquidityBefore }: Flows,
): Promise<void> {
  const liquidity = liquidityAddresses({ seed })[network.family]
  const [rpcUrl = ''] = network.rpcUrls
  const own = [liquidity, ...paidAddresses(paid, network)]
  const costs =
    network.family === 'evm'
      ? await evmCosts({ rpcUrl, owners: new Set(own.map((address) => address.toLowerCase())) })
      : await solanaCosts(rpcUrl, liquidity)
  for (const asset of network.assets) {
    const received = paid.filter((one) => one.asset.key === asset.key)
    const taken = received.reduce((sum, { amount }) => sum + amount, 0n)
    const given = delivered.get(asset.key.toLowerCase()) ?? 0n
    const spent = assetCode(asset.key) === 'native' ? costs : 0n
    const rise = (await heldBy(own, network, asset)) - (liquidityBefore.get(asset.key) ?? 0n)
    expect(rise, `what the service holds more of ${asset.key}`).toBe(taken - given - spent)
  }
}

test(`${depositCount} deposits to ${channelCount} channels over four networks are forwarded to the unit`, {
  timeout: 2 * withinMs + channelCount * 100,
}, async () => {
  const createdAt = performance.now()
  const channels = await eachAtOnce(channelCount, createChannel)
  const created = rate(channelCount, createdAt)
  const deposits = new Set(channels.flatMap(({ addresses }) => addresses.map(({ address }) => address)))
  expect(deposits.size, 'one hexadecimal and one base58 address each').toBe(2 * channelCount)

  const recipientsBefore = await holdings(chains.networks, ({ family }) => [recipients[family]])
  const liquidity = liquidityAddresses({ seed })
  const liquidityBefore = await holdings(chains.networks, ({ family }) => [liquidity[family]])
  const paidAt = performance.now()
  const paid = await eachAtOnce(depositCount, (place) => payOne(place, channels))
  const payments = rate(depositCount, paidAt)
  const settled = await until(
    'every deposit settled',
    async () => {
      // Looking costs the service work too, and it is the service that is measured.
      await sleep(500)
      const records = await listAll()
      return records.filter(({ status }) => status === 'settled').length === depositCount ? records : null
    },
    withinMs,
  )
  const forwarded = rate(depositCount, paidAt)

  const paidByAsset = sumBy(
    paid,
    ({ asset }) => asset.key.toLowerCase(),
    ({ amount }) => amount,
  )
  const takenByAsset = sumBy(
    settled,
    ({ source }) => keyOf(source),
    ({ source }) => BigInt(source.amount),
  )
  expect(takenByAsset, 'what was paid is what was recorded').toEqual(paidByAsset)
  for (const record of settled) {
    const { destination, fee } = record
    expect(BigInt(destination.amount ?? -1n) + BigInt(fee?.amount ?? -1n)).toBe(grossOf(record))
  }
  const delivered = sumBy(
    settled,
    (one) => keyOf(one.destination),
    (one) => BigInt(one.destination.amount ?? 0),
  )
  const recipientsAfter = await holdings(chains.networks, ({ family }) => [recipients[family]])
  for (const [key, after] of recipientsAfter) {
    const rise = after - (recipientsBefore.get(key) ?? 0n)
    expect(rise, `what the recipient of ${key} holds more`).toBe(delivered.get(key.toLowerCase()) ?? 0n)
  }
  await until('every token swept', async () => ((await tokensHeld(paid)) === 0n ? true : null), withinMs)
  for (const network of chains.networks) await expectKept(network, { paid, delivered, liquidityBefore })
  const figures = `channels created: ${created}; paid: ${payments}; paid, forwarded and settled: ${forwarded}`
  process.stdout.write(`${figures}\n`)
})
