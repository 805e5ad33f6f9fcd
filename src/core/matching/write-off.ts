import type { DecisionOutcome, TransferDecision } from '../evidence.ts'
import { type ChainLeg, compareText } from './fold.ts'

/**
 * A decision that the amount a payment brought in transit is no longer expected, and the account that holds it instead.
 */
export type WriteOff = { account: Extract<DecisionOutcome, { kind: 'write_off' }>['account']; at: Date }

/** The write-off of this payment that applies; null if there is none, or if the newest decision withdrew it. */
export function writeOffOf(ruled: readonly TransferDecision[], deposit: ChainLeg | null): WriteOff | null {
  if (deposit === null) return null
  const { verdict, receivedAt } =
    ruled.filter((one) => isAboutWriteOff(one) && isAbout(one, deposit)).toSorted(newestFirst)[0] ?? {}
  return verdict?.kind === 'write_off' && receivedAt ? { account: verdict.account, at: receivedAt } : null
}

/** True if nothing is expected of the payment any more. A delivery that is proved anyway overrides a write-off. */
export function isGivenUp({ writeOff }: { writeOff: WriteOff | null }, settledAt: Date | null): boolean {
  return writeOff !== null && settledAt === null
}

function isAboutWriteOff({ verdict: { kind } }: TransferDecision): boolean {
  return kind === 'write_off' || kind === 'write_off_withdrawn'
}

function isAbout(decision: TransferDecision, { role, network, tx, index, to }: ChainLeg): boolean {
  return (
    decision.role === role &&
    decision.network === network &&
    decision.tx === tx &&
    decision.index === index &&
    decision.to === to
  )
}

/** At equal times, the greater id applies. */
function newestFirst(left: TransferDecision, right: TransferDecision): number {
  return right.receivedAt.getTime() - left.receivedAt.getTime() || compareText(right.id, left.id)
}
