import type { DepositEvidence } from '../matching/divide.ts'
import type { Loss, Mismatch, MismatchKind } from '../mismatch.ts'
import type { Policy } from '../policy.ts'
import { earliest, latest } from '../time.ts'
import {
  isBeforeHistory,
  judgeAbsence,
  type SoughtLeg,
  searchesOf,
  soughtLegs,
  unreadDetail,
} from './absence.ts'
import { type DepositLeg, isCredited, unapprovedDestination } from './legs.ts'
import { claimedLoss, owedLoss, paidLoss } from './losses.ts'
import { type Cell, type Matrix } from './matrix.ts'
import { failureOf } from './named-transactions.ts'
import { stepsOf } from './steps.ts'

export type DeadlineContext = {
  evidence: DepositEvidence
  matrix: Matrix
  finalAt: Date | null
  settledAt: Date | null
  /** Nothing more is to be delivered. */
  ended: boolean
}

/** Overdue once `withinMs` have passed since `since`. */
type Wait = {
  kind: MismatchKind
  what: string
  missing: boolean
  since: Date | null
  withinMs: number
  loss?: Loss | null
  /** A chain should show it: its absence has to be proved. */
  leg?: DepositLeg
}

type PendingEvidence = Wait & { since: Date; due: Date; loss: Loss | null }

/** Not needed if a search was made at `notBefore` or later. */
export type LegSearchRequest = SoughtLeg & { notBefore: Date }

/** Nodes or the daemon may be down this long before an unsearched leg counts as not covered. */
const searchWithinMs = 24 * 3_600_000

type OverdueFindings = {
  mismatches: readonly Mismatch[]
  searches: readonly LegSearchRequest[]
  recheckAt: Date | null
}

export function findOverdue(known: DeadlineContext, policy: Policy, now: Date): OverdueFindings {
  const found = pendingEvidence(known, policy).map(({ leg, ...one }) =>
    leg === undefined ? plain(one, now) : onChain({ ...one, leg }, known.evidence, { policy, now }),
  )
  return {
    mismatches: found.flatMap(({ mismatches }) => mismatches),
    searches: found.flatMap(({ searches }) => searches),
    recheckAt: earliest(found.map(({ recheckAt }) => recheckAt)),
  }
}

function plain({ kind, what, since, due, loss }: PendingEvidence, now: Date): OverdueFindings {
  if (due > now) return { mismatches: [], searches: [], recheckAt: due }
  const mismatch: Mismatch = { kind, detail: { what, since: since.toISOString() }, loss }
  return { mismatches: [mismatch], searches: [], recheckAt: null }
}

/** Missing only if its absence is proved. Otherwise its address was not read. */
function onChain(
  { kind, what, since, due, leg, loss }: PendingEvidence & { leg: DepositLeg },
  evidence: DepositEvidence,
  { policy, now }: { policy: Policy; now: Date },
): OverdueFindings {
  if (isBeforeHistory(evidence, policy)) return notRead({ what, since }, policy)
  const sought = soughtLegs(evidence, leg, policy)
  const isDue = due <= now
  const absence = judgeAbsence(evidence, sought, { due, policy })
  // No scan shows a payment to an address that is not in the address book.
  const isUnwatched = leg === 'deposit' && evidence.approval === null
  const isSearched = absence.kind !== 'proved' && (isDue || isUnwatched)
  const searches = isSearched ? sought.map((one) => ({ ...one, notBefore: isDue ? due : since })) : []
  const start = { what, since: since.toISOString() }
  const open = (mismatch: Mismatch): OverdueFindings => {
    return { mismatches: [mismatch], searches, recheckAt: isDue ? null : due }
  }
  if (absence.kind === 'not_read')
    return open({ kind: 'not_covered', detail: { ...start, ...absence.detail }, loss: null })
  if (!isDue) return { mismatches: [], searches, recheckAt: due }
  if (absence.kind === 'proved') return open({ kind, detail: { ...start, proof: absence.proof }, loss })
  const waitUntil = new Date(due.getTime() + searchWithinMs)
  if (waitUntil > now) return { mismatches: [], searches, recheckAt: waitUntil }
  const [detail] = sought.map((one) => unreadDetail(one, searchesOf(evidence, one).at(-1)))
  return open({ kind: 'not_covered', detail: { ...start, ...detail }, loss: null })
}

/** Of a time that is not read on purpose. */
function notRead(
  { what, since }: Pick<PendingEvidence, 'what' | 'since'>,
  { historySinceMs }: Policy,
): OverdueFindings {
  const start = new Date(historySinceMs ?? 0).toISOString()
  const detail = {
    what,
    since: since.toISOString(),
    reason: `the history of the service is read from ${start} on`,
    next: 'set an earlier historySince to read it',
  }
  return { mismatches: [{ kind: 'not_covered', detail, loss: null }], searches: [], recheckAt: null }
}

export function pendingEvidence(known: DeadlineContext, policy: Policy): PendingEvidence[] {
  return waitsOf(known, policy).flatMap(({ since, loss = null, ...wait }) =>
    wait.missing && since !== null
      ? [{ ...wait, since, due: new Date(since.getTime() + wait.withinMs), loss }]
      : [],
  )
}

function waitsOf(asked: DeadlineContext, policy: Policy): Wait[] {
  const { evidence, settledAt } = asked
  // A refused payment need not be reported or delivered.
  const refused = settledAt === null && refusalOf(evidence, policy) !== null
  const known = { ...asked, ended: asked.ended || refused }
  if (evidence.webhookAt === null && evidence.apiAt === null)
    return refused ? [] : [unreportedWait(known, policy)]
  return [
    ...webhookWaits(known, policy),
    ...paymentWaits(known, policy),
    ...deliveryWaits(known, policy),
    refundWait(known, policy),
  ]
}

/** Every step that the API or the chain knows needs its own webhook. */
function webhookWaits({ evidence, finalAt, settledAt }: DeadlineContext, policy: Policy): Wait[] {
  const steps = stepsOf(evidence, { finalAt, settledAt }, policy)
  return steps.map(({ status, since, isReported }) => ({
    kind: 'webhook_missing',
    what:
      evidence.webhookAt === null
        ? 'no webhook received for this deposit'
        : `no webhook received for the status ${status}`,
    missing: !isReported,
    since,
    withinMs: policy.webhookWithinMs,
  }))
}

function unreportedWait({ evidence, finalAt }: DeadlineContext, policy: Policy): Wait {
  const what = 'the service has not reported the payment'
  const loss = paidLoss(evidence)
  return { kind: 'unreported', what, missing: true, since: finalAt, withinMs: policy.reportWithinMs, loss }
}

function paymentWaits({ evidence, matrix, finalAt, ended }: DeadlineContext, policy: Policy): Wait[] {
  const { webhookAt, apiAt } = evidence
  return [
    {
      kind: 'api_missing',
      what: 'the API does not list the deposit',
      missing: apiAt === null,
      since: earliest([webhookAt, finalAt]),
      withinMs: policy.apiWithinMs,
    },
    {
      kind: 'chain_missing',
      what: 'the claimed payment is not on its chain',
      missing: !ended && matrix.deposit.chain === 'absent' && !isPaymentReportedDifferently(evidence),
      since: earliest([webhookAt, apiAt]),
      withinMs: policy.chainWithinMs,
      loss: claimedLoss(evidence),
      leg: 'deposit',
    },
  ]
}

function deliveryWaits(
  { evidence, matrix, finalAt, settledAt, ended }: DeadlineContext,
  policy: Policy,
): Wait[] {
  const isCredit = isCredited(evidence)
  return [
    {
      kind: 'api_missing',
      what: 'the API does not report the deposit as settled',
      missing: !ended && isUnproved(matrix.settlement.api),
      since: settledAt ?? creditReportedAt(evidence),
      withinMs: policy.apiWithinMs,
    },
    {
      kind: 'settlement_missing',
      what: isCredit ? 'the API does not report the credit' : 'no final delivery has reached the recipient',
      // One that went elsewhere or failed is a mismatch of its own: one cause is reported once.
      missing: !ended && settledAt === null && !isReportedDifferently(evidence),
      since: finalAt,
      withinMs: policy.settlementWithinMs,
      loss: owedLoss(evidence),
      ...(!isCredit && { leg: 'settlement' }),
    },
  ]
}

/** One that failed or belongs to another deposit is a mismatch of its own: one cause is reported once. */
function isPaymentReportedDifferently(evidence: DepositEvidence): boolean {
  const { reuse, foreign } = evidence
  return reuse !== null || foreign !== null || failureOf(evidence, 'deposit') !== null
}

function isReportedDifferently(evidence: DepositEvidence): boolean {
  return (
    unapprovedDestination(evidence) !== null ||
    failureOf(evidence, 'recipient') !== null ||
    hasFailed(evidence) ||
    evidence.ambiguity !== null
  )
}

function refundWait({ evidence, finalAt, settledAt, ended }: DeadlineContext, policy: Policy): Wait {
  return {
    kind: 'refund_due',
    what: 'the service reports that the deposit failed, and has not reported a refund',
    missing: !ended && settledAt === null && hasFailed(evidence),
    since: finalAt && latest([finalAt, evidence.statuses.api.get('failed') ?? null]),
    withinMs: policy.refundWithinMs,
    loss: paidLoss(evidence),
  }
}

/** The service does not deliver a failed deposit: it owes the payment. */
function hasFailed({ api, webhook }: DepositEvidence): boolean {
  return api?.status === 'failed' && webhook?.status !== 'refunded'
}

/** A credit is on no chain: only its webhook can show one that the API fails to list. */
function creditReportedAt({ webhook, ...evidence }: DepositEvidence): Date | null {
  const isReported = isCredited({ webhook, ...evidence }) && webhook?.status === 'settled'
  return isReported ? webhook.receivedAt : null
}

function isUnproved(cell: Cell): boolean {
  return cell === 'absent' || cell === 'present'
}

export function refusalOf(
  { deposit }: DepositEvidence,
  { supported, minimum, line }: Policy,
): Mismatch | null {
  if (deposit?.state !== 'final') return null
  const paid = { asset: deposit.asset, amount: deposit.amount.toString() }
  if (!supported) return { kind: 'unsupported_token', detail: { ...paid, policy: line }, loss: null }
  if (minimum === null || deposit.amount >= minimum) return null
  const detail = { ...paid, minimum: minimum.toString(), policy: line }
  return { kind: 'below_minimum', detail, loss: null }
}
