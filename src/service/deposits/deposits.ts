import { type Insertable, sql } from 'kysely'
import type {
  DepositFailure,
  DepositRow,
  DepositStatus,
  ServiceTables,
  ServiceTransaction,
} from '../tables.ts'
import type { Outbox } from '../webhooks/outbox.ts'

export type NewDeposit = Omit<Insertable<ServiceTables['service.deposit']>, 'status' | 'failure'>

/** What becomes of a deposit. What is left out stays as it is. Amounts are base units in decimal text. */
export type DepositChange = {
  id: string
  status: DepositStatus
  failure?: DepositFailure
  to_amount?: string
  to_transaction?: string
  to_at?: Date
  fee?: string
  rate?: string
}

/** The only writer of states: each state is written with its event. */
export type Deposits = {
  /** Call `lockOrder` first. */
  insert(tx: ServiceTransaction, rows: readonly NewDeposit[]): Promise<void>
  /** Changes those that are still in one of the states `from`, and returns them as they are now. */
  change(
    tx: ServiceTransaction,
    from: readonly DepositStatus[],
    changes: readonly DepositChange[],
  ): Promise<readonly DepositRow[]>
}

export function openDeposits(outbox: Outbox): Deposits {
  return {
    insert: async (tx, rows) => {
      if (rows.length === 0) return
      const detected = rows.map((row) => ({ ...row, status: 'detected' as const, failure: null }))
      await outbox(tx, await tx.insertInto('service.deposit').values(detected).returningAll().execute())
    },
    change: async (tx, from, changes) => {
      if (changes.length === 0) return []
      const { rows } = await sql<DepositRow>`
        update service.deposit as deposit set
          status = change.status,
          failure = change.failure,
          to_amount = coalesce(change.to_amount, deposit.to_amount),
          to_transaction = coalesce(change.to_transaction, deposit.to_transaction),
          to_at = coalesce(change.to_at, deposit.to_at),
          fee = coalesce(change.fee, deposit.fee),
          rate = coalesce(change.rate, deposit.rate)
        from jsonb_to_recordset(${JSON.stringify(changes)}::jsonb) as change (
          id text, status text, failure text, to_amount numeric, to_transaction text, to_at timestamptz,
          fee numeric, rate text)
        where deposit.id = change.id and deposit.status = any(${from})
        returning deposit.*`.execute(tx)
      await outbox(tx, rows)
      return rows
    },
  }
}

const orderLock = 7_246_301

/**
 * Makes those who insert deposits wait for each other until they commit, so that no deposit ever appears below one
 * that a reader has seen already.
 */
export async function lockOrder(tx: ServiceTransaction): Promise<void> {
  await sql`select pg_advisory_xact_lock(${orderLock})`.execute(tx)
}
