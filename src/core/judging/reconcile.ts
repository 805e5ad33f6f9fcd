import type { AssetKey } from '../asset.ts'
import { isWrittenOff } from '../matching/decisions.ts'
import type { DepositEvidence } from '../matching/divide.ts'
import { claimOf, total } from '../matching/fold.ts'
import type { Mismatch } from '../mismatch.ts'
import type { Amount } from '../money.ts'
import type { Policy, RequiredCell } from '../policy.ts'
import { earliest, latest } from '../time.ts'
import { findDifferences } from './differences.ts'
import { feeOf } from './fee.ts'
import {
  apiSettlement,
  deliveredLegs,
  isCredited,
  isElsewhere,
  isOutsideValidity,
  toleratedShortfall,
} from './legs.ts'
import { owedLoss } from './losses.ts'
import { cellPath, type Matrix, matrixOf } from './matrix.ts'
import {
  type DeadlineContext,
  findOverdue,
  type LegSearchRequest,
  pendingEvidence,
  refusalOf,
} from './overdue.ts'

/** In the order of a deposit's life. */
export const depositStates = [
  'observed',
  'confirmed',
  'settling',
  'settled',
  'reconciled',
  'orphaned',
  'refunded',
  'held',
  'failed',
  'ignored',
] as const

export type DepositState = (typeof depositStates)[number]

export type DepositVerdict = {
  state: DepositState
  matrix: Matrix
  mismatches: readonly Mismatch[]
  /** As the API states it or the policy derives it, in base units of the delivered asset. */
  fee: Amount | null
  /**
   * The part of the stated amount that the delivery lacks, within the tolerance; negative if it is more. In base units
   * of the delivered asset.
   */
  shortfall: bigint
  /** Null until its deadline. */
  shortage: Shortage | null
  finalAt: Date | null
  settledAt: Date | null
  searches: readonly LegSearchRequest[]
  recheckAt: Date | null
}

/** The same evidence, policy and time give the same verdict. */
export function reconcile(evidence: DepositEvidence, policy: Policy, now: Date): DepositVerdict {
  const matrix = matrixOf(evidence, policy)
  const finalAt = finalAtOf(evidence)
  const shortfall = toleratedShortfall(evidence, policy)
  const settledAt = finalAt && evidence.approval && settlementProvedAt(evidence, shortfall)
  const proved = { evidence, matrix, finalAt, settledAt }
  const state = stateOf(proved, policy)
  const refusal = settledAt === null && state !== 'refunded' ? refusalOf(evidence, policy) : null
  const known = { ...proved, ended: hasEnded(evidence, { state, settledAt }) }
  const overdue = findOverdue(known, policy, now)
  const found = firstOfEachKind([
    ...findDifferences(evidence, policy),
    ...(refusal === null ? [] : [refusal]),
    ...overdue.mismatches,
  ])
  const short = findShortage({ api: evidence.api, finalAt, settledAt, mismatches: found }, policy, now)
  const stuck = findStuck({ ...known, state, mismatches: found }, policy, now)
  return {
    state,
    matrix,
    mismatches: [...found, ...stuck.mismatches],
    fee: feeOf(evidence, policy),
    shortfall,
    shortage: short.shortage,
    finalAt,
    settledAt,
    searches: overdue.searches,
    recheckAt: earliest([overdue.recheckAt, short.recheckAt, stuck.recheckAt]),
  }
}

/** Both legs may have the wrong decimals, or be missing. */
function firstOfEachKind(mismatches: readonly Mismatch[]): Mismatch[] {
  return mismatches.filter((one, place) => mismatches.findIndex(({ kind }) => kind === one.kind) === place)
}

/** For a payment that is not a deposit: nothing is due, wrong or booked. */
export function ignore(evidence: DepositEvidence, policy: Policy): DepositVerdict {
  const nothing = { mismatches: [], searches: [], fee: null, shortfall: 0n, shortage: null }
  return {
    state: 'ignored',
    matrix: matrixOf(evidence, policy),
    finalAt: finalAtOf(evidence),
    settledAt: null,
    recheckAt: null,
    ...nothing,
  }
}

/** A later history may contain the payment before it is final. */
function finalAtOf({ deposit }: DepositEvidence): Date | null {
  return deposit?.state === 'final' ? deposit.finalAt : null
}

function stateOf(
  { evidence, matrix, finalAt, settledAt }: Omit<DeadlineContext, 'ended'>,
  policy: Policy,
): DepositState {
  if (evidence.deposit?.state === 'orphaned') return 'orphaned'
  if (finalAt === null) return 'observed'
  if (settledAt !== null) {
    const isOurs = evidence.addressConflict === null && !isOutsideValidity(evidence)
    return isAgreed(matrix, policy) && isOurs ? 'reconciled' : 'settled'
  }
  return sideState(evidence) ?? (isUnderWay(evidence) ? 'settling' : 'confirmed')
}

/** States that only the service can decide. A webhook is not enough. */
function sideState({ api }: DepositEvidence): 'held' | 'refunded' | 'failed' | null {
  return (['held', 'refunded', 'failed'] as const).find((status) => status === api?.status) ?? null
}

function isUnderWay(evidence: DepositEvidence): boolean {
  const status = claimOf(evidence)?.status
  return status === 'settling' || status === 'settled' || evidence.settlements.length > 0
}

/**
 * Proof is a final transfer to the recipient; for a credit, the API's own record of its amount in that wallet. A part
 * of the stated amount proves nothing until the service says that it is all.
 */
function settlementProvedAt(evidence: DepositEvidence, shortfall: bigint): Date | null {
  if (isCredited(evidence))
    return isCreditProved(evidence) ? (evidence.statuses.api.get('settled') ?? null) : null
  const legs = deliveredLegs(evidence)
  const isAll = [evidence.api, evidence.webhook].some((claim) => claim?.status === 'settled')
  if (legs.length === 0 || !(isAll || isWhole(evidence, shortfall))) return null
  return new Date(Math.max(...legs.map((leg) => leg.finalAt?.getTime() ?? 0)))
}

function isWhole(evidence: DepositEvidence, shortfall: bigint): boolean {
  const arrived = total(deliveredLegs(evidence))
  const isAsListed = arrived + shortfall >= (apiSettlement(evidence)?.amount ?? 0n)
  return isAsListed && arrived >= (evidence.webhook?.settlement?.amount ?? 0n)
}

function isCreditProved(evidence: DepositEvidence): boolean {
  const { settlement, status } = evidence.api ?? {}
  return (
    !!settlement && settlement.amount !== null && status === 'settled' && !isElsewhere(settlement, evidence)
  )
}

/** Cells that are not required may be missing, but must not contradict. */
function isAgreed(matrix: Matrix, policy: Policy): boolean {
  const cells = [matrix.deposit, matrix.settlement].flatMap((leg) => Object.values(leg))
  return openCells(matrix, policy).length === 0 && !cells.includes('differs')
}

/** The required cells that do not agree yet. */
export function openCells(matrix: Matrix, { required }: Pick<Policy, 'required'>): RequiredCell[] {
  return required.filter((name) => {
    const [leg, source] = cellPath(name)
    return !['agrees', 'not_applicable'].includes(matrix[leg][source])
  })
}

/** A failed deposit has not ended: the service holds the payment until it is written off. */
export function hasEnded(
  evidence: DepositEvidence,
  { state, settledAt }: Pick<DepositVerdict, 'state' | 'settledAt'>,
): boolean {
  const isOver = state === 'held' || state === 'refunded' || state === 'orphaned'
  return isOver || isWrittenOff(evidence, settledAt)
}

type StuckContext = DeadlineContext & Pick<DepositVerdict, 'state' | 'mismatches'>

/** A deposit that stays in one state, has no mismatch, and awaits nothing that would be reported as missing. */
function findStuck(
  judged: StuckContext,
  policy: Policy,
  now: Date,
): Pick<DepositVerdict, 'mismatches' | 'recheckAt'> {
  const { state, mismatches, evidence } = judged
  const since = inStateSince(judged)
  const reported = [...mismatches, ...pendingEvidence(judged, policy)]
  if (since === null || reported.some(({ kind }) => reportsWhy(kind, state)))
    return { mismatches: [], recheckAt: null }
  const due = new Date(since.getTime() + policy.stuckAfterMs)
  if (due > now) return { mismatches: [], recheckAt: due }
  const detail = { state, since: since.toISOString() }
  const loss = state === 'held' ? owedLoss(evidence) : null
  return { mismatches: [{ kind: 'stuck', detail, loss }], recheckAt: null }
}

/** A missing webhook explains why a deposit stays settled, and no earlier state. */
function reportsWhy(kind: Mismatch['kind'], state: DepositState): boolean {
  return kind === 'webhook_missing' ? state === 'settled' : kind !== 'clock_skew'
}

/**
 * Null if the deposit may stay in its state or is written off. The delivery of a confirmed or settling deposit has its
 * own deadline.
 */
function inStateSince({ evidence, state, finalAt, settledAt }: StuckContext): Date | null {
  if (isWrittenOff(evidence, settledAt)) return null
  const { deposit, webhookAt, apiAt, statuses } = evidence
  const began: Partial<Record<DepositState, Date | null>> = {
    observed: earliest([webhookAt, apiAt, deposit?.seenAt ?? null]),
    settled: settledAt,
    held: latest([finalAt, statuses.api.get('held') ?? null]),
  }
  return began[state] ?? null
}

/** What a finished delivery lacks beyond the tolerance. Once due, the service owes it. */
type Shortage = { asset: AssetKey; amount: Amount; dueAt: Date }

type ShortageContext = Pick<DepositEvidence, 'api'> & {
  finalAt: Date | null
  settledAt: Date | null
  mismatches: readonly Mismatch[]
}

/** Null before the deadline, and unless the API states the delivery as finished: a webhook books nothing. */
function findShortage(
  { api, finalAt, settledAt, mismatches }: ShortageContext,
  { settlementWithinMs }: Policy,
  now: Date,
): { shortage: Shortage | null; recheckAt: Date | null } {
  const loss = mismatches.find(({ kind }) => kind === 'settlement_short')?.loss
  const isFinished = settledAt !== null && api?.status === 'settled'
  if (finalAt === null || !isFinished || !loss) return { shortage: null, recheckAt: null }
  const dueAt = new Date(finalAt.getTime() + settlementWithinMs)
  if (dueAt > now) return { shortage: null, recheckAt: dueAt }
  return { shortage: { asset: loss.asset, amount: loss.amount, dueAt }, recheckAt: null }
}
