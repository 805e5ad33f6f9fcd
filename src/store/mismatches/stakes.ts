import { type Kysely, sql, type Transaction } from 'kysely'
import { defaultService, type TransferDecision } from '../../core/evidence.ts'
import type { Stake } from '../../core/second-person.ts'
import { depositNumber } from '../books/deposit-number.ts'
import type { Tables } from '../tables.ts'

/** A chain transfer that a decision concerns, as its chain showed it. */
export type StakedTransfer = Pick<TransferDecision, 'role' | 'network' | 'tx' | 'index' | 'to'> & Stake

/** Chain transfers with this reference; two if the address is watched in both roles. */
export async function findTransfers(db: Kysely<Tables>, ref: string): Promise<StakedTransfer[]> {
  const { rows } = await sql<Omit<StakedTransfer, 'amount'> & { amount: string | null }>`
    select distinct on (o ->> 'role', o ->> 'to') o ->> 'role' as role, o ->> 'network' as network, o ->> 'tx' as tx,
      o ->> 'index' as index, o ->> 'to' as to, o ->> 'amount' as amount, a.symbol, a.decimals
    from chain_transfer s join evidence e on e.inbox_id = s.inbox_id cross join lateral (select e.observation as o) as said
      left join asset a on a.key = o ->> 'asset'
    where s.transfer = ${ref} order by o ->> 'role', o ->> 'to', s.inbox_id desc`.execute(db)
  return rows.map(({ amount, ...row }) => ({ ...row, amount: amount === null ? null : BigInt(amount) }))
}

export type StakedDeposit = {
  id: bigint
  serviceId: string | null
  transfer: string | null
  /** The payment is booked as in transit, and no delivery is proved. */
  inTransit: boolean
  /** The latest decision is a write-off. */
  writtenOff: boolean
}

/**
 * The deposit with our number or the service's id, locked until the transaction ends. For an absorbed deposit, the one
 * that absorbed it.
 */
export async function lockDeposit(
  tx: Transaction<Tables>,
  reference: string,
): Promise<StakedDeposit | undefined> {
  const found = await sql<{ id: bigint }>`
    select coalesce(merged_into, id) as id from deposit
    where id = ${depositNumber(reference)}::bigint or (service_id = ${reference} and service = ${defaultService})
    order by service_id is distinct from ${reference} limit 1`.execute(tx)
  const id = found.rows[0]?.id
  if (id === undefined) return undefined
  await sql`select from deposit where id = ${id} for update`.execute(tx)
  const { rows } = await sql<StakedDeposit>`
    select d.id, d.service_id as "serviceId", d.transfer,
      d.settled_at is null and exists (
        select from ledger_journal j where j.transfer = d.transfer and j.kind = 'deposit'
          and not exists (select from ledger_journal r where r.reverses = j.id)
      ) and not exists (
        select from ledger_journal j where j.transfer = d.transfer and j.kind = 'refund'
          and not exists (select from ledger_journal r where r.reverses = j.id)
      ) as "inTransit",
      coalesce((
        select e.action = 'written_off' from mismatch_event e join mismatch m on m.id = e.mismatch_id
        where m.deposit_id = d.id and e.action in ('written_off', 'write_off_withdrawn') order by e.id desc limit 1
      ), false) as "writtenOff"
    from deposit d where d.id = ${id}`.execute(tx)
  return rows[0]
}

/**
 * Mismatches, not cleared, about this deposit, this chain transfer, or the deposit that has this transfer as its
 * payment.
 */
export async function casesAbout(
  tx: Transaction<Tables>,
  { id }: StakedDeposit,
  transfer: string,
): Promise<bigint[]> {
  const { rows } = await sql<{ id: bigint }>`
    select id from mismatch
    where cleared_at is null and (deposit_id = ${id} or subject = ${`transfer/${transfer}`}
      or deposit_id = (select d.id from deposit d where d.transfer = ${transfer}))
    order by id`.execute(tx)
  return rows.map((row) => row.id)
}

/** The inbox row that stores a decision. */
export async function inboxIdOf(db: Kysely<Tables>, decisionId: string): Promise<bigint> {
  const row = await db
    .selectFrom('inbox')
    .select('id')
    .where('source', '=', 'person')
    .where('source_key', '=', decisionId)
    .where('service', '=', defaultService)
    .executeTakeFirstOrThrow()
  return row.id
}
