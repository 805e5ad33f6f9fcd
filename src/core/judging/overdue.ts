import type { Dossier } from '../matching/divide.ts'
import type { Loss, Mismatch, MismatchKind } from '../mismatch.ts'
import type { Policy } from '../policy.ts'
import { earliest, latest } from '../time.ts'
import { claimedOf, owedOf, paidOf } from './losses.ts'
import { type Cell, isCredited, type Matrix, otherPlace } from './matrix.ts'
import { failureOf } from './named-transactions.ts'
import { refusalOf } from './refusal.ts'
import { stepsOf } from './steps.ts'

export type Known = {
  dossier: Dossier
  matrix: Matrix
  finalAt: Date | null
  settledAt: Date | null
  /** Held, refunded or orphaned: nothing more is to be delivered. */
  ended: boolean
}

/** Something that is not there yet: it is missed once `withinMs` have passed since `since`. */
type Wait = {
  kind: MismatchKind
  what: string
  missing: boolean
  since: Date | null
  withinMs: number
  loss?: Loss | null
}

/** What is not there yet, and until when it is waited for. */
export type Awaited = { kind: MismatchKind; what: string; since: Date; due: Date; loss: Loss | null }

/** What should have come by now, and when to look again for what may still come in time. */
export function findOverdue(known: Known, policy: Policy, now: Date) {
  const open = awaited(known, policy)
  const mismatches = open
    .filter(({ due }) => due <= now)
    .map(
      ({ kind, what, since, loss }): Mismatch => ({
        kind,
        detail: { what, since: since.toISOString() },
        loss,
      }),
    )
  const later = open.filter(({ due }) => due > now).map(({ due }) => due)
  return {
    mismatches: mismatches.filter(
      (one, place) => mismatches.findIndex(({ kind }) => kind === one.kind) === place,
    ),
    recheckAt: earliest(later),
  }
}

/** All that is not there yet, in time or not. */
export function awaited(known: Known, policy: Policy): Awaited[] {
  return waitsOf(known, policy).flatMap(({ missing, since, withinMs, kind, what, loss = null }) =>
    missing && since !== null ? [{ kind, what, since, due: new Date(since.getTime() + withinMs), loss }] : [],
  )
}

function waitsOf(asked: Known, policy: Policy): Wait[] {
  const { dossier, settledAt } = asked
  // What the policy does not accept is neither to be reported nor to be delivered.
  const refused = settledAt === null && refusalOf(dossier, policy) !== null
  const known = { ...asked, ended: asked.ended || refused }
  const told = dossier.webhookAt !== null || dossier.apiAt !== null
  if (refused && !told) return []
  return told
    ? [
        ...webhookWaits(known, policy),
        ...paymentWaits(known, policy),
        ...deliveryWaits(known, policy),
        refundWait(known, policy),
      ]
    : untoldWaits(known, policy)
}

/** Every step that the API or the chain knows is to be told by a webhook of its own. */
function webhookWaits({ dossier, finalAt, settledAt }: Known, policy: Policy): Wait[] {
  const steps = stepsOf(dossier, { finalAt, settledAt }, policy.webhookStatuses)
  return steps.map(({ status, since, isTold }) => ({
    kind: 'webhook_missing',
    what:
      dossier.webhookAt === null
        ? 'no webhook received for this deposit'
        : `no webhook received that it is ${status}`,
    missing: !isTold,
    since,
    withinMs: policy.webhookWithinMs,
  }))
}

function untoldWaits({ dossier, finalAt }: Known, policy: Policy): Wait[] {
  const what = 'the service has not reported the payment'
  const loss = paidOf(dossier)
  return [{ kind: 'unreported', what, missing: true, since: finalAt, withinMs: policy.reportWithinMs, loss }]
}

function paymentWaits({ dossier, matrix, finalAt, ended }: Known, policy: Policy): Wait[] {
  const { webhookAt, apiAt } = dossier
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
      missing: !ended && matrix.deposit.chain === 'absent' && !isPaymentToldOtherwise(dossier),
      since: earliest([webhookAt, apiAt]),
      withinMs: policy.chainWithinMs,
      loss: claimedOf(dossier),
    },
  ]
}

function deliveryWaits({ dossier, matrix, finalAt, settledAt, ended }: Known, policy: Policy): Wait[] {
  const where = isCredited(dossier)
    ? 'the API does not say that it is credited'
    : 'nothing final has reached the recipient'
  return [
    {
      kind: 'api_missing',
      what: 'the API does not say that it is settled',
      missing: !ended && isUnsaid(matrix.settlement.api),
      since: settledAt ?? creditToldAt(dossier),
      withinMs: policy.apiWithinMs,
    },
    {
      kind: 'settlement_missing',
      what: where,
      // What went elsewhere, or failed, is not missing: that is a mismatch of its own, and one cause is told once.
      missing: !ended && settledAt === null && !isToldOtherwise(dossier),
      since: finalAt,
      withinMs: policy.settlementWithinMs,
      loss: owedOf(dossier),
    },
  ]
}

/** What failed, or is another deposit's, is not missing: that is a mismatch of its own, and one cause is told once. */
function isPaymentToldOtherwise(dossier: Dossier): boolean {
  return dossier.reuse !== null || failureOf(dossier, 'deposit') !== null
}

/** What went elsewhere, failed, or is there and does not add up, is not missing. */
function isToldOtherwise(dossier: Dossier): boolean {
  return (
    otherPlace(dossier) !== null ||
    failureOf(dossier, 'recipient') !== null ||
    hasFailed(dossier) ||
    dossier.ambiguity !== null
  )
}

function refundWait({ dossier, finalAt, settledAt, ended }: Known, policy: Policy): Wait {
  return {
    kind: 'refund_due',
    what: 'the service says that it failed, and does not say that it gave it back',
    missing: !ended && settledAt === null && hasFailed(dossier),
    since: finalAt && latest([finalAt, dossier.statuses.api.get('failed') ?? null]),
    withinMs: policy.refundWithinMs,
    loss: paidOf(dossier),
  }
}

/** What the service calls failed it does not deliver any more: it owes what was paid. */
function hasFailed({ api, webhook }: Dossier): boolean {
  return api?.status === 'failed' && webhook?.status !== 'refunded'
}

/** A credit is on no chain: that its webhook tells of it is all that shows what the API fails to list. */
function creditToldAt({ webhook, ...dossier }: Dossier): Date | null {
  const isTold = isCredited({ webhook, ...dossier }) && webhook?.status === 'settled'
  return isTold ? webhook.receivedAt : null
}

function isUnsaid(cell: Cell): boolean {
  return cell === 'absent' || cell === 'present'
}
