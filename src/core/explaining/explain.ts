import type { DecidedDeposit, GroupVerdict, Rules } from '../decide.ts'
import { pendingEvidence } from '../judging/overdue.ts'
import { hasEnded, openCells } from '../judging/reconcile.ts'
import { policyOf } from '../judging/route.ts'
import { linkRules } from '../matching/link.ts'
import { type Mismatch, type MismatchKind, mismatchKinds } from '../mismatch.ts'
import { type FeeModel, type Policy, requiredCells } from '../policy.ts'
import { explainCell } from './explain-cells.ts'
import {
  type InboxRowIndex,
  indexInboxRows,
  type StoredObservation,
  type VerdictContext,
  type VerdictReason,
} from './verdict-reason.ts'

export function explainAll(
  deposits: GroupVerdict['deposits'],
  stored: readonly StoredObservation[],
  rules: Rules,
): (DecidedDeposit & { reasons: VerdictReason[] })[] {
  const sources = indexInboxRows(stored)
  return deposits.map((deposit) => {
    const judged = { ...deposit, policy: policyOf(deposit.evidence, rules) }
    const reasons = [
      stateReason(judged, sources),
      ...requiredCells.map((name) => explainCell(name, judged, sources)),
      ...transferReasons(judged, sources),
      ...writeOffReasons(judged),
      ...judged.verdict.mismatches.map((mismatch) => mismatchReason(mismatch, judged, sources)),
      ...awaitedReasons(judged),
    ]
    return { ...deposit, reasons }
  })
}

function stateReason({ evidence, verdict, policy }: VerdictContext, sources: InboxRowIndex): VerdictReason {
  const { state, finalAt, settledAt } = verdict
  const open = openCells(verdict.matrix, policy)
  const rules: Record<typeof state, string> = {
    observed: 'the payment is not final on its chain',
    confirmed: 'the payment is final on its chain, and its delivery has not begun',
    settling: 'the payment is final on its chain, and its delivery has begun',
    settled: `the delivery is proved, but these do not agree: ${open.join(', ') || 'a webhook or an address'}`,
    reconciled: `the delivery is proved, and all required cells agree: ${policy.required.join(', ')}`,
    orphaned: 'the block of the payment is no longer on its chain',
    refunded: "the service's API reports this status",
    held: "the service's API reports this status",
    failed: "the service's API reports this status",
    ignored: 'not a deposit: the native coin with which the service pays for sweeping',
  }
  const times = [
    ...(finalAt === null ? [] : [`final ${finalAt.toISOString()}`]),
    ...(settledAt === null ? [] : [`delivery proved ${settledAt.toISOString()}`]),
  ]
  const isByCells = state === 'settled' || state === 'reconciled'
  return {
    what: 'state',
    says: [state, ...times].join(', '),
    evidence: sources.ofEvidence(evidence),
    rule: rules[state],
    policy: isByCells ? policyLine(policy, 'required') : null,
    until: null,
  }
}

const whatOf = { deposit: 'payment', recipient: 'delivery' } as const

function transferReasons({ evidence }: VerdictContext, sources: InboxRowIndex): VerdictReason[] {
  const { deposit, settlements, refunds, links } = evidence
  const legs = [...(deposit === null ? [] : [deposit]), ...settlements, ...refunds]
  return links.map(({ transfer, role, rule, decision }) => {
    const leg = legs.find((one) => one.ref === transfer && one.role === role) ?? null
    return {
      what: rule === 'refund' ? rule : whatOf[role],
      says: transfer,
      evidence: [...sources.ofLeg(leg), ...sources.ofDecision(decision)],
      rule: linkRules[rule],
      policy: null,
      until: null,
    }
  })
}

function writeOffReasons({ evidence: { writeOff } }: VerdictContext): VerdictReason[] {
  if (writeOff === null) return []
  const amount = amountText(writeOff.amount, writeOff.asset)
  const says = `${amount} to ${writeOff.account === 'owner' ? 'the owner' : writeOff.account} at ${writeOff.at.toISOString()}`
  const rule = 'a person decided that the delivery, or the rest of it, is no longer expected'
  return [{ what: 'write-off', says, evidence: [], rule, policy: null, until: null }]
}

function mismatchReason(
  { kind, detail }: Mismatch,
  { evidence, policy }: VerdictContext,
  sources: InboxRowIndex,
): VerdictReason {
  const field = fieldOf[kind]
  const since = detail.since === undefined ? null : new Date(detail.since)
  const withinMs = field && policy[field]
  return {
    what: `mismatch ${kind}`,
    says: detailText(detail),
    evidence: sources.ofEvidence(evidence),
    rule: mismatchKinds[kind].means,
    policy: field === undefined ? null : policyLine(policy, field, detail.asset),
    until: since === null || typeof withinMs !== 'number' ? null : new Date(since.getTime() + withinMs),
  }
}

function detailText({ asset, paidAsset, ...said }: Mismatch['detail']): string {
  const assetOf = (name: string) => (name === 'paid' ? (paidAsset ?? asset) : asset)
  const one = ([name, value]: [string, string]) => {
    const of = /^\d+$/.test(value) ? assetOf(name) : undefined
    return of === undefined ? `${name} ${value}` : `${name} ${value} of ${of}`
  }
  const isNamed = Object.values(said).some((value) => /^\d+$/.test(value))
  return Object.entries(isNamed || asset === undefined ? said : { asset, ...said })
    .map(one)
    .join(', ')
}

function awaitedReasons({ evidence, verdict, policy }: VerdictContext): VerdictReason[] {
  const { matrix, finalAt, settledAt, recheckAt } = verdict
  if (recheckAt === null) return []
  const known = { evidence, matrix, finalAt, settledAt, ended: hasEnded(evidence, verdict) }
  return pendingEvidence(known, policy)
    .filter(({ due }) => due >= recheckAt)
    .map(({ kind, what, since, due }) => ({
      what: `awaited ${kind}`,
      says: what,
      evidence: [],
      rule: `it becomes a mismatch if it has not arrived by the deadline, counted from ${since.toISOString()}`,
      policy: policyLine(policy, fieldOf[kind] ?? 'line'),
      until: due,
    }))
}

/** The other kinds are contradictions that no policy allows. */
const fieldOf: Partial<Record<MismatchKind, keyof Policy>> = {
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

/** As `policy.routes[2].settlementWithin: 60m`. An amount carries its asset, if known. */
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
  if (fee.kind === 'stated') return 'any fee that the service states'
  if (fee.kind === 'fixed') return amountText(fee.amount, asset)
  if (fee.kind === 'bps') return `${fee.bps} bps of the payment`
  return `${fee.lowBps} to ${fee.highBps} bps, learned from ${fee.sample} deposits`
}

/** As in the settings: `500ms`, `30s`, `10m`, `2h`. */
function durationText(ms: number): string {
  if (ms % 1000 !== 0) return `${ms}ms`
  if (ms % 60_000 !== 0) return `${ms / 1000}s`
  return ms % 3_600_000 === 0 ? `${ms / 3_600_000}h` : `${ms / 60_000}m`
}
