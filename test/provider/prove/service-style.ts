import type { Random } from './random.ts'
import type { Flow } from './shapes.ts'

/** How a made-up service calls and writes things. */

const flows: readonly Flow[] = [
  {
    forwarded: [
      ['detected', 'observed'],
      ['confirmed', 'confirmed'],
      ['converting', 'settling'],
      ['forwarding', 'settling'],
      ['settled', 'settled'],
    ],
    credited: [
      ['detected', 'observed'],
      ['confirmed', 'confirmed'],
      ['credited', 'settled'],
    ],
    stopped: [
      ['held', 'held'],
      ['failed', 'failed'],
      ['refunded', 'refunded'],
    ],
  },
  {
    forwarded: [
      ['PENDING', 'observed'],
      ['PROCESSING', 'settling'],
      ['COMPLETED', 'settled'],
    ],
    credited: [
      ['PENDING', 'observed'],
      ['COMPLETED', 'settled'],
    ],
    stopped: [
      ['REJECTED', 'held'],
      ['CANCELLED', 'failed'],
    ],
  },
  {
    forwarded: [
      ['new', 'observed'],
      ['accepted', 'observed'],
      ['processing', 'confirmed'],
      ['paid', 'settling'],
      ['done', 'settled'],
    ],
    credited: [
      ['new', 'observed'],
      ['accepted', 'observed'],
      ['done', 'settled'],
    ],
    stopped: [['returned', 'held']],
  },
  {
    forwarded: [
      ['S1', 'observed'],
      ['S4', 'confirmed'],
      ['S2', 'settling'],
      ['S9', 'settled'],
    ],
    credited: [
      ['S1', 'observed'],
      ['S4', 'confirmed'],
      ['S9', 'settled'],
    ],
    stopped: [['S7', 'failed']],
  },
  {
    forwarded: [
      ['tx_seen', 'observed'],
      ['tx_confirmed', 'confirmed'],
      ['swapping', 'settling'],
      ['paid_out', 'settled'],
    ],
    credited: [
      ['tx_seen', 'observed'],
      ['tx_confirmed', 'confirmed'],
      ['paid_out', 'settled'],
    ],
    stopped: [],
  },
  {
    forwarded: [
      ['observed', 'observed'],
      ['confirmed', 'confirmed'],
      ['screening', 'held'],
      ['sweeping', 'settling'],
      ['settled', 'settled'],
    ],
    credited: [
      ['observed', 'observed'],
      ['confirmed', 'confirmed'],
      ['settled', 'settled'],
    ],
    stopped: [['frozen', 'held']],
  },
  {
    forwarded: [
      ['10', 'observed'],
      ['20', 'confirmed'],
      ['30', 'settling'],
      ['40', 'settled'],
    ],
    credited: [
      ['10', 'observed'],
      ['20', 'confirmed'],
      ['40', 'settled'],
    ],
    stopped: [['90', 'failed']],
  },
  {
    forwarded: [
      ['DETECTED', 'observed'],
      ['CONFIRMED', 'confirmed'],
      ['FORWARDING', 'settling'],
      ['SETTLED', 'settled'],
    ],
    credited: [
      ['DETECTED', 'observed'],
      ['CONFIRMED', 'confirmed'],
      ['SETTLED', 'settled'],
    ],
    stopped: [['REFUNDED', 'refunded']],
  },
]

const plainFlows = flows.filter(({ forwarded: [[first]] }) => ['tx_seen', 'DETECTED'].includes(first))

const networkStyles: readonly Readonly<Record<string, string>>[] = [
  { mainnet: 'mainnet', base: 'base', arbitrum: 'arbitrum', solana: 'solana' },
  { mainnet: 'ETHEREUM', base: 'BASE', arbitrum: 'ARBITRUM', solana: 'SOLANA' },
  { mainnet: '1', base: '8453', arbitrum: '42161', solana: '101' },
  { mainnet: 'n-3', base: 'n-1', arbitrum: 'n-2', solana: 'n-7' },
  // Misleading: names of other networks of the settings.
  { mainnet: 'base', base: 'arbitrum', arbitrum: 'solana', solana: 'mainnet' },
]

export const assetCodes: Readonly<Record<string, string>> = {
  USDC: 'usd-coin',
  USDT: 'tether',
  ETH: 'ether',
  DAI: 'dai-stable',
  SOL: 'sol-coin',
}

const vocabulary: Readonly<Record<string, readonly string[]>> = {
  id: ['id', 'deposit_id', 'uuid', 'transferId', 'paymentReference'],
  status: ['status', 'state', 'phase', 'lifecycle'],
  createdAt: ['created_at', 'createdAt', 'opened', 'inserted_at'],
  occurredAt: ['updated_at', 'changedAt', 'last_update', 'modified_at'],
  'owner.id': ['id', 'owner_id', 'customerId', 'account_ref'],
  'owner.kind': ['type', 'owner_type', 'class', 'account_kind'],
  network: ['network', 'chain', 'blockchain', 'rail'],
  address: ['address', 'to', 'wallet', 'destination_address'],
  asset: ['contract', 'token', 'asset_contract', 'mint'],
  symbol: ['symbol', 'ticker', 'currency', 'coin'],
  amount: ['amount', 'value', 'qty', 'sum'],
  transaction: ['tx_hash', 'hash', 'txid', 'transactionId'],
  index: ['log_index', 'position', 'vout', 'transfer_index'],
  'refund.transaction': ['refund_tx', 'returnedHash', 'refund_transaction'],
  fee: ['fee', 'commission', 'service_fee', 'charge'],
}

export const realistic = Object.values(vocabulary).flat()

export const words = (of: string) => vocabulary[of] ?? [of]

export type ShapeStyle = ReturnType<typeof styleOf>

export function styleOf(random: Random) {
  const isPlain = random.chance(0.3)
  const style = anyStyle(random)
  if (!isPlain) return { ...style, isPlain }
  return {
    ...style,
    isPlain,
    flow: random.pick(plainFlows),
    hasPing: true,
    hasApi: true,
    hasWebhooks: true,
    isOneNetworkColumn: false,
    hasOccurredAt: true,
    isNumericId: false,
    distractors: 0,
    hasChannels: true,
    hasWallets: random.chance(0.5),
  }
}

function anyStyle(random: Random) {
  const hasChannels = random.chance(0.9)
  return {
    naming: random.pick(['realistic', 'realistic', 'meaningless', 'misleading'] as const),
    nesting: random.pick(['flat', 'nested', 'nested', 'deep', 'list'] as const),
    amount: random.pick([
      'base-text',
      'base-number',
      'units-text',
      'units-number',
      'eighteen',
      'own-decimals',
    ] as const),
    time: random.pick(['iso', 'ms', 's', 'utc'] as const),
    asset: random.pick(['contract', 'both', 'symbol', 'code'] as const),
    networks: random.pick(networkStyles),
    flow: random.pick(flows),
    statusAsNumber: random.chance(0.5),
    absent: random.pick(['null', 'empty', 'missing'] as const),
    envelope: random.pick(['data', 'header', 'flat'] as const),
    kind: random.pick(['dotted', 'one', 'none'] as const),
    hasPing: random.chance(0.7),
    hasApi: random.chance(0.85),
    hasWebhooks: random.chance(0.92),
    isNewestFirst: random.chance(0.5),
    isOneNetworkColumn: random.chance(0.1),
    isEarlyDelivery: random.chance(0.4),
    isLateTransaction: random.chance(0.2),
    hasOwner: random.chance(0.8),
    hasIndex: random.chance(0.6),
    hasFee: random.chance(0.7),
    hasCreatedAt: random.chance(0.9),
    hasOccurredAt: random.chance(0.85),
    isNumericId: random.chance(0.12),
    distractors: random.pick([0, 0.08, 0.25, 0.6]),
    hasChannels,
    hasWallets: !hasChannels || random.chance(0.5),
    hasPayouts: random.chance(0.12),
    hasRefund: random.chance(0.5),
  }
}
