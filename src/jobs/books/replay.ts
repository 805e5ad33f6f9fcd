import { inTransaction } from '../../store/database.ts'
import { takeKept, type UnappliedPayloadFilter } from '../../store/inbox.ts'
import { syncUnreadable } from '../../store/mismatches/mismatches.ts'
import { type ApplyDeps, applyRows, batchMax } from './apply.ts'

export type ReplayCounts = {
  /** Each counts as one of `applied`, `passedOver` or `unreadable`. */
  rows: number
  applied: number
  passedOver: number
  unreadable: number
  journals: number
}

const counted = ['rows', 'applied', 'passedOver', 'unreadable', 'journals'] as const

/**
 * Applies what the profile can read now. An unreadable payload gets the mismatch that fits now. Safe to run twice and
 * beside the daemon.
 * @param onBatch receives the totals so far
 */
export async function replayKept(
  deps: ApplyDeps,
  filter: UnappliedPayloadFilter,
  onBatch: (soFar: ReplayCounts) => void,
): Promise<ReplayCounts> {
  const sum: ReplayCounts = { rows: 0, applied: 0, passedOver: 0, unreadable: 0, journals: 0 }
  let after: bigint | null = 0n
  while (after !== null) {
    const batch = await replayBatch(deps, filter, after)
    after = batch.last
    for (const name of counted) sum[name] += batch[name]
    if (batch.rows > 0) onBatch({ ...sum })
  }
  return sum
}

type Batch = ReplayCounts & { last: bigint | null }

function replayBatch(deps: ApplyDeps, filter: UnappliedPayloadFilter, after: bigint): Promise<Batch> {
  return inTransaction(deps.db, async (tx) => {
    const rows = await takeKept(tx, filter, { after, ...batchMax })
    const { readable, unreadable, decided } = await applyRows(tx, rows, deps)
    const ids = rows.map(({ id }) => id)
    await syncUnreadable(tx, ids, unreadable)
    return {
      rows: rows.length,
      applied: readable.length,
      unreadable: unreadable.length,
      passedOver: rows.length - readable.length - unreadable.length,
      journals: decided.journals,
      last: ids.at(-1) ?? null,
    }
  })
}
