import { sql, type Transaction } from 'kysely'
import { type AssetKey, assetNetwork } from '../../core/asset.ts'
import { mismatchKinds } from '../../core/mismatch.ts'
import {
  endMismatches,
  type HeldMismatch,
  isNoneOf,
  type MismatchChange,
  openMismatches,
} from '../mismatches/mismatches.ts'
import type { Tables } from '../tables.ts'

/** What is wrong with the books of one asset, in its smallest units. */
export type Imbalance = {
  asset: AssetKey
  /** Sum of all its entries. */
  sum: bigint
  /** What is left in transit of payments whose deposits are closed, without signs; and one of these deposits. */
  left: bigint
  deposits: number
  deposit: bigint | null
}

/**
 * The assets whose books do not add up. A deposit is closed where nothing more is to be booked of it: it is reconciled,
 * or its payment is no longer on the chain.
 */
export async function findImbalances(tx: Transaction<Tables>): Promise<Imbalance[]> {
  const { rows } = await sql<Omit<Imbalance, 'sum' | 'left'> & { sum: string; left: string }>`
    with unbalanced as (
      select asset, sum(balance) as sum from ledger_balance group by asset having sum(balance) <> 0
    ), in_transit as (
      select j.transfer, e.asset, sum(e.amount) as left
      from ledger_entry e join ledger_journal j on j.id = e.journal_id
      where e.account like 'assets:in_transit:%'
      group by j.transfer, e.asset having sum(e.amount) <> 0
    ), left_over as (
      select t.asset, sum(abs(t.left)) as left, count(*)::int as deposits, min(d.id) as deposit
      from in_transit t join deposit d on d.transfer = t.transfer
      where d.merged_into is null and d.state in ('reconciled', 'orphaned')
      group by t.asset
    )
    select asset, coalesce(sum, 0)::text as sum, coalesce("left", 0)::text as left,
      coalesce(deposits, 0) as deposits, deposit
    from unbalanced full join left_over using (asset) order by asset`.execute(tx)
  return rows.map(({ sum, left, ...row }) => ({ ...row, sum: BigInt(sum), left: BigInt(left) }))
}

const kind = 'ledger_imbalance'

/** Makes the open mismatches about the books exactly those of these assets. */
export async function syncImbalances(
  tx: Transaction<Tables>,
  imbalances: readonly Imbalance[],
): Promise<MismatchChange[]> {
  const held = imbalances.map(toMismatch)
  const cleared = await endMismatches(tx, sql`kind = ${kind} and ${isNoneOf(held)}`)
  return [...cleared, ...(await openMismatches(tx, held))]
}

function toMismatch({ asset, sum, left, deposits, deposit }: Imbalance): HeldMismatch {
  return {
    subject: `books/${asset}`,
    kind,
    severity: mismatchKinds[kind].severity,
    depositId: null,
    groupId: null,
    network: assetNetwork(asset),
    asset,
    value: (sum < 0n ? -sum : sum) + left,
    detail: {
      ...(sum === 0n ? {} : { sum: sum.toString() }),
      ...(deposit === null ? {} : { left: left.toString(), deposits: `${deposits}`, deposit: `${deposit}` }),
    },
  }
}
