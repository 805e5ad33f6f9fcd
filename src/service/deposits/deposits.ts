import { type Insertable, sql } from 'kysely'
import { inPieces } from '../in-pieces.ts'
import type {
  DepositReason,
  DepositStatus,
  ServiceDatabase,
  ServiceDepositRow,
  ServiceTables,
  ServiceTransaction,
} from '../tables.ts'
import type { Outbox } from '../webhooks/outbox.ts'

export type NewDeposit = Omit<
  Insertable<ServiceTables['service.deposit']>,
  | 'status'
  | 'reason'
  | 'released_at'
  | 'refund_address'
  | 'refund_amount'
  | 'refund_transaction'
  | 'refund_at'
  | 'sweep_id'
>

/** Omitted fields keep their values. Amounts are base units as decimal strings. */
export type DepositChange = {
  id: string
  status: DepositStatus
  /** Null unless the deposit is held, being refunded, refunded or failed. */
  reason?: DepositReason
  released_at?: Date
  to_address?: string
  to_amount?: string
  to_transaction?: string
  to_at?: Date
  fee?: string
  rate?: string
  refund_address?: string
  refund_amount?: string
  refund_transaction?: string
  refund_at?: Date
}

/** The only writer of deposit statuses: each status is written with its event. */
export type Deposits = {
  /** Requires `lockOrder`. */
  insert(tx: ServiceTransaction, rows: readonly NewDeposit[]): Promise<void>
  /** Changes only deposits whose status is still one of `from`. Returns the new rows. */
  change(
    tx: ServiceTransaction,
    from: readonly DepositStatus[],
    changes: readonly DepositChange[],
  ): Promise<readonly ServiceDepositRow[]>
}

export type DepositBook = { db: ServiceDatabase; deposits: Deposits }

const columnsMax = 50

export function openDeposits(outbox: Outbox): Deposits {
  return {
    insert: async (tx, rows) => {
      if (rows.length === 0) return
      await outbox(tx, await insertRows(tx, rows))
    },
    change: async (tx, from, changes) => {
      if (changes.length === 0) return []
      await lockDeposits(
        tx,
        changes.map(({ id }) => id),
      )
      const rows = await writeChanges(tx, from, changes)
      await outbox(tx, rows)
      return rows
    },
  }
}

/** Inserts in batches, because a scan can find any number of payments. */
async function insertRows(
  tx: ServiceTransaction,
  rows: readonly NewDeposit[],
): Promise<readonly ServiceDepositRow[]> {
  const inserted: ServiceDepositRow[] = []
  for (const piece of inPieces(rows, columnsMax)) {
    const detected = piece.map((row) => ({ ...row, status: 'detected' as const }))
    inserted.push(...(await tx.insertInto('service.deposit').values(detected).returningAll().execute()))
  }
  return inserted
}

/** Locks in the order of their ids, so that concurrent changes cannot deadlock. */
export async function lockDeposits(tx: ServiceTransaction, ids: readonly string[]): Promise<void> {
  await sql`select from service.deposit where id = any(${ids}) order by id for no key update`.execute(tx)
}

const isReturned = sql`change.status in ('refunding', 'refunded')`
/** Other deposits have neither quote nor forward, even if they had them before. */
const isDelivered = sql`change.status not in ('confirmed', 'held', 'refunding', 'refunded')`

async function writeChanges(
  tx: ServiceTransaction,
  from: readonly DepositStatus[],
  changes: readonly DepositChange[],
): Promise<readonly ServiceDepositRow[]> {
  const { rows } = await sql<ServiceDepositRow>`
    update service.deposit as deposit set
      status = change.status,
      reason = case when change.status in ('held', 'refunding', 'refunded', 'failed')
        then coalesce(change.reason, deposit.reason) end,
      released_at = coalesce(change.released_at, deposit.released_at),
      to_address = coalesce(change.to_address, deposit.to_address),
      to_amount = coalesce(change.to_amount, case when ${isDelivered} then deposit.to_amount end),
      to_transaction = coalesce(change.to_transaction, case when ${isDelivered} then deposit.to_transaction end),
      to_at = coalesce(change.to_at, deposit.to_at),
      fee = coalesce(change.fee, case when ${isDelivered} then deposit.fee end),
      rate = coalesce(change.rate, case when ${isDelivered} then deposit.rate end),
      refund_address = coalesce(change.refund_address, case when ${isReturned} then deposit.refund_address end),
      refund_amount = coalesce(change.refund_amount, case when ${isReturned} then deposit.refund_amount end),
      refund_transaction = coalesce(
        change.refund_transaction, case when ${isReturned} then deposit.refund_transaction end),
      refund_at = coalesce(change.refund_at, deposit.refund_at)
    from jsonb_to_recordset(${JSON.stringify(changes)}::jsonb) as change (
      id text, status text, reason text, released_at timestamptz,
      to_address text, to_amount numeric, to_transaction text, to_at timestamptz, fee numeric, rate text,
      refund_address text, refund_amount numeric, refund_transaction text, refund_at timestamptz)
    where deposit.id = change.id and deposit.status = any(${from})
    returning deposit.*`.execute(tx)
  return rows
}

const orderLock = 7_246_301

/** Serializes inserts until they commit, so that no deposit appears below one that a reader has already seen. */
export async function lockOrder(tx: ServiceTransaction): Promise<void> {
  await sql`select pg_advisory_xact_lock(${orderLock})`.execute(tx)
}
