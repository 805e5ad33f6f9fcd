import type { AssetKey } from '../asset.ts'
import type { DepositEvidence } from '../matching/divide.ts'
import type { Mismatch } from '../mismatch.ts'
import type { Amount } from '../money.ts'
import type { Policy } from '../policy.ts'

/** What a finished delivery lacks beyond the tolerance. Once due, the service owes it. */
export type Shortage = { asset: AssetKey; amount: Amount; dueAt: Date }

type ShortageContext = Pick<DepositEvidence, 'api'> & {
  finalAt: Date | null
  settledAt: Date | null
  mismatches: readonly Mismatch[]
}

/** Null before the deadline, and unless the API states the delivery as finished: a webhook books nothing. */
export function findShortage(
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
