import type { Address, Asset, AssetKey, NetworkName, NetworkSettings, TxId } from '../../../src/core/asset.ts'
import type { ChainTransfer } from '../../../src/core/evidence.ts'
import { formatAmount, toAmount } from '../../../src/core/money.ts'
import type { StatusMeaning } from '../../../src/provider/infer/hints.ts'
import type { ProofFacts } from '../../../src/provider/prove/facts.ts'
import { factsOf } from './made-facts.ts'
import type { Random } from './random.ts'

/** Deposits of a made-up service, and what the chains and the address book show of them. */

const hex = '0123456789abcdef'
const base58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

const assetTable = {
  mainnet: { USDC: 6, USDT: 6, ETH: 18 },
  base: { USDC: 6, ETH: 18 },
  arbitrum: { USDC: 6, DAI: 18 },
  solana: { USDC: 6, SOL: 9 },
} as const

const chainIds: Readonly<Record<string, number | null>> = {
  mainnet: 1,
  base: 8453,
  arbitrum: 42161,
  solana: null,
}
const nativeSymbols = new Set(['ETH', 'SOL'])

const isEvm = (network: string) => network !== 'solana'

const hashOf = (random: Random, network: string) =>
  (isEvm(network) ? `0x${random.text(hex, 64)}` : random.text(base58.slice(1), 88)) as TxId
const addressOn = (random: Random, network: string) =>
  (isEvm(network) ? `0x${random.text(hex, 40)}` : random.text(base58.slice(1), 44)) as Address

export const uuidOf = (random: Random) => [8, 4, 4, 4, 12].map((length) => random.text(hex, length)).join('-')

function networkSettings(random: Random): NetworkSettings[] {
  return Object.entries(assetTable).map(([name, assets]) => ({
    name: name as NetworkName,
    family: isEvm(name) ? ('evm' as const) : ('solana' as const),
    chainId: chainIds[name] ?? null,
    rpcUrls: [],
    assets: Object.entries(assets).map(([symbol, decimals]) => ({
      key: `${name}/${nativeSymbols.has(symbol) ? 'native' : addressOn(random, name)}` as AssetKey,
      network: name as NetworkName,
      symbol,
      decimals,
    })),
  }))
}

export type MadeOwner = {
  id: string
  kind: 'channel' | 'stable_wallet'
  addresses: Map<string, Address>
  forward: { asset: Asset; recipient: Address } | null
}

export type MadeDeposit = {
  number: number
  id: string
  reference: string
  owner: MadeOwner
  asset: Asset
  payer: Address
  payment: ChainTransfer
  /** `transfer` is all parts together. */
  delivery: { asset: Asset; transfer: ChainTransfer; parts: readonly ChainTransfer[]; fee: bigint } | null
  sweepTx: TxId
  /** Of the whole payment, to its payer. */
  refund: ChainTransfer | null
  /** Of each step, oldest first. */
  steps: readonly { meaning: StatusMeaning; word: string; at: Date }[]
  createdAt: Date
}

export type MadeWorld = {
  networks: readonly NetworkSettings[]
  deposits: readonly MadeDeposit[]
  /** Deposits of the same service that are not in the samples. */
  others: readonly MadeDeposit[]
  facts: ProofFacts
}

export type Flow = {
  forwarded: readonly [readonly [string, StatusMeaning], ...(readonly [string, StatusMeaning])[]]
  credited: readonly (readonly [string, StatusMeaning])[]
  stopped: readonly (readonly [string, StatusMeaning])[]
}

export type WorldStyle = {
  flow: Flow
  count: number
  isConverting: boolean
  hasWallets: boolean
  hasChannels: boolean
  channels: readonly [number, number]
  /** Payments and deliveries on one network. */
  isSameNetwork: boolean
  feeKind: 'share' | 'fixed' | 'none'
  hasBook: boolean
  networkNames: readonly string[]
  stopShare: number
  /** Of deposits that failed, the transaction failed. */
  isFailureOnChain: boolean
  /** Some deliveries are made in two transactions. */
  hasPayouts: boolean
}

const start = Date.parse('2026-03-01T08:00:00Z')

export function makeWorld(random: Random, style: WorldStyle): MadeWorld {
  const networks = networkSettings(random)
  const used = networks.filter(({ name }) => style.networkNames.includes(name))
  const owners = makeOwners(random, used, style)
  const make = (count: number, from: number) =>
    Array.from({ length: count }, (_, place) =>
      makeDeposit(random, { number: from + place, owners, used, style }),
    )
  const deposits = make(style.count, 1)
  const others = make(12, style.count + 1)
  return { networks, deposits, others, facts: factsOf(deposits, { networks, owners, style }) }
}

function makeOwners(random: Random, used: readonly NetworkSettings[], style: WorldStyle): MadeOwner[] {
  const kinds = [
    ...Array.from(
      { length: style.hasChannels ? random.int(...style.channels) : 0 },
      () => 'channel' as const,
    ),
    ...Array.from({ length: style.hasWallets ? random.int(1, 3) : 0 }, () => 'stable_wallet' as const),
  ]
  return kinds.map((kind, place) => {
    const own = random.pick(used)
    const asset = random.pick(own.assets)
    const evm = addressOn(random, 'base')
    return {
      id: random.pick([`${kind === 'channel' ? 'shop' : 'vault'}-${place}`, uuidOf(random), `own${place}x`]),
      kind,
      addresses: new Map(used.map(({ name }) => [name, isEvm(name) ? evm : addressOn(random, name)])),
      forward: kind === 'channel' ? { asset, recipient: addressOn(random, own.name) } : null,
    }
  })
}

type DepositContext = {
  number: number
  owners: readonly MadeOwner[]
  used: readonly NetworkSettings[]
  style: WorldStyle
}

function makeDeposit(random: Random, { number, owners, used, style }: DepositContext): MadeDeposit {
  const owner = random.pick(owners)
  const asset = random.pick(paidAssets(owner, used, style))
  const { network } = asset
  const paidAt = new Date(start + number * 7_200_000 + random.int(0, 3_000_000))
  const amount = toAmount(randomAmount(random, asset.decimals))
  const to = owner.addresses.get(network) as Address
  const payment = transferOf(random, { asset, to, amount, at: paidAt })
  const stopped = random.chance(style.stopShare)
  const words = flowOf(random, { owner, stopped, style })
  const createdAt = new Date(paidAt.getTime() + random.int(1_000, 90_000))
  const steps = stepsOf(random, words, createdAt)
  const last = steps.at(-1)
  return {
    number,
    id: uuidOf(random),
    reference: random.text('ABCDEFGHJKMNPQRSTVWXYZ23456789', 10),
    owner,
    asset,
    payer: addressOn(random, network),
    payment,
    delivery:
      owner.forward === null || last?.meaning !== 'settled'
        ? null
        : deliveryOf(random, {
            payment,
            asset,
            forward: owner.forward,
            style,
            at: new Date(last.at.getTime() - 20_000),
          }),
    sweepTx: hashOf(random, network),
    refund:
      last?.meaning === 'refunded' && payment.from !== null
        ? transferOf(random, { asset, to: payment.from, amount, at: last.at })
        : null,
    steps,
    createdAt,
  }
}

function paidAssets({ forward }: MadeOwner, used: readonly NetworkSettings[], style: WorldStyle): Asset[] {
  const all = used.flatMap(({ assets }) => assets)
  return all.filter(({ network, symbol }) => {
    if (forward === null) return true
    const isNetwork = !style.isSameNetwork || network === forward.asset.network
    return isNetwork && (style.isConverting || symbol === forward.asset.symbol)
  })
}

/** Mostly with many digits; sometimes round. */
function randomAmount(random: Random, decimals: number): bigint {
  const units = BigInt(random.int(1, 900))
  const fraction = random.chance(0.25) ? 0n : BigInt(random.int(1, 999_999)) * 10n ** BigInt(decimals - 6)
  return units * 10n ** BigInt(decimals) + fraction
}

function transferOf(
  random: Random,
  { asset, to, amount, at }: { asset: Asset; to: Address; amount: bigint; at: Date },
): ChainTransfer {
  const { network, key } = asset
  const code = key.slice(key.indexOf('/') + 1)
  const index = isEvm(network) ? (code === 'native' ? 'native' : `${random.int(0, 300)}`) : `${code}:${to}`
  return {
    network,
    tx: hashOf(random, network),
    index,
    asset: key,
    from: addressOn(random, network),
    to,
    amount: toAmount(amount),
    height: BigInt(random.int(1_000_000, 2_000_000)),
    blockHash: `0x${random.text(hex, 64)}`,
    blockAt: at,
  }
}

type DeliveryContext = {
  payment: ChainTransfer
  asset: Asset
  forward: { asset: Asset; recipient: Address }
  style: WorldStyle
  at: Date
}

function deliveryOf(random: Random, { payment, asset, forward, style, at }: DeliveryContext) {
  const scaled = (payment.amount * 10n ** BigInt(forward.asset.decimals)) / 10n ** BigInt(asset.decimals)
  const isConverted = asset.symbol !== forward.asset.symbol
  const gross = isConverted ? (scaled * BigInt(random.int(300, 1700))) / 1000n : scaled
  const fees = {
    share: gross / BigInt(random.int(90, 400)),
    fixed: 10n ** BigInt(forward.asset.decimals - 2),
    none: 0n,
  }
  const fee = fees[style.feeKind]
  const amount = gross - fee
  const transfer = transferOf(random, { asset: forward.asset, to: forward.recipient, amount, at })
  return { asset: forward.asset, fee, transfer, parts: partsOf(random, transfer, style) }
}

function partsOf(random: Random, transfer: ChainTransfer, { hasPayouts }: WorldStyle): ChainTransfer[] {
  if (!hasPayouts || random.chance(0.5)) return [transfer]
  const amount = toAmount(transfer.amount / BigInt(random.int(2, 5)))
  const rest = toAmount(transfer.amount - amount)
  return [
    { ...transfer, amount },
    { ...transfer, amount: rest, tx: hashOf(random, transfer.network) },
  ]
}

function flowOf(
  random: Random,
  { owner, stopped, style }: { owner: MadeOwner; stopped: boolean; style: WorldStyle },
) {
  const { forwarded, credited, stopped: ends } = style.flow
  const usual = owner.kind === 'channel' ? forwarded : credited
  return stopped && ends.length > 0
    ? [...usual.slice(0, random.int(1, usual.length - 1)), random.pick(ends)]
    : usual
}

function stepsOf(random: Random, words: readonly (readonly [string, StatusMeaning])[], createdAt: Date) {
  let at = createdAt.getTime()
  return words.map(([word, meaning], step) => {
    if (step > 0) at += random.int(60_000, 600_000)
    return { word, meaning, at: new Date(at) }
  })
}

export function unitsOf(amount: bigint, decimals: number): string {
  const text = formatAmount(amount, decimals)
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text
}
