-- Months of the books. They are closed in order, so that what is closed is all up to a month: what arrives late has no
-- month before it to fall into. Who closed one, or opened it again, and why, is a history that nobody changes; the state
-- in ledger_period follows from it and is written by nothing else.
create table ledger_period_event (
  id bigint generated always as identity primary key,
  -- The first day of the month.
  period date not null check (period = date_trunc('month', period::timestamp)),
  action text not null check (action in ('soft_closed', 'closed', 'reopened')),
  at timestamptz not null default clock_timestamp(),
  -- Names are words, and no proof.
  actor text not null check (actor <> ''),
  approved_by text check (approved_by <> ''),
  reason text check (reason <> ''),
  -- Severe mismatches of the month, or of one before it, that were open.
  severe_open integer not null default 0,
  -- That it was closed all the same.
  forced boolean not null default false,
  -- The last journal before, and when all journals up to it had been written.
  last_journal bigint,
  cut_at timestamptz,
  -- Of the trial balance that was frozen.
  sha256 text check (sha256 ~ '^[0-9a-f]{64}$'),
  check ((action = 'closed') = (sha256 is not null)),
  check (lower(approved_by) <> lower(actor)),
  check (not forced or action = 'closed'),
  check (severe_open = 0 or forced or action <> 'closed'),
  check (num_nulls(reason, approved_by) = 0 or not (forced or action = 'reopened'))
);

create index ledger_period_event_period on ledger_period_event (period);

-- What each account held at a close, of all journals in the books of that month and of all before it.
create table ledger_period_balance (
  event_id bigint not null references ledger_period_event,
  account text not null,
  asset text not null,
  debit numeric not null check (debit >= 0 and scale(debit) = 0),
  credit numeric not null check (credit >= 0 and scale(credit) = 0),
  primary key (event_id, account, asset),
  foreign key (account, asset) references ledger_account (id, asset)
);

create trigger ledger_period_event_append_only before update or delete or truncate on ledger_period_event
  for each statement execute function refuse_change();
create trigger ledger_period_balance_append_only before update or delete or truncate on ledger_period_balance
  for each statement execute function refuse_change();

-- A trial balance is whole when the close commits: nobody adds a line to it later.
create function refuse_late_balance() returns trigger language plpgsql as $$
begin
  if exists (
    select 1 from added join ledger_period_event event on event.id = added.event_id
    where event.xmin <> pg_current_xact_id()::xid or event.action <> 'closed'
  ) then
    raise exception 'ledger_period_balance: the month is already closed with another trial balance';
  end if;
  return null;
end
$$;

create trigger ledger_period_balance_late after insert on ledger_period_balance
  referencing new table as added for each statement execute function refuse_late_balance();

-- Something that is late goes into the first month behind all that are closed, also where its own, before the first that
-- was closed, has no row. A month that is soft-closed is open to adjustments alone.
create or replace function ledger_period_for(event_at timestamptz, is_adjustment boolean default false) returns date
language plpgsql stable as $$
begin
  return greatest(public.ledger_month(event_at), (
    select (max(p.period) + interval '1 month')::date from public.ledger_period p
    where p.state = 'closed' or (p.state = 'soft_closed' and not is_adjustment)
  ));
end
$$;

create or replace function refuse_shut_period() returns trigger language plpgsql as $$
begin
  if exists (
    select from added
    where (period <> public.ledger_month(event_at)
        or exists (select from public.ledger_period p where p.period >= added.period and p.state <> 'open'))
      and period <> public.ledger_period_for(event_at)
      and not (kind in ('manual', 'reversal') and deposit_id is null
        and period = public.ledger_period_for(event_at, true))
  ) then
    raise exception 'ledger_journal: the period is closed, or is not the one for that time'
      using errcode = 'serialization_failure', hint = 'Book it again: it belongs to the next open period.';
  end if;
  return null;
end
$$;

create function severe_mismatches_until(of_period date) returns integer
  language sql stable set search_path = pg_catalog, public, pg_temp
  return (
    select count(*)::integer from open_mismatch m left join deposit d on d.id = m.deposit_id
    where m.severity = 'severe'
      and coalesce(d.deposited_at, m.opened_at) < (of_period + interval '1 month') at time zone 'UTC'
  );

-- What is refused is told in words for people: the problem, and the mend as its hint.
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
        using errcode = 'DP001', hint = 'reopen it first: the last month that was closed is opened first';
    end if;
    return;
  end if;
  if of_period <= closed then
    raise '% is closed already', month using errcode = 'DP001', hint = 'see it with "bin/depositd ledger periods"';
  elsif change = 'soft_closed' and of_period <= softly then
    raise '% is soft-closed already', month
      using errcode = 'DP001', hint = 'close it for good without --soft, or reopen it';
  elsif due < of_period then
    raise '% is not closed yet', to_char(due, 'YYYY-MM')
      using errcode = 'DP001', hint = 'close it first: months are closed in order';
  end if;
  severe := severe_mismatches_until(of_period);
  if change = 'closed' and severe > 0 and not force then
    raise 'severe mismatches up to the end of % are open: %', month, severe
      using errcode = 'DP001', hint = 'end them, as "bin/depositd mismatches list --severity severe" shows them, '
        'or close it all the same with --force, --reason and --approved-by';
  end if;
end
$$;

-- One change at a time, and none while somebody is writing: a journal is either counted in what is frozen, or sees that
-- the month is closed.
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

revoke execute on function hold_period_event() from public;

create trigger ledger_period_event_held before insert on ledger_period_event
  for each row execute function hold_period_event();

revoke insert, update, delete, truncate on ledger_period from depositd_daemon;
grant select on ledger_period to depositd_daemon;
grant select, insert on ledger_period_event, ledger_period_balance to depositd_daemon;
grant usage on all sequences in schema public to depositd_daemon;

-- Few journals are late; the index holds no others, and costs the others nothing.
create index ledger_journal_late on ledger_journal (period)
  where period <> ledger_month(event_at);

create or replace view accounting.journal as
  select j.id, j.posting_key, j.kind, j.deposit_id, j.reverses, j.event_at, j.recorded_at,
    j.period, ledger_month(j.event_at) as belongs_to
  from ledger_journal j;

comment on column accounting.journal.period is 'First day of the month in whose books it stands.';
comment on column accounting.journal.belongs_to is 'First day of the month in which it happened; another than period where that was closed when it was booked.';

create or replace view accounting.entries as
  select e.journal_id, e.leg, j.posting_key, j.kind, j.deposit_id, e.account, a.symbol as asset_symbol, e.asset,
    accounting.in_units(e.amount, a.decimals) as amount, e.amount as amount_base, e.event_at, e.recorded_at,
    e.period, ledger_month(e.event_at) as belongs_to
  from ledger_entry e
    join ledger_journal j on j.id = e.journal_id
    join asset a on a.key = e.asset;

comment on column accounting.entries.period is 'First day of the month in whose books it stands.';
comment on column accounting.entries.belongs_to is 'First day of the month in which it happened; another than period where that was closed when it was booked.';

create view accounting.late_items as
  select j.id as journal_id, j.posting_key, j.kind, j.deposit_id, j.reverses,
    ledger_month(j.event_at) as belongs_to, j.period, j.event_at, j.recorded_at
  from ledger_journal j
  where j.period <> ledger_month(j.event_at);

comment on view accounting.late_items is 'Journals of a month that was closed when they were booked. They stand in the books of a later one.';
comment on column accounting.late_items.journal_id is 'Number of the journal.';
comment on column accounting.late_items.posting_key is 'What was booked.';
comment on column accounting.late_items.kind is 'Kind of the journal.';
comment on column accounting.late_items.deposit_id is 'The deposit it belongs to; empty where it belongs to none.';
comment on column accounting.late_items.reverses is 'The journal that this one takes back.';
comment on column accounting.late_items.belongs_to is 'First day of the month in which it happened.';
comment on column accounting.late_items.period is 'First day of the month in whose books it stands.';
comment on column accounting.late_items.event_at is 'When it happened in the world.';
comment on column accounting.late_items.recorded_at is 'When it was written.';

create view accounting.periods as
  with state as (
    select max(period) filter (where state = 'closed') as closed, max(period) filter (where state <> 'open') as softly,
      min(period) as first
    from ledger_period
  ), counted as (
    select period, count(*) as journals,
      count(*) filter (where period <> ledger_month(event_at)) as late
    from ledger_journal group by period
  ), bounds as (
    select least(min(counted.period), min(state.first)) as first,
      greatest(max(counted.period), max(state.softly), ledger_month(now())) as last
    from state left join counted on true
  ), last_event as (
    select distinct on (period) * from ledger_period_event order by period, id desc
  )
  select month::date as period,
    case when month <= closed then 'closed' when month <= softly then 'soft_closed' else 'open' end as state,
    coalesce(journals, 0) as journals, coalesce(late, 0) as late_journals,
    e.at as closed_at, e.actor as closed_by, e.approved_by, e.reason, e.forced, e.severe_open, e.sha256,
    (select count(*) from ledger_period_event r where r.period = month and r.action = 'reopened') as reopened
  from bounds cross join generate_series(first, last, interval '1 month') as month cross join state
    left join counted c on c.period = month
    left join last_event e on e.period = month and e.action <> 'reopened';

comment on view accounting.periods is 'One row per month, from the first one with journals to the one that is running.';
comment on column accounting.periods.period is 'First day of the month.';
comment on column accounting.periods.state is 'open; soft_closed: only adjustments are booked into it; closed: nothing is.';
comment on column accounting.periods.journals is 'How many journals stand in its books.';
comment on column accounting.periods.late_journals is 'How many of them belong to a month before, as accounting.late_items has them.';
comment on column accounting.periods.closed_at is 'When it was closed, or soft-closed; empty while it is open, and of months before the first that was closed.';
comment on column accounting.periods.closed_by is 'Who closed it, by the name that was given.';
comment on column accounting.periods.approved_by is 'The second person, where one was named.';
comment on column accounting.periods.reason is 'Why, where it was said.';
comment on column accounting.periods.forced is 'That it was closed while severe mismatches were open.';
comment on column accounting.periods.severe_open is 'How many severe mismatches, of it or of a month before, were open when it was closed.';
comment on column accounting.periods.sha256 is 'SHA-256 of the trial balance that was frozen; empty unless it is closed.';
comment on column accounting.periods.reopened is 'How often it was opened again.';

create view accounting.period_history as
  select id, period, action, at, actor, approved_by, reason, forced, severe_open, last_journal, sha256
  from ledger_period_event;

comment on view accounting.period_history is 'Who closed a month, or opened it again, and why. It is only ever added to.';
comment on column accounting.period_history.id is 'Number of the line.';
comment on column accounting.period_history.period is 'First day of the month.';
comment on column accounting.period_history.action is 'soft_closed, closed or reopened.';
comment on column accounting.period_history.at is 'When it was done.';
comment on column accounting.period_history.actor is 'Who did it, by the name that was given.';
comment on column accounting.period_history.approved_by is 'The second person, where one was named.';
comment on column accounting.period_history.reason is 'Why, where it was said.';
comment on column accounting.period_history.forced is 'That it was closed while severe mismatches were open.';
comment on column accounting.period_history.severe_open is 'How many severe mismatches, of the month or of one before, were open.';
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
comment on column accounting.period_balances.stands is 'False where the month was opened again after it.';
comment on column accounting.period_balances.account is 'Account, for example assets:in_transit:base.';
comment on column accounting.period_balances.asset_symbol is 'Label of the asset.';
comment on column accounting.period_balances.asset is 'Asset: network/contract, network/mint or network/native.';
comment on column accounting.period_balances.debit is 'All that was debited, in units of the asset.';
comment on column accounting.period_balances.credit is 'All that was credited, in units of the asset.';
comment on column accounting.period_balances.balance is 'Debit less credit, in units of the asset.';
comment on column accounting.period_balances.debit_base is 'All that was debited, in smallest units.';
comment on column accounting.period_balances.credit_base is 'All that was credited, in smallest units.';
comment on column accounting.period_balances.balance_base is 'Debit less credit, in smallest units.';

grant select on accounting.late_items, accounting.periods, accounting.period_history, accounting.period_balances
  to depositd_accountant, depositd_daemon;
