import type { AssetKey, NetworkName } from './asset.ts'
import type { ClaimStatus, Owner } from './evidence.ts'
import type { Amount } from './money.ts'

/** How long each thing may take before its absence is a mismatch, in milliseconds. */
export type Deadlines = {
  /** From the first other evidence of a step to its webhook. */
  webhookWithinMs: number
  /** The statuses for each of which the service is to send a webhook. */
  webhookStatuses: readonly ClaimStatus[]
  /** From the first other evidence of a step to the API's record of it. */
  apiWithinMs: number
  /** From a claim to the payment on its chain. Longer than the network takes to become final. */
  chainWithinMs: number
  /** From a final payment to the service's first word of it. */
  reportWithinMs: number
  /** From a final payment to its final delivery. */
  settlementWithinMs: number
}

/** What is expected of deposits on one route. */
export type Policy = Deadlines & {
  /** Where it is written, for people: `policy`, or `policy.routes[2]`. */
  line: string
  /** By how much a delivery may differ from what is stated. The larger of both holds. */
  tolerance: Tolerance
  /** What the service may keep. */
  fee: FeeModel
  /** The cells that must agree before a deposit is reconciled. */
  required: readonly RequiredCell[]
  /** Payments of less are not expected to be delivered; null where every payment is. */
  minimum: Amount | null
  /** Whether payments of the asset are accepted on this route. */
  supported: boolean
  /** How long a deposit may stay in one state that is not its last. */
  stuckAfterMs: number
  /** By how much the service's clock may be ahead of ours. */
  clockSkewMs: number
  /** From the service's word that a deposit is to be refunded, or failed, to the refund. */
  refundWithinMs: number
  /** Whether what fits only by address, asset, amount and time is joined without asking, where nothing else fits. */
  acceptsUnnamed: boolean
}

/** `amount` in base units of the delivered asset; `bps` in hundredths of a percent of what is stated. */
export type Tolerance = { amount: Amount; bps: number }

export type FeeModel =
  /** Whatever the service states. */
  | { kind: 'stated' }
  /** In base units of the delivered asset. */
  | { kind: 'fixed'; amount: Amount }
  /** In hundredths of a percent of what is paid, where both assets are worth the same. */
  | { kind: 'bps'; bps: number; units: Units }
  /** What it has been on that many settled deposits, as `bin/depositd policy learn` found it. */
  | { kind: 'band'; lowBps: number; highBps: number; sample: number; units: Units }

/** How many base units one unit of the paid asset has, and one of the delivered asset: powers of ten. */
export type Units = { paid: bigint; delivered: bigint }

export const requiredCells = [
  'deposit.webhook',
  'deposit.api',
  'deposit.chain',
  'settlement.webhook',
  'settlement.api',
  'settlement.chain',
] as const
export type RequiredCell = (typeof requiredCells)[number]

/** What is known of a deposit's route. */
export type DepositRoute = {
  owner: Owner | null | undefined
  networkIn: NetworkName | undefined
  networkOut: NetworkName | undefined
  assetIn: AssetKey | undefined
  assetOut: AssetKey | undefined
}

/** Fits a route where everything that it names is so. */
export type RoutePattern = {
  ownerKind?: Owner['kind'] | undefined
  ownerId?: string | undefined
  networkIn?: NetworkName | undefined
  networkOut?: NetworkName | undefined
  assetIn?: AssetKey | undefined
  assetOut?: AssetKey | undefined
}

export type RoutePolicy = { pattern: RoutePattern; policy: Policy }

/** What is expected where the settings say nothing of it, but for deadlines. */
export const plainPolicy: Omit<Policy, keyof Deadlines> = {
  line: 'policy',
  tolerance: { amount: 0n as Amount, bps: 0 },
  fee: { kind: 'stated' },
  required: ['deposit.api', 'deposit.chain', 'settlement.api', 'settlement.chain'],
  minimum: null,
  supported: true,
  stuckAfterMs: 24 * 3_600_000,
  clockSkewMs: 5 * 60_000,
  refundWithinMs: 24 * 3_600_000,
  acceptsUnnamed: false,
}
