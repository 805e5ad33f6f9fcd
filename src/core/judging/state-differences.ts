import type { Claim, ClaimStatus } from '../evidence.ts'
import type { DepositEvidence } from '../matching/divide.ts'
import { statusRank } from '../matching/fold.ts'
import type { Mismatch } from '../mismatch.ts'
import type { Policy } from '../policy.ts'
import { deliveredLegs, total } from './matrix.ts'

/** What cannot be in the course of a deposit, as the service tells it. */
export function findStateDifferences(dossier: DepositEvidence, policy: Policy): Mismatch[] {
  return [
    statusRegressed(dossier, 'api', policy) ?? statusRegressed(dossier, 'webhook', policy),
    terminalReopened(dossier, 'api', policy) ?? terminalReopened(dossier, 'webhook', policy),
    statusConflict(dossier, policy),
    clockSkewed(dossier, 'api', policy) ?? clockSkewed(dossier, 'webhook', policy),
  ].filter((mismatch) => mismatch !== null)
}

type ClaimSource = Claim['source']

/**
 * A status further back than one that was told before it. A hold may come after any status, and what is released
 * begins anew. What was finished is told of as reopened.
 */
function statusRegressed(dossier: DepositEvidence, source: ClaimSource, policy: Policy): Mismatch | null {
  const words = timelyWords(dossier, source, policy)
  const newest = words.at(-1)
  if (newest === undefined || !isOnTheWay(newest) || words.some(isFinished)) return null
  const heldAt = Math.max(...holdsBefore(newest, dossier).map(timeOf))
  const before = words.filter((word) => isOnTheWay(word) && timeOf(word) > heldAt && isLater(newest, word))
  const furthest = before.find((word) => before.every((other) => rankOf(other) <= rankOf(word)))
  if (furthest === undefined || rankOf(furthest) <= rankOf(newest)) return null
  return { kind: 'status_regressed', detail: { source, told: said(furthest), now: said(newest) }, loss: null }
}

/** What the service called finished has become something else, and the chain does not bear it out. */
function terminalReopened(dossier: DepositEvidence, source: ClaimSource, policy: Policy): Mismatch | null {
  const words = timelyWords(dossier, source, policy)
  const finished = words.find(isFinished)
  const newest = words.at(-1)
  if (finished === undefined || newest === undefined || !isLater(newest, finished)) return null
  if (mayFollow(finished, newest) || isBorneOut(newest, dossier)) return null
  return {
    kind: 'terminal_reopened',
    detail: { source, told: said(finished), now: said(newest) },
    loss: null,
  }
}

/**
 * The two voices end at statuses of which only one can be so. One that is merely behind, as it tells of what the other
 * told of before, contradicts nothing.
 */
function statusConflict(dossier: DepositEvidence, policy: Policy): Mismatch | null {
  const webhook = wordThatHolds(dossier, 'webhook', policy)
  const api = wordThatHolds(dossier, 'api', policy)
  if (webhook === null || api === null) return null
  const [older, newer] = timeOf(webhook) < timeOf(api) ? [webhook, api] : [api, webhook]
  const isBehind = dossier.words[newer.source].some(({ status }) => status === older.status)
  if (isBehind || !excludes(older, newer)) return null
  return { kind: 'status_conflict', detail: { webhook: said(webhook), api: said(api) }, loss: null }
}

/** By what was received last, so that a clock that is set right ends it. */
function clockSkewed(
  dossier: DepositEvidence,
  source: ClaimSource,
  { clockSkewMs }: Policy,
): Mismatch | null {
  const words = dossier.words[source].toSorted(
    (left, right) => Number(left.receivedAt) - Number(right.receivedAt),
  )
  const last = words.at(-1)
  if (last === undefined) return null
  const states = last.occurredAt.toISOString()
  if (isAhead(last, clockSkewMs)) {
    const received = last.receivedAt.toISOString()
    return { kind: 'clock_skew', detail: { source, states, received }, loss: null }
  }
  const paidAt = paidBefore(dossier)
  // What is not in a block yet may be told of before there is one.
  if (paidAt === null || last.status === 'observed' || timeOf(last) >= paidAt.getTime() - clockSkewMs)
    return null
  return { kind: 'clock_skew', detail: { source, states, paid: paidAt.toISOString() }, loss: null }
}

/** When the block was made; null also where its clock is ahead of ours, since it then tells nothing. */
function paidBefore({ deposit }: DepositEvidence): Date | null {
  return deposit === null || deposit.blockAt > deposit.seenAt ? null : deposit.blockAt
}

/** What a clock that is ahead tells does not say what came after what. */
function timelyWords({ words }: DepositEvidence, source: ClaimSource, { clockSkewMs }: Policy): Claim[] {
  return words[source].filter((word) => !isAhead(word, clockSkewMs))
}

function isAhead({ occurredAt, receivedAt }: Claim, byMs: number): boolean {
  return occurredAt.getTime() - receivedAt.getTime() > byMs
}

/** The newest word of a source; or the furthest, where a webhook states no time and may only be late. */
function wordThatHolds(dossier: DepositEvidence, source: ClaimSource, policy: Policy): Claim | null {
  const newest = timelyWords(dossier, source, policy).at(-1)
  return newest !== undefined && statesTime(newest) ? newest : dossier[source]
}

function isLater(one: Claim, other: Claim): boolean {
  if (timeOf(one) !== timeOf(other)) return timeOf(one) > timeOf(other) && statesTime(one)
  return one.source === 'api' && one.receivedAt > other.receivedAt
}

/** A record is as of its reading, at the latest. A webhook without a time of its own may only be late. */
function statesTime({ source, isUndated }: Claim): boolean {
  return source === 'api' || isUndated !== true
}

function holdsBefore(newest: Claim, { words }: DepositEvidence): Claim[] {
  return [...words.api, ...words.webhook].filter(
    (word) => word.status === 'held' && timeOf(word) <= timeOf(newest),
  )
}

const finished: ReadonlySet<ClaimStatus> = new Set(['settled', 'refunded', 'failed'])

function isFinished({ status }: Claim): boolean {
  return finished.has(status)
}

function isOnTheWay({ status }: Claim): boolean {
  return !finished.has(status) && status !== 'held'
}

/** The same again, with more or less said of it; or the way back of what failed. */
function mayFollow(before: Claim, after: Claim): boolean {
  if (before.status === 'failed' && (after.status === 'held' || after.status === 'refunded')) return true
  return before.status === after.status && (before.status !== 'settled' || isSameDelivery(before, after))
}

function isSameDelivery({ settlement: before }: Claim, { settlement: after }: Claim): boolean {
  if (before === null || after === null) return true
  const parts = ['network', 'address', 'asset', 'amount', 'tx', 'fee'] as const
  return parts.every((part) => before[part] === null || after[part] === null || before[part] === after[part])
}

/** Only a chain bears out what the service says; a credit stands on its word alone. */
function isBorneOut({ status, settlement }: Claim, dossier: DepositEvidence): boolean {
  const legs = deliveredLegs(dossier)
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

/** A status with what it delivers, where it does, and when it was told. */
function said({ status, settlement, occurredAt }: Claim): string {
  if (status !== 'settled' || settlement === null) return `${status} at ${occurredAt.toISOString()}`
  const { amount, asset, tx, address } = settlement
  const by = tx === null ? '' : ` by ${tx}`
  const delivery = ` ${amount ?? 'an unknown amount'} of ${asset} to ${address}${by}`
  return `${status}${delivery} at ${occurredAt.toISOString()}`
}
