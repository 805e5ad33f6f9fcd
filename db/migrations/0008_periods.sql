-- Months of the books. They are closed in order, so that there is no open month before a closed one into which a late journal
-- could fall.

-- Who closed or reopened a month, and why. It is append-only; the state in ledger_period follows from it and is written
-- by nothing else.
create table ledger_period_event (
  id bigint generated always as identity primary key,
  -- The first day of the month.
  period date not null check (period = date_trunc('month', period::timestamp)),
  action text not null check (action in ('soft_closed', 'closed', 'reopened')),
  at timestamptz not null default clock_timestamp(),
  -- Empty if it was changed without signatures, by the owner of the database.
  decision_id bigint unique references decision,
  actor text not null check (actor <> ''),
  approved_by text check (approved_by <> ''),
  reason text check (reason <> ''),
  -- Open severe mismatches of this month and of those before it.
  severe_open integer not null default 0,
  -- Whether it was closed despite them.
  forced boolean not null default false,
  -- The last journal before the close, and when all journals up to it had been written.
  last_journal bigint,
  cut_at timestamptz,
  -- Of the frozen trial balance.
  sha256 text check (sha256 ~ '^[0-9a-f]{64}$'),
  constraint ledger_period_event_frozen check ((action = 'closed') = (sha256 is not null)),
  constraint ledger_period_event_second_person check (lower(approved_by) <> lower(actor)),
  constraint ledger_period_event_forced_close check (not forced or action = 'closed'),
  constraint ledger_period_event_severe_forced check (severe_open = 0 or forced or action <> 'closed'),
  constraint ledger_period_event_reason_given
    check (num_nulls(reason, approved_by) = 0 or not (forced or action = 'reopened'))
);

create index ledger_period_event_period on ledger_period_event (period);

-- The balance of each account at a close, over all journals in the books of that month and of those before it.
create table ledger_period_balance (
  event_id bigint not null references ledger_period_event,
  account text not null,
  asset text not null,
  debit numeric not null check (debit >= 0 and scale(debit) = 0),
  credit numeric not null check (credit >= 0 and scale(credit) = 0),
  primary key (event_id, account, asset),
  foreign key (account, asset) references ledger_account (id, asset),
  constraint ledger_period_balance_is_number check (debit < 'Infinity' and credit < 'Infinity')
);

create trigger ledger_period_event_append_only before update or delete or truncate on ledger_period_event
  for each statement execute function refuse_change();
create trigger ledger_period_balance_append_only before update or delete or truncate on ledger_period_balance
  for each statement execute function refuse_change();
create trigger ledger_period_event_signed before insert on ledger_period_event
  for each row when (new.decision_id is null) execute function refuse_unsigned();
create trigger ledger_period_event_fresh before insert on ledger_period_event
  for each statement execute function refuse_old_snapshot();

-- A trial balance is complete when the close commits: no line is added later.
create function refuse_late_balance() returns trigger language plpgsql as $$
begin
  if exists (
    select 1 from added join public.ledger_period_event event on event.id = added.event_id
    where event.xmin <> pg_current_xact_id()::xid or event.action <> 'closed'
  ) then
    raise exception 'ledger_period_balance: the month is already closed with another trial balance';
  end if;
  return null;
end
$$;

create trigger ledger_period_balance_late after insert on ledger_period_balance
  referencing new table as added for each statement execute function refuse_late_balance();

create function severe_mismatches_until(of_period date) returns integer
  language sql stable set search_path = pg_catalog, public, pg_temp
  return (
    select count(*)::integer from open_mismatch m left join deposit d on d.id = m.deposit_id
    where m.severity = 'severe'
      and coalesce(d.deposited_at, m.opened_at) < (of_period + interval '1 month') at time zone 'UTC'
  );

-- A refusal is worded for people: the problem, and the fix as its hint.
create function check_period_change(of_period date, change text, force boolean) returns void
  language plpgsql stable set search_path = pg_catalog, public, pg_temp as $$
declare
  month text := to_char(of_period, 'YYYY-MM');
  closed date := (select max(period) from ledger_period where state = 'closed');
  softly date := (select max(period) from ledger_period where state <> 'open');
  booked date := (select ledger_month(min(event_at)) from ledger_transfer);
  due date := greatest(booked, (case change when 'closed' then closed else softly end + interval '1 month')::date);
  severe integer;
begin
  if of_period >= ledger_month(now()) then
    raise '% is not over', month using errcode = 'DP001', hint = 'months are closed once they are over, in UTC';
  end if;
  if change = 'reopened' then
    if softly is null or of_period > softly then
      raise '% is open', month using errcode = 'DP001', hint = 'see what is closed with "bin/depositd ledger periods"';
    elsif of_period < softly then
      raise '% is closed too', to_char(softly, 'YYYY-MM')
        using errcode = 'DP001', hint = 'reopen it first: months are reopened from the last one backwards';
    end if;
    return;
  end if;
  if of_period <= closed then
    raise '% is closed already', month using errcode = 'DP001', hint = 'see it with "bin/depositd ledger periods"';
  elsif change = 'soft_closed' and of_period <= softly then
    raise '% is soft-closed already', month
      using errcode = 'DP001', hint = 'close it finally without --soft, or reopen it';
  elsif due < of_period then
    raise '% is not closed yet', to_char(due, 'YYYY-MM')
      using errcode = 'DP001', hint = 'close it first: months are closed in order';
  end if;
  severe := severe_mismatches_until(of_period);
  if change = 'closed' and severe > 0 and not force then
    raise 'severe mismatches up to the end of % are open: %', month, severe
      using errcode = 'DP001', hint = 'resolve those that "bin/depositd mismatches list --severity severe" shows, '
        'or close the month anyway with --force, --reason and a second person';
  end if;
end
$$;

-- Changes are made one at a time, and while no journal is being written: a journal is either in the frozen balance, or sees
-- that the month is closed.
create function hold_period_event() returns trigger
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if new.action <> 'reopened' then
    select cut.last_journal, cut.cut_at into new.last_journal, new.cut_at from ledger_cut() as cut;
  end if;
  lock table ledger_period in share row exclusive mode;
  perform check_period_change(new.period, new.action, new.forced);
  new.at := clock_timestamp();
  new.severe_open := severe_mismatches_until(new.period);
  new.forced := new.forced and new.severe_open > 0;
  insert into ledger_period (period, state)
    values (new.period, case new.action when 'reopened' then 'open' else new.action end)
    on conflict (period) do update set state = excluded.state;
  return new;
end
$$;

create trigger ledger_period_event_held before insert on ledger_period_event
  for each row execute function hold_period_event();

create view accounting.periods as
  with state as (
    select max(period) filter (where state = 'closed') as closed, max(period) filter (where state <> 'open') as softly,
      min(period) as first
    from ledger_period
  ), late as materialized (
    select period, ledger_month(event_at) as belongs_to from ledger_journal where period <> ledger_month(event_at)
  ), bounds as (
    select least((select min(period) from late), first, ledger_month((
        select event_at from ledger_journal where period = ledger_month(event_at) order by event_at limit 1
      ))) as first,
      greatest((select max(period) from late), softly, ledger_month(now()), ledger_month((
        select event_at from ledger_journal where period = ledger_month(event_at) order by event_at desc limit 1
      ))) as last
    from state
  ), last_event as (
    select distinct on (period) * from ledger_period_event order by period, id desc
  )
  select month::date as period,
    case when month <= closed then 'closed' when month <= softly then 'soft_closed' else 'open' end as state,
    in_month.events - in_month.booked_later + in_month.late as journals, in_month.late as late_journals,
    e.at as closed_at, e.actor as closed_by, e.approved_by, e.reason, e.forced, e.severe_open, e.sha256,
    (select count(*) from ledger_period_event r where r.period = month and r.action = 'reopened') as reopened
  from bounds cross join generate_series(bounds.first, last, interval '1 month') as month cross join state
    -- By the index of times: a journal is in the books of its own month unless it is late.
    cross join lateral (
      select (
          select count(*) from ledger_journal j
          where j.event_at >= month::timestamp at time zone 'UTC'
            and j.event_at < (month::timestamp + interval '1 month') at time zone 'UTC'
        ) as events,
        (select count(*) from late where late.belongs_to = month::date) as booked_later,
        (select count(*) from late where late.period = month::date) as late
    ) as in_month
    left join last_event e on e.period = month and e.action <> 'reopened';

comment on view accounting.periods is 'One row per month, from the first one with journals to the one that is running.';
comment on column accounting.periods.period is 'First day of the month.';
comment on column accounting.periods.state is 'open; soft_closed: only adjustments are booked into it; closed: nothing is.';
comment on column accounting.periods.journals is 'The number of journals in its books.';
comment on column accounting.periods.late_journals is 'How many of them are late, of an earlier month: accounting.late_items.';
comment on column accounting.periods.closed_at is 'When it was closed, or soft-closed; empty while it is open, and of months before the first that was closed.';
comment on column accounting.periods.closed_by is 'The person who closed it.';
comment on column accounting.periods.approved_by is 'The second person; empty if there was none.';
comment on column accounting.periods.reason is 'The reason; empty if none was given.';
comment on column accounting.periods.forced is 'Whether it was closed while severe mismatches were open.';
comment on column accounting.periods.severe_open is 'How many severe mismatches up to the end of the month were open when it was closed.';
comment on column accounting.periods.sha256 is 'SHA-256 of the trial balance that was frozen; empty unless it is closed.';
comment on column accounting.periods.reopened is 'How often it was opened again.';

create view accounting.period_history as
  select id, period, action, at, actor, approved_by, decision_id, reason, forced, severe_open, last_journal, sha256
  from ledger_period_event;

comment on view accounting.period_history is 'Closes and reopenings of months, with person and reason. Append-only.';
comment on column accounting.period_history.id is 'Number of the line.';
comment on column accounting.period_history.period is 'First day of the month.';
comment on column accounting.period_history.action is 'soft_closed, closed or reopened.';
comment on column accounting.period_history.at is 'When it was done.';
comment on column accounting.period_history.actor is 'The person who did it.';
comment on column accounting.period_history.approved_by is 'The second person; empty if there was none.';
comment on column accounting.period_history.decision_id is 'The signed decision; empty if it was done without signatures.';
comment on column accounting.period_history.reason is 'The reason; empty if none was given.';
comment on column accounting.period_history.forced is 'Whether it was closed while severe mismatches were open.';
comment on column accounting.period_history.severe_open is 'How many severe mismatches up to the end of the month were open.';
comment on column accounting.period_history.last_journal is 'The last journal that was written before; empty of a reopening.';
comment on column accounting.period_history.sha256 is 'SHA-256 of the trial balance that was frozen with it.';

create view accounting.period_balances as
  select e.period,
    (select count(*) from ledger_period_event c where c.period = e.period and c.action = 'closed' and c.id <= e.id) as closing,
    not exists (select from ledger_period_event r where r.period = e.period and r.action = 'reopened' and r.id > e.id) as stands,
    b.account, a.symbol as asset_symbol, b.asset,
    accounting.in_units(b.debit, a.decimals) as debit, accounting.in_units(b.credit, a.decimals) as credit,
    accounting.in_units(b.debit - b.credit, a.decimals) as balance,
    b.debit as debit_base, b.credit as credit_base, b.debit - b.credit as balance_base
  from ledger_period_balance b
    join ledger_period_event e on e.id = b.event_id
    join asset a on a.key = b.asset;

comment on view accounting.period_balances is 'Trial balances as they were frozen, one row per close, account and asset, over the books of the month and of all before it.';
comment on column accounting.period_balances.period is 'First day of the month.';
comment on column accounting.period_balances.closing is 'Which close of the month it was, counted from 1.';
comment on column accounting.period_balances.stands is 'False if the month was reopened afterwards.';
comment on column accounting.period_balances.account is 'Account, for example assets:in_transit:base.';
comment on column accounting.period_balances.asset_symbol is 'Label of the asset.';
comment on column accounting.period_balances.asset is 'Asset: network/contract, network/mint or network/native.';
comment on column accounting.period_balances.debit is 'Total debits, in units of the asset.';
comment on column accounting.period_balances.credit is 'Total credits, in units of the asset.';
comment on column accounting.period_balances.balance is 'Debit less credit, in units of the asset.';
comment on column accounting.period_balances.debit_base is 'Total debits, in base units.';
comment on column accounting.period_balances.credit_base is 'Total credits, in base units.';
comment on column accounting.period_balances.balance_base is 'Debit less credit, in base units.';

create view accounting.late_items as
  select j.id as journal_id, j.posting_key, j.kind, j.deposit_id, j.reverses,
    ledger_month(j.event_at) as belongs_to, j.period, j.event_at, j.recorded_at
  from ledger_journal j
  where j.period <> ledger_month(j.event_at);

comment on view accounting.late_items is 'Journals of a month that was closed when they were booked. They are in the books of a later month.';
comment on column accounting.late_items.journal_id is 'Number of the journal.';
comment on column accounting.late_items.posting_key is 'Key of the booking.';
comment on column accounting.late_items.kind is 'Kind of the journal.';
comment on column accounting.late_items.deposit_id is 'The deposit it belongs to; empty if there is none.';
comment on column accounting.late_items.reverses is 'The journal that this one takes back.';
comment on column accounting.late_items.belongs_to is 'First day of the month in which it happened.';
comment on column accounting.late_items.period is 'First day of the month of the books in which it is.';
comment on column accounting.late_items.event_at is 'When it happened.';
comment on column accounting.late_items.recorded_at is 'When it was written.';
