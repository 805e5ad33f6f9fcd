import { type Kysely, sql, type Transaction } from 'kysely'
import type { OutstandingAmount, TransferDecision } from '../../core/evidence.ts'
import type { Amount } from '../../core/money.ts'
import type { Stake } from '../../core/second-person.ts'
import { depositNumber } from '../books/show-deposits.ts'
import type { Tables } from '../tables.ts'

export type StakedTransfer = Pick<TransferDecision, 'role' | 'network' | 'tx' | 'index' | 'to'> & Stake

/** Two if the address is watched in both roles. */
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
  /** Booked as in transit, with no proved delivery; or a delivery lacks a part that is overdue. */
  outstanding: (OutstandingAmount & Stake) | null
  /** By the newest decision; null if it was withdrawn. */
  writtenOff: OutstandingAmount | null
}

/**
 * By our number or the service's id; locked until the transaction ends. For an absorbed deposit, the one that absorbed
 * it.
 */
export async function lockDeposit(
  tx: Transaction<Tables>,
  reference: string,
): Promise<StakedDeposit | undefined> {
  const found = await sql<{ id: bigint }>`
    select coalesce(merged_into, id) as id from deposit
    where id = ${depositNumber(reference)}::bigint or service_id = ${reference}
    order by service_id is distinct from ${reference} limit 1`.execute(tx)
  const id = found.rows[0]?.id
  if (id === undefined) return undefined
  await sql`select from deposit where id = ${id} for update`.execute(tx)
  const { rows } = await sql<Record<'outstanding' | 'writtenOff', AmountText | null> & DepositNames>`
    with standing as (
      select j.id, j.kind, j.transfer from ledger_journal j
      where j.transfer = (select transfer from deposit where id = ${id})
        and not exists (select from ledger_journal r where r.reverses = j.id)
    )
    select d.id, d.service_id as "serviceId", d.transfer, (
        select jsonb_build_object('of', found.of, 'asset', found.asset, 'amount', found.amount,
          'network', split_part(found.asset, '/', 1), 'symbol', a.symbol, 'decimals', a.decimals)
        from (
          select 'shortage' as of, t.asset, t.amount::text as amount
          from standing s join ledger_transfer t on t.journal_id = s.id
          where d.settled_at is not null and s.kind = 'shortage'
          union all
          (select 'in_transit', o ->> 'asset', o ->> 'amount'
          from chain_transfer c join evidence e on e.inbox_id = c.inbox_id
            cross join lateral (select e.observation as o) as said
          where d.settled_at is null and c.transfer = d.transfer and o ->> 'role' = 'deposit' and (
            exists (select from standing where kind = 'deposit')
            or (d.final_at is not null and d.deposited_at <= ledger_opened_at()))
          order by c.inbox_id desc limit 1)
        ) as found left join asset a on a.key = found.asset
        where not exists (select from standing where kind = 'refund')
        limit 1
      ) as outstanding, (
        select case e.action when 'written_off' then e.after end
        from mismatch_event e join mismatch m on m.id = e.mismatch_id
        where m.deposit_id = d.id and e.action in ('written_off', 'write_off_withdrawn') order by e.id desc limit 1
      ) as "writtenOff"
    from deposit d where d.id = ${id}`.execute(tx)
  return rows.map(({ outstanding, writtenOff, ...row }) => ({
    ...row,
    outstanding: outstanding && amountOf(outstanding),
    writtenOff: writtenOff && amountOf(writtenOff),
  }))[0]
}

type DepositNames = Omit<StakedDeposit, 'outstanding' | 'writtenOff'>

type AmountText = Omit<OutstandingAmount & Stake, 'amount'> & { amount: string }

function amountOf<Text extends { amount: string }>({ amount, ...rest }: Text) {
  return { ...rest, amount: BigInt(amount) as Amount }
}

/** Cases not cleared about this deposit, this chain transfer, or the deposit whose payment it is. */
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
