import { sql, type Transaction } from 'kysely'
import type { Journal } from '../../core/posting.ts'
import { asTable } from '../database.ts'
import type { Tables } from '../tables.ts'
import type { NumberedDeposit } from './deposits.ts'

/**
 * Records each deposit that is safe to credit and was not before, and each that is reconciled by now. The journals must be
 * booked.
 */
export async function saveCreditSafety(
  tx: Transaction<Tables>,
  deposits: readonly NumberedDeposit[],
  reconciled: readonly bigint[],
): Promise<void> {
  const safe = deposits.flatMap(({ id, credit }) => (credit.kind === 'safe' ? [{ id, ...credit }] : []))
  if (safe.length > 0)
    await sql`
      with added as (
        insert into credit_safety
          (deposit_id, number, action, journal_id, account, asset, amount, height, block_hash, final_at, reason)
        select one.id, coalesce(last.number, 0) + 1, 'safe', j.id, one.account, one.asset, one.amount, one.height,
          one."blockHash", one."finalAt", one.reason
        from ${asTable('one', safe, safeColumns)}
          join ledger_journal j on j.posting_key = one.journal
          left join lateral (
            select number, action from credit_safety where deposit_id = one.id order by number desc limit 1
          ) as last on true
        where last.action is distinct from 'safe'
        order by one.id
        returning *
      )
      insert into event_pending (type, deposit_id, data)
      select 'deposit.credit_safe', deposit_id, jsonb_build_object('asset', asset, 'amount', amount::text, 'account', account,
        'reason', reason, 'height', height::text, 'block', block_hash, 'final_at', to_char(final_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'journal', journal_id::text)
      from added order by id`.execute(tx)
  if (reconciled.length > 0)
    await sql`
      insert into event_pending (type, deposit_id, data)
      select 'deposit.reconciled', d.id, jsonb_build_object('journal', max(j.id)::text)
      from deposit d
        left join ledger_journal j on j.deposit_id = d.id and j.kind = 'settlement'
      where d.id = any(${reconciled}::bigint[]) group by d.id order by d.id`.execute(tx)
}

const safeColumns =
  'id bigint, journal text, account text, asset text, amount numeric, height bigint, blockHash text, finalAt timestamptz, reason text'

/** Of each deposit whose proof these journals reverse, or whose owner is owed nothing after them. */
export async function withdrawCreditSafety(
  tx: Transaction<Tables>,
  journals: readonly Pick<Journal, 'key'>[],
): Promise<void> {
  const keys = journals.map(({ key }) => key)
  await sql`
    with added as (
      insert into credit_safety (deposit_id, number, action, journal_id, account, asset, amount, reason)
      select distinct on (c.deposit_id) c.deposit_id, c.number + 1, 'withdrawn', j.id, c.account, c.asset, c.amount,
        case when d.state = 'orphaned' then 'the payment is no longer on its chain'
          when j.kind = 'refund' then 'the payment went back to the payer'
          when j.kind = 'write_off' then 'the payment is written off at the expense of its owner'
          else 'the journal that proved it was reversed' end
      from ledger_journal j
        cross join lateral (${endedCredits}) as c
        join deposit d on d.id = c.deposit_id
      where j.posting_key = any(${keys}::text[]) and c.action = 'safe' and not exists (
        select from credit_safety later where later.deposit_id = c.deposit_id and later.number > c.number)
      order by c.deposit_id, j.id
      returning *
    )
    insert into event_pending (type, deposit_id, data)
    select 'deposit.reversed', deposit_id, jsonb_build_object('reason', reason, 'journal', journal_id::text)
    from added join deposit d on d.id = deposit_id
    where d.state <> 'orphaned' order by added.id`.execute(tx)
}

const endedCredits = sql`
  select * from credit_safety where journal_id = j.reverses
  union all
  select * from credit_safety where deposit_id = j.deposit_id and (j.kind = 'refund' or (j.kind = 'write_off' and exists (
    select from ledger_transfer t
    where t.journal_id = j.id and (t.debit, t.asset, t.amount) = (account, credit_safety.asset, credit_safety.amount))))`
