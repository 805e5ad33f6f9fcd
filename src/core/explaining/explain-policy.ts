import type { MismatchKind } from '../mismatch.ts'
import type { FeeModel, Policy } from '../policy.ts'

/** What in the policy decides of each kind. The other kinds are contradictions that no policy allows. */
const fields: Partial<Record<MismatchKind, keyof Policy>> = {
  webhook_missing: 'webhookWithinMs',
  api_missing: 'apiWithinMs',
  chain_missing: 'chainWithinMs',
  unreported: 'reportWithinMs',
  settlement_unreported: 'reportWithinMs',
  settlement_missing: 'settlementWithinMs',
  settlement_short: 'tolerance',
  settlement_over: 'tolerance',
  fee_out_of_band: 'fee',
  below_minimum: 'minimum',
  unsupported_token: 'supported',
  stuck: 'stuckAfterMs',
  clock_skew: 'clockSkewMs',
  refund_due: 'refundWithinMs',
  ambiguous_match: 'acceptsUnnamed',
}

/** The part of the policy that decides of this kind; null where none does. */
export function ruledBy(kind: MismatchKind): keyof Policy | null {
  return fields[kind] ?? null
}

/** One part of the policy, as `policy.routes[2].settlementWithin: 60m`. An amount is named with its asset, if that is known. */
export function policyLine(policy: Policy, field: keyof Policy, asset?: string): string {
  return `${policy.line}.${field.replace(/Ms$/, '')}: ${textOf(policy, field, asset)}`
}

function textOf(policy: Policy, field: keyof Policy, asset?: string): string {
  if (field === 'tolerance') return toleranceText(policy, asset)
  if (field === 'fee') return feeText(policy.fee, asset)
  const value = policy[field]
  if (typeof value === 'bigint') return amountText(value, asset)
  if (typeof value === 'number') return durationText(value)
  return Array.isArray(value) ? value.join(', ') : String(value ?? 'none')
}

function amountText(amount: bigint, asset?: string): string {
  return asset === undefined ? `${amount} base units` : `${amount} of ${asset}`
}

function toleranceText({ tolerance: { amount, bps } }: Policy, asset?: string): string {
  return `${amountText(amount, asset)}, or ${bps} bps`
}

function feeText(fee: FeeModel, asset?: string): string {
  if (fee.kind === 'stated') return 'whatever the service states'
  if (fee.kind === 'fixed') return amountText(fee.amount, asset)
  if (fee.kind === 'bps') return `${fee.bps} bps of what is paid`
  return `${fee.lowBps} to ${fee.highBps} bps, as on ${fee.sample} deposits`
}

/** As settings write it: `500ms`, `30s`, `10m`, `2h`. */
function durationText(ms: number): string {
  if (ms % 1000 !== 0) return `${ms}ms`
  if (ms % 60_000 !== 0) return `${ms / 1000}s`
  return ms % 3_600_000 === 0 ? `${ms / 3_600_000}h` : `${ms / 60_000}m`
}
