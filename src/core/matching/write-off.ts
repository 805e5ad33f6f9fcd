import type { DecisionOutcome, TransferDecision } from '../evidence.ts'
import { type ChainLeg, compareText } from './fold.ts'

/** That what a payment brought in transit is not expected any more, and where it stands instead. */
export type WriteOff = { account: Extract<DecisionOutcome, { kind: 'write_off' }>['account']; at: Date }

/** The write-off of this payment that holds; null where there is none, or the newest word on it took it back. */
export function writeOffOf(ruled: readonly TransferDecision[], deposit: ChainLeg | null): WriteOff | null {
  if (deposit === null) return null
  const { verdict, receivedAt } =
    ruled.filter((one) => isAboutWriteOff(one) && isAbout(one, deposit)).toSorted(newestFirst)[0] ?? {}
  return verdict?.kind === 'write_off' && receivedAt ? { account: verdict.account, at: receivedAt } : null
}

/** Nothing is expected of it any more. A delivery that is proved all the same outdoes a write-off. */
export function isGivenUp({ writeOff }: { writeOff: WriteOff | null }, settledAt: Date | null): boolean {
  return writeOff !== null && settledAt === null
}

function isAboutWriteOff({ verdict: { kind } }: TransferDecision): boolean {
  return kind === 'write_off' || kind === 'write_off_withdrawn'
}

function isAbout(ruling: TransferDecision, { role, network, tx, index, to }: ChainLeg): boolean {
  return (
    ruling.role === role &&
    ruling.network === network &&
    ruling.tx === tx &&
    ruling.index === index &&
    ruling.to === to
  )
}

/** Of one moment, the greater id holds. */
function newestFirst(left: TransferDecision, right: TransferDecision): number {
  return right.receivedAt.getTime() - left.receivedAt.getTime() || compareText(right.id, left.id)
}
