-- Guards that the books did not have yet: against the role of the daemon, and against whoever reads with a search path
-- of his own.

-- Without pg_temp at its end, tables of the session are found first, and read with the rights of the owner.
alter function accounting.in_transit_at(timestamptz, timestamptz) set search_path = pg_catalog, public, pg_temp;

-- NaN is greater than every number, so it passes for a positive amount; and a numeric without a precision may be infinite.
alter table ledger_transfer add constraint ledger_transfer_amount_is_number check (amount < 'NaN');
alter table ledger_snapshot
  add constraint ledger_snapshot_is_number check (debit < 'Infinity' and credit < 'Infinity');
alter table ledger_period_balance
  add constraint ledger_period_balance_is_number check (debit < 'Infinity' and credit < 'Infinity');
alter table deposit
  add constraint deposit_is_number check (amount < 'NaN' and settlement_amount < 'NaN' and fee_amount < 'NaN');
alter table sighting add constraint sighting_amount_is_number check (amount < 'NaN');

-- A transaction that goes on seeing the books as they were when it began does not see that a month was closed since.
create function refuse_old_snapshot() returns trigger language plpgsql as $$
begin
  if current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
    raise exception '%: it is written at an isolation level that does not see which months are closed', tg_table_name
      using errcode = 'invalid_transaction_state', hint = 'Write it under read committed.';
  end if;
  return null;
end
$$;

create trigger ledger_journal_fresh before insert on ledger_journal
  for each statement execute function refuse_old_snapshot();
create trigger ledger_period_event_fresh before insert on ledger_period_event
  for each statement execute function refuse_old_snapshot();

-- Nor is anything written into a day of recording that was added up already, as where a clock was set back.
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
  elsif exists (
    select from added
    where recorded_at < (select (max(recorded) + 1)::timestamp at time zone 'UTC' from public.ledger_snapshot_day)
  ) then
    raise exception 'ledger_journal: the day on which it is recorded is added up already'
      using errcode = 'object_not_in_prerequisite_state', hint = 'Set the clock of the database right.';
  end if;
  return null;
end
$$;

-- The newest cut: what snapshots and seals go by, since whoever asks for them might say any other.
create table ledger_last_cut (
  is_only boolean primary key default true check (is_only),
  last_journal bigint not null,
  cut_at timestamptz not null
);

insert into ledger_last_cut (last_journal, cut_at) values (0, '-infinity');
grant select on ledger_last_cut to depositd_daemon;

create or replace function ledger_cut(out last_journal bigint, out cut_at timestamptz)
language plpgsql security definer set search_path = pg_catalog, public, pg_temp set lock_timeout = '2s' as $$
begin
  lock table public.ledger_journal in share mode;
  select case when is_called then last_value else 0 end into last_journal from public.ledger_journal_id_seq;
  cut_at := clock_timestamp();
  update public.ledger_last_cut c set last_journal = ledger_cut.last_journal, cut_at = ledger_cut.cut_at;
end
$$;

drop function make_ledger_snapshot(timestamptz);

-- Adds up the next day of recording that was over at the newest cut, and with the last day of a month the month. Tells
-- which day, and nothing where none is left. The ten minutes are for a clock that is set back.
create function make_ledger_snapshot() returns date
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  newest constant timestamptz := (select c.cut_at from public.ledger_last_cut c);
  over constant date := ((least(newest, now()) - interval '10 minutes') at time zone 'UTC')::date;
  this date;
begin
  if current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
    raise exception 'make_ledger_snapshot: it is run at an isolation level that does not see what was booked last'
      using errcode = 'invalid_transaction_state';
  end if;
  perform pg_advisory_xact_lock(hashtext('make_ledger_snapshot'));
  select max(recorded) + 1 into this from public.ledger_snapshot_day;
  if this is null then
    select (min(recorded_at) at time zone 'UTC')::date into this from public.ledger_journal;
  end if;
  if this is null or this >= over then
    return null;
  end if;
  insert into public.ledger_snapshot_day (recorded, cut_at) values (this, newest);
  insert into public.ledger_snapshot (span, recorded, event, account, asset, debit, credit)
    select 'day', this, event, account, asset, debit, credit from public.ledger_turnover_of(this);
  if extract(day from this + 1) = 1 then
    insert into public.ledger_snapshot (span, recorded, event, account, asset, debit, credit)
      select 'month', date_trunc('month', this::timestamp)::date, event, account, asset, debit, credit
      from public.ledger_month_turnover_of(date_trunc('month', this::timestamp)::date);
  end if;
  return this;
end
$$;

revoke execute on function make_ledger_snapshot from public;
grant execute on function make_ledger_snapshot to depositd_daemon;

-- What takes a journal back gets no leg but those of that journal, also where the whole was looked at before.
create or replace function refuse_late_transfer() returns trigger language plpgsql as $$
declare
  is_late boolean;
  is_other boolean;
  takes_back boolean;
begin
  select bool_or(journal.xmin <> pg_current_xact_id()::xid),
    bool_or(added.event_at <> journal.event_at or added.recorded_at <> journal.recorded_at
      or added.period <> journal.period),
    bool_or(journal.reverses is not null)
  into is_late, is_other, takes_back
  from added join public.ledger_journal journal on journal.id = added.journal_id;
  if is_late then
    raise exception 'ledger_transfer: the journal is already booked; post a new one';
  elsif is_other then
    raise exception 'ledger_transfer: times and period are not those of the journal';
  elsif takes_back and exists (
    select from added
      join public.ledger_journal journal on journal.id = added.journal_id
      join public.ledger_journal original on original.id = journal.reverses
    where not exists (
      select from public.ledger_transfer t
      where t.journal_id = original.id and t.recorded_at = original.recorded_at and t.leg = added.leg
        and (t.debit, t.credit, t.asset, t.amount) = (added.credit, added.debit, added.asset, added.amount)
    )
  ) then
    raise exception 'ledger_transfer: a leg does not mirror one of the journal that its journal takes back';
  end if;
  return null;
end
$$;

-- Nor does the journal that is taken back get one more: in the transaction that it is booked in, it could.
create or replace function check_reversal() returns trigger language plpgsql as $$
begin
  if new.reverses is null then
    return null;
  end if;
  if exists (select 1 from public.ledger_journal where id = new.reverses and kind = 'reversal') then
    raise exception 'journal % is a reversal and cannot be reversed', new.reverses;
  end if;
  if exists (select from public.ledger_journal where id = new.reverses and xmin = pg_current_xact_id()::xid) then
    raise exception 'journal % is not booked yet and cannot be reversed', new.reverses;
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

-- A reason is written with its journal, never to one that stands, and only to what people book or take back of that.
create or replace function check_manual_reason() returns trigger language plpgsql as $$
begin
  if exists (
    select from added
      join public.ledger_journal journal on journal.id = added.journal_id
      left join public.ledger_journal original on original.id = journal.reverses
    where coalesce(original.kind, journal.kind) <> 'manual' or journal.xmin <> pg_current_xact_id()::xid
  ) then
    raise exception 'manual_journal: the journal is not booked by hand, or was booked before';
  end if;
  return null;
end
$$;

create or replace function refuse_late_balance() returns trigger language plpgsql as $$
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

-- A seal is over what was booked up to a cut: over more, journals that are still to come would break it.
create function refuse_seal_beyond_cut() returns trigger language plpgsql as $$
begin
  if new.last_journal > (select c.last_journal from public.ledger_last_cut c) then
    raise exception 'ledger_seal: it goes beyond journal %, the last that was cut off',
      (select c.last_journal from public.ledger_last_cut c);
  end if;
  return null;
end
$$;

create trigger ledger_seal_within_cut after insert on ledger_seal
  for each row execute function refuse_seal_beyond_cut();

-- When a month was closed, and behind which journal, is not the daemon's to say.
revoke insert on ledger_period_event from depositd_daemon;
grant insert (period, action, actor, approved_by, reason, forced, sha256) on ledger_period_event to depositd_daemon;

-- What follows from evidence has the time of its evidence, whatever that is; what people date is of the time of chains.
alter table ledger_journal add constraint ledger_journal_event_at_check check (
  isfinite(event_at)
  and (kind <> 'manual' or (event_at >= timestamptz '2009-01-01 00:00:00+00' and event_at < timestamptz '10000-01-01 00:00:00+00'))
) not valid;

create index ledger_journal_event_at on ledger_journal (event_at);

-- Legs of a journal are looked for in the part that holds them, and in no other.
create or replace view accounting.fees as
  with fee as (
    select e.journal_id, e.recorded_at, e.asset, sum(e.amount) as amount from ledger_entry e
    where e.account = 'expenses:fees:service' group by e.journal_id, e.recorded_at, e.asset
  )
  select j.id as journal_id, j.deposit_id, d.owner_kind, d.owner_id,
    p.network, p.symbol as asset_symbol, paid.asset, accounting.in_units(paid.amount, p.decimals) as amount,
    paid.amount as amount_base,
    s.network as settlement_network, s.symbol as settlement_asset_symbol, f.asset as settlement_asset,
    accounting.in_units(delivered.amount, s.decimals) as settlement_amount, delivered.amount as settlement_amount_base,
    accounting.in_units(f.amount, s.decimals) as fee, f.amount as fee_base, j.event_at, j.recorded_at
  from fee f
    join ledger_journal j on j.id = f.journal_id and j.recorded_at = f.recorded_at
    join asset s on s.key = f.asset
    left join deposit d on d.id = j.deposit_id
    left join lateral (
      select e.asset, -sum(e.amount) as amount from ledger_entry e
      where e.journal_id = j.id and e.recorded_at = j.recorded_at
        and e.account like 'assets:in\_transit:%' group by e.asset limit 1
    ) as paid on true
    left join asset p on p.key = paid.asset
    left join lateral (
      select sum(e.amount) as amount from ledger_entry e
      where e.journal_id = j.id and e.recorded_at = j.recorded_at and e.asset = f.asset
        and (e.account like 'assets:forwarded:%' or e.account like 'assets:stable\_wallet:%')
    ) as delivered on true;

create or replace view accounting.conversion as
  select j.id as journal_id, j.kind, j.deposit_id, d.owner_kind, d.owner_id,
    pa.symbol as paid_asset_symbol, paid.asset as paid_asset,
    accounting.in_units(paid.amount, pa.decimals) as paid, paid.amount as paid_base, receipt.event_at as received_at,
    da.symbol as delivered_asset_symbol, delivered.asset as delivered_asset,
    accounting.in_units(delivered.amount, da.decimals) as delivered, delivered.amount as delivered_base,
    j.event_at as settled_at, j.recorded_at,
    rule.currency,
    pp.price as paid_price, pp.price_at as paid_price_at, pp.source as paid_price_source,
    accounting.in_units(paid.amount, pa.decimals) * pp.price as paid_value,
    dp.price as delivered_price, dp.price_at as delivered_price_at, dp.source as delivered_price_source,
    accounting.in_units(delivered.amount, da.decimals) * dp.price as delivered_value,
    accounting.in_units(delivered.amount, da.decimals) * dp.price
      - accounting.in_units(paid.amount, pa.decimals) * pp.price as difference
  from ledger_journal j
    left join ledger_journal o on o.id = j.reverses
    left join deposit d on d.id = j.deposit_id
    join lateral (
      select e.asset, -sum(e.amount) as amount from ledger_entry e
      where e.journal_id = j.id and e.recorded_at = j.recorded_at
        and e.account like 'assets:in\_transit:%' group by e.asset order by e.asset limit 1
    ) as paid on true
    join asset pa on pa.key = paid.asset
    -- Of more assets than one nothing is added up.
    left join lateral (
      select min(t.asset) as asset,
        sum(case when t.credit = 'equity:conversion' then t.amount else -t.amount end) as amount
      from ledger_transfer t
      where t.journal_id = j.id and t.recorded_at = j.recorded_at
        and 'equity:conversion' in (t.debit, t.credit)
        and t.debit not like 'assets:in\_transit:%' and t.credit not like 'assets:in\_transit:%'
      having count(distinct t.asset) = 1
    ) as delivered on true
    left join asset da on da.key = delivered.asset
    left join lateral (
      select r.event_at from ledger_journal r
      where r.transfer = j.transfer and r.kind = 'deposit'
      order by exists (select from ledger_journal b where b.reverses = r.id), r.id desc limit 1
    ) as receipt on true
    left join valuation_in_force as rule on true
    left join lateral (
      select p.price, p.at as price_at, p.source from price p
      where p.asset = paid.asset and p.currency = rule.currency and p.at <= receipt.event_at and p.at >= receipt.event_at - rule.max_age
      order by p.at desc, p.id desc limit 1
    ) as pp on true
    left join lateral (
      select p.price, p.at as price_at, p.source from price p
      where p.asset = delivered.asset and p.currency = rule.currency and p.at <= j.event_at and p.at >= j.event_at - rule.max_age
      order by p.at desc, p.id desc limit 1
    ) as dp on true
  where coalesce(o.kind, j.kind) = 'settlement';
