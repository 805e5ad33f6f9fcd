import {
  type DecisionOutcome,
  isByPolicy,
  type ServiceId,
  type TransferDecision,
  transferRef,
} from '../evidence.ts'
import { type ChainLeg, compareText, isSamePayment } from './fold.ts'

/** Decisions that still apply. */
export type DecisionLookup = {
  /** Highest-ranking first. */
  togetherWith: (leg: ChainLeg) => readonly DecidedLink[]
  isApart: (serviceId: ServiceId, leg: ChainLeg) => boolean
}

export type DecidedLink = { leg: ChainLeg; serviceId: ServiceId; decision: TransferDecision }

/** The highest-ranking decision on a deposit and a transfer applies. */
export function foldDecisions(
  decisions: readonly TransferDecision[],
  legs: readonly ChainLeg[],
): DecisionLookup {
  const together = new Map<ChainLeg, Map<ServiceId, DecidedLink>>()
  const apart = new Map<ChainLeg, Set<ServiceId>>()
  for (const decision of decisions.toSorted(outrankedFirst)) {
    const { verdict } = decision
    const leg = legOf(decision, legs)
    if (leg === null || !('serviceId' in verdict)) continue
    const { kind, serviceId } = verdict
    together.get(leg)?.delete(serviceId)
    apart.get(leg)?.delete(serviceId)
    if (kind === 'apart') apart.set(leg, (apart.get(leg) ?? new Set()).add(serviceId))
    else together.set(leg, (together.get(leg) ?? new Map()).set(serviceId, { leg, serviceId, decision }))
  }
  return {
    togetherWith: (leg) => [...(together.get(leg)?.values() ?? [])].toReversed(),
    isApart: (serviceId, leg) => apart.get(leg)?.has(serviceId) ?? false,
  }
}

/** A person's outranks a policy's, which may have been made without knowing of it; then the newest applies. */
export function outrankedFirst(left: TransferDecision, right: TransferDecision): number {
  const ranks = Number(isByPolicy(right)) - Number(isByPolicy(left))
  return ranks || left.receivedAt.getTime() - right.receivedAt.getTime() || compareText(left.id, right.id)
}

/** A transfer that came back under another index is still the one decided about, if it is the only one. */
function legOf(decision: TransferDecision, legs: readonly ChainLeg[]): ChainLeg | null {
  const around = legs.filter((leg) => isSamePayment(decision, leg))
  const named = around.find(({ ref }) => ref === transferRef(decision))
  return named ?? (around.length === 1 ? (around[0] ?? null) : null)
}

/** `account` holds the amount instead. */
export type WriteOff = Omit<Extract<DecisionOutcome, { kind: 'write_off' }>, 'kind'> & { at: Date }

/** Null also if the newest decision withdrew it, or if more was paid than was decided about. */
export function writeOffOf(ruled: readonly TransferDecision[], deposit: ChainLeg | null): WriteOff | null {
  if (deposit === null) return null
  const { verdict, receivedAt } =
    ruled
      .filter((one) => isAboutWriteOff(one) && isSamePayment(one, deposit) && one.index === deposit.index)
      .toSorted(newestFirst)[0] ?? {}
  if (verdict?.kind !== 'write_off' || receivedAt === undefined) return null
  const { account, of, asset, amount } = verdict
  const isOther = of === 'in_transit' && (asset !== deposit.asset || amount < deposit.amount)
  return isOther ? null : { account, of, asset, amount, at: receivedAt }
}

/** A delivery that is proved anyway overrides a write-off. */
export function isWrittenOff({ writeOff }: { writeOff: WriteOff | null }, settledAt: Date | null): boolean {
  return writeOff?.of === 'in_transit' && settledAt === null
}

function isAboutWriteOff({ verdict: { kind } }: TransferDecision): boolean {
  return kind === 'write_off' || kind === 'write_off_withdrawn'
}

/** At equal times, the greater id applies. */
function newestFirst(left: TransferDecision, right: TransferDecision): number {
  return right.receivedAt.getTime() - left.receivedAt.getTime() || compareText(right.id, left.id)
}
