import type { Claim, ClaimStatus } from '../evidence.ts'
import type { DepositEvidence } from '../matching/divide.ts'
import { statusRank, total } from '../matching/fold.ts'
import type { Mismatch } from '../mismatch.ts'
import type { Policy } from '../policy.ts'
import { deliveredLegs } from './legs.ts'

export function findStateDifferences(evidence: DepositEvidence, policy: Policy): (Mismatch | null)[] {
  return [
    statusRegressed(evidence, 'api', policy) ?? statusRegressed(evidence, 'webhook', policy),
    terminalReopened(evidence, 'api', policy) ?? terminalReopened(evidence, 'webhook', policy),
    statusConflict(evidence, policy),
    clockSkewed(evidence, 'api', policy) ?? clockSkewed(evidence, 'webhook', policy),
  ]
}

type ClaimSource = Claim['source']

/**
 * A hold may follow any status, and a released deposit starts anew. A finished deposit is reported as reopened instead.
 */
function statusRegressed(evidence: DepositEvidence, source: ClaimSource, policy: Policy): Mismatch | null {
  const claims = timelyClaims(evidence, source, policy)
  const newest = claims.at(-1)
  if (newest === undefined || claims.some(isFinished)) return null
  const heldAt = Math.max(...holdsBefore(newest, evidence).map(timeOf))
  const before = claims.filter((word) => timeOf(word) > heldAt && isLater(newest, word))
  const [furthest] = before.toSorted((one, other) => rankOf(other) - rankOf(one))
  if (furthest === undefined || rankOf(furthest) <= rankOf(newest)) return null
  return changed('status_regressed', furthest, newest)
}

/** The service changed a finished status, and the chain does not confirm it. */
function terminalReopened(evidence: DepositEvidence, source: ClaimSource, policy: Policy): Mismatch | null {
  const claims = timelyClaims(evidence, source, policy)
  const finished = claims.find(isFinished)
  const newest = claims.at(-1)
  if (finished === undefined || newest === undefined || !isLater(newest, finished)) return null
  if (mayFollow(finished, newest) || isConfirmedByChain(newest, evidence)) return null
  return changed('terminal_reopened', finished, newest)
}

function changed(kind: 'status_regressed' | 'terminal_reopened', before: Claim, now: Claim): Mismatch {
  return {
    kind,
    detail: { source: now.source, reported: claimText(before), now: claimText(now) },
    loss: null,
  }
}

/**
 * The API and the webhooks end at statuses that exclude each other. A source that is merely behind contradicts nothing.
 */
function statusConflict(evidence: DepositEvidence, policy: Policy): Mismatch | null {
  const webhook = currentClaim(evidence, 'webhook', policy)
  const api = currentClaim(evidence, 'api', policy)
  if (webhook === null || api === null) return null
  const [older, newer] = timeOf(webhook) < timeOf(api) ? [webhook, api] : [api, webhook]
  const isBehind = evidence.claims[newer.source].some(({ status }) => status === older.status)
  if (isBehind || !excludes(older, newer)) return null
  return { kind: 'status_conflict', detail: { webhook: claimText(webhook), api: claimText(api) }, loss: null }
}

/** Judges the claim received last, so that correcting the clock ends the mismatch. */
function clockSkewed(
  evidence: DepositEvidence,
  source: ClaimSource,
  { clockSkewMs }: Policy,
): Mismatch | null {
  const claims = evidence.claims[source].toSorted(
    (left, right) => Number(left.receivedAt) - Number(right.receivedAt),
  )
  const last = claims.at(-1)
  if (last === undefined) return null
  const states = last.occurredAt.toISOString()
  if (isAhead(last, clockSkewMs)) {
    const received = last.receivedAt.toISOString()
    return { kind: 'clock_skew', detail: { source, states, received }, loss: null }
  }
  const paidAt = paidBefore(evidence)
  // A transaction may be reported before it is in a block.
  if (paidAt === null || last.status === 'observed' || timeOf(last) >= paidAt.getTime() - clockSkewMs)
    return null
  return { kind: 'clock_skew', detail: { source, states, paid: paidAt.toISOString() }, loss: null }
}

/** Null also if the block's clock is ahead of ours, because its time then proves nothing. */
function paidBefore({ deposit }: DepositEvidence): Date | null {
  return deposit === null || deposit.blockAt > deposit.seenAt ? null : deposit.blockAt
}

/** Times from a clock that is ahead say nothing about the order. */
function timelyClaims({ claims }: DepositEvidence, source: ClaimSource, { clockSkewMs }: Policy): Claim[] {
  return claims[source].filter((word) => !isAhead(word, clockSkewMs))
}

function isAhead({ occurredAt, receivedAt }: Claim, byMs: number): boolean {
  return occurredAt.getTime() - receivedAt.getTime() > byMs
}

/** The newest claim; or the furthest, if a webhook states no time and may only be late. */
function currentClaim(evidence: DepositEvidence, source: ClaimSource, policy: Policy): Claim | null {
  const newest = timelyClaims(evidence, source, policy).at(-1)
  return newest !== undefined && statesTime(newest) ? newest : evidence[source]
}

function isLater(newest: Claim, other: Claim): boolean {
  if (timeOf(newest) > timeOf(other)) return statesTime(newest)
  return newest.source === 'api' && newest.receivedAt > other.receivedAt
}

/** A record dates from its reading at the latest. A webhook without a time of its own may only be late. */
function statesTime({ source, isUndated }: Claim): boolean {
  return source === 'api' || isUndated !== true
}

function holdsBefore(newest: Claim, { claims }: DepositEvidence): Claim[] {
  return [...claims.api, ...claims.webhook].filter(
    (word) => word.status === 'held' && timeOf(word) <= timeOf(newest),
  )
}

const finished: ReadonlySet<ClaimStatus> = new Set(['settled', 'refunded', 'failed'])

function isFinished({ status }: Claim): boolean {
  return finished.has(status)
}

/** The same status with more or less detail, or the return of a failed payment. */
function mayFollow(before: Claim, after: Claim): boolean {
  if (before.status === 'failed' && (after.status === 'held' || after.status === 'refunded')) return true
  return before.status === after.status && (before.status !== 'settled' || isSameDelivery(before, after))
}

function isSameDelivery({ settlement: before }: Claim, { settlement: after }: Claim): boolean {
  if (before === null || after === null) return true
  const parts = ['network', 'address', 'asset', 'amount', 'tx', 'fee'] as const
  return parts.every((part) => before[part] === null || after[part] === null || before[part] === after[part])
}

/** A credit rests on the service's claim alone. */
function isConfirmedByChain({ status, settlement }: Claim, evidence: DepositEvidence): boolean {
  const legs = deliveredLegs(evidence)
  if (status !== 'settled' || settlement === null || legs.length === 0) return false
  const isThere = legs.every(({ asset, to }) => asset === settlement.asset && to === settlement.address)
  return isThere && total(legs) === settlement.amount
}

function excludes({ status: older }: Claim, { status: newer }: Claim): boolean {
  if (newer === 'settled') return older === 'refunded' || older === 'failed'
  return older === 'settled' && (newer === 'refunded' || newer === 'failed' || newer === 'held')
}

function rankOf({ status }: Claim): number {
  return statusRank[status]
}

function timeOf({ occurredAt }: Claim): number {
  return occurredAt.getTime()
}

function claimText({ status, settlement, occurredAt }: Claim): string {
  if (status !== 'settled' || settlement === null) return `${status} at ${occurredAt.toISOString()}`
  const { amount, asset, tx, address } = settlement
  const by = tx === null ? '' : ` by ${tx}`
  const delivery = ` ${amount ?? 'an unknown amount'} of ${asset} to ${address}${by}`
  return `${status}${delivery} at ${occurredAt.toISOString()}`
}
