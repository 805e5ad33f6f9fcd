import { sql } from 'kysely'
import { encodeObservation } from '../../src/core/evidence.ts'
import type { Period } from '../../src/ledger/period.ts'
import type { Database } from '../../src/store/database.ts'
import { cutLedger, makeSnapshot } from '../../src/store/ledger/maintenance.ts'
import type { Tables } from '../../src/store/tables.ts'
import { claim, recipient, usdcOnArbitrum, usdcOnBase } from './evidence.ts'
import { changePeriod } from './unsigned.ts'

/** A mismatch of each fifth, and one of twenty of these still open. Half of all deposits are to one owner. */
export async function storeYear(owner: Database<Tables>, deposits: number): Promise<void> {
  const matrix = { webhook: 'agrees', api: 'agrees', chain: 'agrees' }
  await sql`insert into evidence_group (recheck_at) select null from generate_series(1, ${deposits}::int)`.execute(
    owner,
  )
  await sql`
    insert into deposit (group_id, service_id, state, network, owner_kind, owner_id, tx, matrix, deposited_at, final_at,
      settled_at)
    select id, 'dep_' || id, case when id % 100 = 0 then 'settled' else 'reconciled' end, 'base', 'channel',
      case when id % 2 = 0 then 'shop' else 'shop-' || id % 1000 end, 'tx' || id, ${JSON.stringify({ deposit: matrix, settlement: matrix })}::jsonb, paid_at, paid_at, paid_at
    from evidence_group cross join lateral (select now() - id * interval '1 year' / ${deposits}::int as paid_at) as paid
    order by id`.execute(owner)
  await sql`
    insert into inbox (source, source_key, body, received_at)
    select 'webhook', 'key' || id, '', now() from evidence_group`.execute(owner)
  await sql`
    insert into evidence (inbox_id, group_id, observation)
    select i.id, g.id, ${encodeObservation(claim())}::jsonb
    from (select id, row_number() over (order by id) as place from inbox) i
      join (select id, row_number() over (order by id) as place from evidence_group) g using (place)`.execute(
    owner,
  )
  await sql`
    insert into mismatch (subject, kind, severity, deposit_id, network, opened_at, cleared_at, cleared_how, loss_asset,
      loss_amount, loss_whole)
    select 'deposit/' || id, 'webhook_missing', case when id % 3 = 0 then 'severe' else 'warning' end, id, 'base',
      deposited_at, case when id % 100 <> 0 then deposited_at + interval '1 hour' end,
      case when id % 100 <> 0 then 'evidence' end, ${usdcOnBase}, 1, 1
    from deposit where id % 5 = 0`.execute(owner)
  await sql`
    insert into owner (kind, id, forward_network, forward_asset, forward_recipient, added_by)
    select 'channel', 'shop-' || n, 'arbitrum', 'USDC', ${recipient}, 'depositd' from generate_series(1, 999, 2) as n`.execute(
    owner,
  )
  await sql`
    insert into address_book (network, address, role, owner_kind, owner_id, added_by)
    select 'base', 'address' || id, 'deposit', kind, id, 'depositd' from owner where id like 'shop-%'`.execute(
    owner,
  )
  await sql`vacuum analyze deposit, mismatch, evidence, inbox, evidence_group`.execute(owner)
}

const perPiece = 100_000

/** Of all deposits: rows as booking writes them, in the order of time. Triggers are off for the filling alone. */
export async function bookYear(owner: Database<Tables>): Promise<void> {
  await openAccounts(owner)
  await makePastPartitions(owner)
  const { rows } = await sql<{ last: number }>`select max(id)::int as last from deposit`.execute(owner)
  // The newest deposit has the lowest number.
  for (let last = rows[0]?.last ?? 0; last > 0; last -= perPiece)
    await bookPiece(owner, { above: last - perPiece, last })
  await sql`vacuum analyze ledger_journal, ledger_transfer, ledger_account, owner`.execute(owner)
  await cutLedger(owner)
  while ((await makeSnapshot(owner)) !== null) continue
  await closeMonths(owner)
  await fillSeals(owner)
  await sql`vacuum analyze ledger_snapshot, ledger_period_event, checkpoint`.execute(owner)
}

/** An account of each owner, in the asset paid. */
async function openAccounts(owner: Database<Tables>): Promise<void> {
  await sql`
    insert into ledger_account (id, asset)
    select distinct 'liabilities:deposits:channel:' || owner_id, ${usdcOnBase} from deposit
    union all values ('assets:in_transit:base', ${usdcOnBase}), (${`trading:${usdcOnBase}`}, ${usdcOnBase}),
      (${`trading:${usdcOnArbitrum}`}, ${usdcOnArbitrum}), ('assets:forwarded:arbitrum:0xff', ${usdcOnArbitrum}),
      ('expenses:fees:service', ${usdcOnArbitrum})`.execute(owner)
}

/** As an installation has them that ran for a year. */
async function makePastPartitions(owner: Database<Tables>): Promise<void> {
  await sql`
    do $$
    declare
      month timestamp;
    begin
      for month in select date_trunc('month', now() at time zone 'UTC') - back * interval '1 month' from generate_series(0, 12) as back
      loop
        execute format('create table if not exists ledger_transfer_%s partition of ledger_transfer for values from (%L) to (%L)',
          to_char(month, 'YYYYMM'), month at time zone 'UTC', (month + interval '1 month') at time zone 'UTC');
      end loop;
    end
    $$`.execute(owner)
}

/** A payment; and its delivery three minutes later on another network, less the fee. */
async function bookPiece(
  owner: Database<Tables>,
  { above, last }: { above: number; last: number },
): Promise<void> {
  await owner.transaction().execute(async (tx) => {
    await sql`set local session_replication_role = replica`.execute(tx)
    await sql`
      with event as (
        select d.id, d.owner_id, kind, d.deposited_at + wait as event_at
        from deposit d cross join (values ('deposit', interval '0'), ('settlement', interval '3 minutes')) as leg (kind, wait)
        where d.id > ${above} and d.id <= ${last} and d.deposited_at + wait < now()
      ), journal as (
        insert into ledger_journal (posting_key, kind, deposit_id, transfer, event_at, recorded_at, period)
        select kind || '/base/0x' || id || '/0#1', kind, id, 'base/0x' || id || '/0', event_at, event_at, ledger_month(event_at)
        from event order by event_at
        returning id, kind, deposit_id, event_at, recorded_at, period
      )
      insert into ledger_transfer (journal_id, leg, debit, credit, asset, amount, event_at, recorded_at, period)
      select j.id, leg.number, leg.debit, leg.credit, leg.asset, leg.amount, j.event_at, j.recorded_at, j.period
      from journal j join deposit d on d.id = j.deposit_id
        join (values
          ('deposit', 1, 'assets:in_transit:base', null, ${usdcOnBase}, 100000000),
          ('settlement', 1, ${`trading:${usdcOnBase}`}, 'assets:in_transit:base', ${usdcOnBase}, 100000000),
          ('settlement', 2, 'assets:forwarded:arbitrum:0xff', ${`trading:${usdcOnArbitrum}`}, ${usdcOnArbitrum}, 99900000),
          ('settlement', 3, 'expenses:fees:service', ${`trading:${usdcOnArbitrum}`}, ${usdcOnArbitrum}, 100000)
        ) as made (kind, number, debit, credit, asset, amount) using (kind)
        cross join lateral (
          select number, made.debit, coalesce(made.credit, 'liabilities:deposits:channel:' || d.owner_id) as credit, made.asset, made.amount
        ) as leg
      order by j.id, leg.number`.execute(tx)
  })
}

/** The first half of the year. */
async function closeMonths(owner: Database<Tables>): Promise<void> {
  const { rows } = await sql<{ month: Period }>`
    select to_char(month, 'YYYY-MM') as month
    from generate_series((select ledger_month(min(event_at)) from ledger_transfer), now() - interval '6 months', '1 month') as month`.execute(
    owner,
  )
  for (const { month } of rows)
    await changePeriod(owner, {
      period: month,
      action: 'closed',
      by: 'anna',
      approvedBy: 'max',
      reason: 'Differences are known',
      forced: true,
    })
}

/** Made up: that a page reads few of them does not depend on what they say. */
async function fillSeals(owner: Database<Tables>): Promise<void> {
  await sql`
    insert into checkpoint (size, signed_by, root, made_at, note)
    select n * 100, 'unsigned', sha256(n::text::bytea), now() - (last - n) * interval '5 minutes', 'note ' || n
    from (select count(*) / 10 as last from ledger_journal) as all_sealed cross join generate_series(1, last) as n`.execute(
    owner,
  )
}
