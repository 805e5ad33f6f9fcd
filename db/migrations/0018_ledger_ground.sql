-- What periods, snapshots and seals of the books stand on: the month in whose books a journal stands, when it was
-- written to the microsecond, and transfers by month of recording.

-- The state of a month's books. A month without a row is open.
create table ledger_period (
  period date primary key check (period = date_trunc('month', period::timestamp)),
  state text not null check (state in ('open', 'soft_closed', 'closed'))
);

grant select on ledger_period to depositd_daemon;

-- First day, in UTC, of the month of a time.
create function ledger_month(at timestamptz) returns date language sql immutable parallel safe
  return date_trunc('month', at at time zone 'UTC')::date;

-- The month in whose books something of that time is written: its own while that is open, or else the first later one
-- that is. A month that is soft-closed is open to adjustments alone.
create function ledger_period_for(event_at timestamptz, is_adjustment boolean default false) returns date
language plpgsql stable as $$
declare
  month constant date := public.ledger_month(event_at);
begin
  if not exists (select from public.ledger_period p where p.period = month and p.state <> 'open') then
    return month;
  end if;
  return (
    with shut as (
      select p.period from public.ledger_period p
      where p.period >= month and (p.state = 'closed' or (p.state = 'soft_closed' and not is_adjustment))
    )
    select min(candidate) from (
      select month as candidate union all select (period + interval '1 month')::date from shut
    ) as candidates
    where candidate not in (select period from shut)
  );
end
$$;

alter table ledger_journal
  add column period date,
  alter column recorded_at set default clock_timestamp(),
  alter column deposit_id drop not null,
  alter column transfer drop not null,
  drop constraint ledger_journal_kind_check,
  add constraint ledger_journal_kind_check check (kind in
    ('deposit', 'settlement', 'refund', 'write_off', 'withdrawal', 'manual', 'reversal')),
  -- What a person books, and what takes it back, is about no payment; a withdrawal is about no deposit.
  add constraint ledger_journal_about_check check (case kind
    when 'manual' then true
    when 'reversal' then true
    when 'withdrawal' then transfer is not null
    else num_nulls(deposit_id, transfer) = 0 end);

alter table ledger_journal disable trigger ledger_journal_append_only;
update ledger_journal set period = ledger_month(event_at);
alter table ledger_journal enable trigger ledger_journal_append_only;

alter table ledger_journal
  alter column period set not null,
  add constraint ledger_journal_period_check
    check (period = date_trunc('month', period::timestamp) and period >= ledger_month(event_at));

-- Which numbers and times a journal has is not the daemon's to say.
revoke insert on ledger_journal from depositd_daemon;
grant insert (posting_key, kind, deposit_id, transfer, reverses, event_at, period) on ledger_journal to depositd_daemon;

-- Where a month is closed while a booking is under way, the booking gives way and is done again.
create function refuse_shut_period() returns trigger language plpgsql as $$
begin
  if exists (
    select from added
    where (period <> public.ledger_month(event_at)
        or exists (select from public.ledger_period p where p.period = added.period and p.state <> 'open'))
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

create trigger ledger_journal_period after insert on ledger_journal
  referencing new table as added for each statement execute function refuse_shut_period();

-- Transfers by month of recording. The key of a partitioned table has to hold what it is parted by; that a journal has
-- one time of recording makes (journal_id, leg) unique all the same.
drop view accounting.entries, accounting.balances, ledger_balance, ledger_entry;
alter table ledger_transfer rename to ledger_transfer_before;
alter table ledger_transfer_before drop constraint ledger_transfer_pkey;
drop index ledger_transfer_debit, ledger_transfer_credit, ledger_journal_event_at;

create table ledger_transfer (
  journal_id bigint not null references ledger_journal,
  leg smallint not null check (leg > 0),
  debit text not null,
  credit text not null check (credit <> debit),
  asset text not null,
  amount numeric(78, 0) not null check (amount > 0),
  -- Those of the journal.
  event_at timestamptz not null,
  recorded_at timestamptz not null,
  period date not null,
  primary key (journal_id, leg, recorded_at),
  foreign key (debit, asset) references ledger_account (id, asset),
  foreign key (credit, asset) references ledger_account (id, asset)
) partition by range (recorded_at);

-- Takes what no month was made for, so that nothing is ever refused for lack of one.
create table ledger_transfer_default partition of ledger_transfer default;

insert into ledger_transfer
  select t.*, j.event_at, j.recorded_at, j.period from ledger_transfer_before t join ledger_journal j on j.id = t.journal_id;
drop table ledger_transfer_before;

create index ledger_transfer_debit on ledger_transfer (debit, asset);
create index ledger_transfer_credit on ledger_transfer (credit, asset);
create index ledger_transfer_event_at on ledger_transfer (event_at);
-- Rows stand in the order in which they were recorded, so that the least of indexes will do.
create index ledger_transfer_recorded_at on ledger_transfer using brin (recorded_at) with (autosummarize = true);

grant select, insert on ledger_transfer to depositd_daemon;

-- A journal is whole when its transaction commits: nobody adds a leg to it later. Names are in full, since a table of
-- the session's own would be found first.
create or replace function refuse_late_transfer() returns trigger language plpgsql as $$
declare
  is_late boolean;
  is_other boolean;
begin
  select bool_or(journal.xmin <> pg_current_xact_id()::xid),
    bool_or(added.event_at <> journal.event_at or added.recorded_at <> journal.recorded_at
      or added.period <> journal.period)
  into is_late, is_other
  from added join public.ledger_journal journal on journal.id = added.journal_id;
  if is_late then
    raise exception 'ledger_transfer: the journal is already booked; post a new one';
  elsif is_other then
    raise exception 'ledger_transfer: times and period are not those of the journal';
  end if;
  return null;
end
$$;

create or replace function check_reversal() returns trigger language plpgsql as $$
begin
  if new.reverses is null then
    return null;
  end if;
  if exists (select 1 from public.ledger_journal where id = new.reverses and kind = 'reversal') then
    raise exception 'journal % is a reversal and cannot be reversed', new.reverses;
  end if;
  if exists (
    (select leg, debit, credit, asset, amount from public.ledger_transfer where journal_id = new.reverses
      except select leg, credit, debit, asset, amount from public.ledger_transfer where journal_id = new.id)
    union all
    (select leg, credit, debit, asset, amount from public.ledger_transfer where journal_id = new.id
      except select leg, debit, credit, asset, amount from public.ledger_transfer where journal_id = new.reverses)
  ) then
    raise exception 'journal % does not mirror journal %, which it reverses', new.id, new.reverses;
  end if;
  return null;
end
$$;

-- Triggers of the whole do not see what is done to one part by its own name; so each part has them too.
create function guard_ledger_transfers(part regclass) returns void language plpgsql as $$
begin
  execute format('create trigger ledger_transfer_append_only before update or delete or truncate on %s
    for each statement execute function public.refuse_change()', part);
  execute format('create trigger ledger_transfer_late after insert on %s
    referencing new table as added for each statement execute function public.refuse_late_transfer()', part);
end
$$;

revoke execute on function guard_ledger_transfers from public;
select guard_ledger_transfers('ledger_transfer');
select guard_ledger_transfers('ledger_transfer_default');

-- Makes the parts of this month and of so many after it, where they are missing; of a month that has rows already, they
-- stay where they are. Tells how many were made.
create function make_ledger_partitions(months_ahead integer default 3) returns integer
language plpgsql security definer set search_path = pg_catalog, public, pg_temp set lock_timeout = '2s' as $$
declare
  month timestamp;
  part text;
  made integer := 0;
begin
  perform pg_advisory_xact_lock(hashtext('make_ledger_partitions'));
  for month in
    select generate_series(date_trunc('month', now() at time zone 'UTC'),
      date_trunc('month', now() at time zone 'UTC') + make_interval(months => least(months_ahead, 24)), '1 month')
  loop
    part := 'ledger_transfer_' || to_char(month, 'YYYYMM');
    continue when to_regclass('public.' || part) is not null;
    continue when exists (
      select from public.ledger_transfer_default
      where recorded_at >= month at time zone 'UTC' and recorded_at < (month + interval '1 month') at time zone 'UTC'
    );
    execute format('create table public.%I (like public.ledger_transfer including defaults including constraints)', part);
    execute format('alter table public.ledger_transfer attach partition public.%I for values from (%L) to (%L)',
      part, month at time zone 'UTC', (month + interval '1 month') at time zone 'UTC');
    perform public.guard_ledger_transfers(format('public.%I', part)::regclass);
    made := made + 1;
  end loop;
  return made;
end
$$;

-- A line in the order of journals: every journal up to last_journal is written, or never will be, and every later one is
-- recorded after cut_at. Writers wait until the caller commits, which it does at once; who asks for a cut gives up
-- after two seconds, so that they never wait for long.
create function ledger_cut(out last_journal bigint, out cut_at timestamptz)
language plpgsql security definer set search_path = pg_catalog, public, pg_temp set lock_timeout = '2s' as $$
begin
  lock table public.ledger_journal in share mode;
  select case when is_called then last_value else 0 end into last_journal from public.ledger_journal_id_seq;
  cut_at := clock_timestamp();
end
$$;

revoke execute on function make_ledger_partitions, ledger_cut from public;
grant execute on function make_ledger_partitions, ledger_cut to depositd_daemon;

create view ledger_entry as
  select journal_id, leg, debit as account, asset, amount, event_at, recorded_at, period from ledger_transfer
  union all
  select journal_id, leg, credit, asset, -amount, event_at, recorded_at, period from ledger_transfer;

create view ledger_balance as
  select account, asset, sum(amount) as balance from ledger_entry group by account, asset;

grant select on ledger_entry, ledger_balance to depositd_daemon;

create view accounting.entries as
  select e.journal_id, e.leg, j.posting_key, j.kind, j.deposit_id, e.account, a.symbol as asset_symbol, e.asset,
    accounting.in_units(e.amount, a.decimals) as amount, e.amount as amount_base, e.event_at, e.recorded_at
  from ledger_entry e
    join ledger_journal j on j.id = e.journal_id
    join asset a on a.key = e.asset;

comment on view accounting.entries is 'Two rows per transfer: the debit side positive, the credit side negative. Per asset they sum to zero.';
comment on column accounting.entries.journal_id is 'Journal the entry belongs to.';
comment on column accounting.entries.leg is 'Number of the transfer inside its journal.';
comment on column accounting.entries.posting_key is 'Posting key of the journal.';
comment on column accounting.entries.kind is 'Kind of the journal.';
comment on column accounting.entries.deposit_id is 'The deposit it belongs to; empty where it is about none.';
comment on column accounting.entries.account is 'Account, for example assets:in_transit:base.';
comment on column accounting.entries.asset_symbol is 'Label of the asset.';
comment on column accounting.entries.asset is 'Asset: network/contract, network/mint or network/native.';
comment on column accounting.entries.amount is 'In units of the asset; debits positive, credits negative.';
comment on column accounting.entries.amount_base is 'In smallest units; debits positive, credits negative.';
comment on column accounting.entries.event_at is 'When it happened in the world.';
comment on column accounting.entries.recorded_at is 'When it was written.';

create view accounting.balances as
  select b.account, a.symbol as asset_symbol, b.asset, accounting.in_units(b.balance, a.decimals) as balance,
    b.balance as balance_base
  from ledger_balance b join asset a on a.key = b.asset;

comment on view accounting.balances is 'Balance of each account in each asset, over all that was ever booked.';
comment on column accounting.balances.account is 'Account, for example assets:in_transit:base.';
comment on column accounting.balances.asset_symbol is 'Label of the asset.';
comment on column accounting.balances.asset is 'Asset: network/contract, network/mint or network/native.';
comment on column accounting.balances.balance is 'In units of the asset; debit balances positive, credit balances negative.';
comment on column accounting.balances.balance_base is 'In smallest units; debit balances positive, credit balances negative.';

grant select on accounting.entries, accounting.balances to depositd_accountant, depositd_daemon;

comment on column accounting.journal.kind is 'deposit, settlement, refund, write_off, withdrawal, manual or reversal.';
comment on column accounting.journal.deposit_id is 'The deposit it belongs to; empty where it is about none.';
