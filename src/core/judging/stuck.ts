import { isGivenUp } from '../matching/write-off.ts'
import type { Mismatch } from '../mismatch.ts'
import type { Policy } from '../policy.ts'
import { earliest, latest } from '../time.ts'
import { owedOf } from './losses.ts'
import { awaited, type DeadlineContext } from './overdue.ts'
import type { DepositState, DepositVerdict } from './reconcile.ts'

type StuckContext = DeadlineContext & Pick<DepositVerdict, 'state' | 'mismatches'>

/**
 * A deposit that stays in one state, where nothing else tells why: nothing is wrong with it, and nothing is waited for
 * that would be told of as missing.
 */
export function findStuck(judged: StuckContext, policy: Policy, now: Date) {
  const { state, mismatches } = judged
  const since = sinceWhen(judged)
  const isTold = [...mismatches, ...awaited(judged, policy)].some(({ kind }) => tellsWhy(kind, state))
  if (since === null || isTold) return { mismatches: [], recheckAt: null }
  const due = new Date(since.getTime() + policy.stuckAfterMs)
  if (due > now) return { mismatches: [], recheckAt: due }
  const detail = { state, since: since.toISOString() }
  const loss = state === 'held' && judged.finalAt !== null ? owedOf(judged.dossier) : null
  const stuck: Mismatch = { kind: 'stuck', detail, loss }
  return { mismatches: [stuck], recheckAt: null }
}

/** A webhook that is missing holds back what is settled already, and nothing before. */
function tellsWhy(kind: Mismatch['kind'], state: DepositState): boolean {
  return kind === 'webhook_missing' ? state === 'settled' : kind !== 'clock_skew'
}

/**
 * Since when it is in its state; null for one in which it may stay, or that is written off. The delivery of what is
 * confirmed or settling is waited for by a deadline of its own.
 */
function sinceWhen({ dossier, state, finalAt, settledAt }: StuckContext): Date | null {
  if (isGivenUp(dossier, settledAt)) return null
  const { deposit, webhookAt, apiAt, statuses } = dossier
  const began: Partial<Record<DepositState, Date | null>> = {
    observed: earliest([webhookAt, apiAt, deposit?.seenAt ?? null]),
    settled: settledAt,
    held: latest([finalAt, statuses.api.get('held') ?? null]),
  }
  return began[state] ?? null
}
