import type { AssetKey, NetworkName } from './asset.ts'
import type { ClaimStatus, Owner, ServiceName } from './evidence.ts'
import type { Amount } from './money.ts'

/** How long evidence may take before its absence is a mismatch. */
export type Deadlines = {
  /** From the first other evidence of a step to its webhook. */
  webhookWithinMs: number
  webhookStatuses: readonly ClaimStatus[]
  /** From the first other evidence of a step to the API's record. */
  apiWithinMs: number
  /** From a claim to the payment on its chain. Longer than the network takes to become final. */
  chainWithinMs: number
  /** From a final payment to the service's first report of it. */
  reportWithinMs: number
  /** From a final payment to its final delivery. */
  settlementWithinMs: number
}

/** From when on a service counts, in milliseconds since 1970. Null: from the beginning. */
export type ServiceStart = {
  /** What it last stated of a deposit before then is not read on a chain. */
  historySinceMs: number | null
  /** Steps before then need no webhook. */
  webhooksSinceMs: number | null
}

export const noStart: ServiceStart = { historySinceMs: null, webhooksSinceMs: null }

export type Policy = Deadlines &
  ServiceStart & {
    /** For people: `policy`, or `policy.routes[2]`. */
    line: string
    /** The larger of the two bounds applies. */
    tolerance: Tolerance
    fee: FeeModel
    required: readonly RequiredCell[]
    /** Cells that must agree before an owner may be credited, besides the final payment and one claim. */
    creditRequires: readonly RequiredCell[]
    minimum: Amount | null
    supported: boolean
    /** In one state that is not its last. */
    stuckAfterMs: number
    /** By how much the service's clock may be ahead of ours. */
    clockSkewMs: number
    /** From the report of a refund or failure. */
    refundWithinMs: number
    /**
     * Whether a transfer that fits only by address, asset, amount and time is joined without asking, if nothing else
     * fits.
     */
    acceptsUnnamed: boolean
  }

/** `amount` in base units of the delivered asset; `bps` in hundredths of a percent of the stated amount. */
export type Tolerance = { amount: Amount; bps: number }

export type FeeModel =
  | { kind: 'stated' }
  /** In base units of the delivered asset. */
  | { kind: 'fixed'; amount: Amount }
  /** In hundredths of a percent of the payment, if both assets have the same value. */
  | { kind: 'bps'; bps: number; units: Units }
  /** Found by `bin/depositd policy learn` on `sample` settled deposits. */
  | { kind: 'band'; lowBps: number; highBps: number; sample: number; units: Units }

/** Base units in one unit of each asset: powers of ten. */
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

export type DepositRoute = {
  service: ServiceName | undefined
  owner: Owner | null | undefined
  networkIn: NetworkName | undefined
  networkOut: NetworkName | undefined
  assetIn: AssetKey | undefined
  assetOut: AssetKey | undefined
}

/** Matches a route if every named property is equal. */
export type RoutePattern = {
  service?: ServiceName | undefined
  ownerKind?: Owner['kind'] | undefined
  ownerId?: string | undefined
  networkIn?: NetworkName | undefined
  networkOut?: NetworkName | undefined
  assetIn?: AssetKey | undefined
  assetOut?: AssetKey | undefined
}

export type RoutePolicy = { pattern: RoutePattern; policy: Policy }

export const plainPolicy: Omit<Policy, keyof Deadlines> = {
  ...noStart,
  line: 'policy',
  tolerance: { amount: 0n as Amount, bps: 0 },
  fee: { kind: 'stated' },
  required: ['deposit.api', 'deposit.chain', 'settlement.api', 'settlement.chain'],
  creditRequires: [],
  minimum: null,
  supported: true,
  stuckAfterMs: 24 * 3_600_000,
  clockSkewMs: 5 * 60_000,
  refundWithinMs: 24 * 3_600_000,
  acceptsUnnamed: false,
}

export function isTolerated(
  delivered: bigint,
  stated: bigint,
  { tolerance }: Pick<Policy, 'tolerance'>,
): boolean {
  const difference = delivered < stated ? stated - delivered : delivered - stated
  return difference <= tolerance.amount || difference * 10_000n <= stated * BigInt(tolerance.bps)
}
