-- What the database refuses to book, also from the daemon itself. Names are qualified, because a table of the session would
-- be found before them.

-- A journal is complete when its transaction commits: no leg is added later.
create function refuse_late_transfer() returns trigger language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
declare
  is_unknown boolean;
  is_late boolean;
  is_other boolean;
  takes_back boolean;
begin
  -- By its key, one by one: a plan is kept for long, and one that read all journals would be kept while they grow.
  select bool_or(journal.id is null), bool_or(journal.xmin <> pg_current_xact_id()::xid),
    bool_or(added.event_at <> journal.event_at or added.recorded_at <> journal.recorded_at
      or added.period <> journal.period),
    bool_or(journal.reverses is not null)
  into is_unknown, is_late, is_other, takes_back
  from added left join lateral (
    select j.id, j.xmin, j.event_at, j.recorded_at, j.period, j.reverses
    from public.ledger_journal j where j.id = added.journal_id limit 1
  ) as journal on true;
  if is_unknown then
    raise exception 'ledger_transfer: the journal does not exist'
      using errcode = 'foreign_key_violation', constraint = 'ledger_transfer_journal_id_fkey';
  elsif is_late then
    raise exception 'ledger_transfer: the journal is already booked; post a new one';
  elsif is_other then
    raise exception 'ledger_transfer: times and period differ from those of the journal';
  elsif exists (
    select from (select debit as id, asset from added union select credit, asset from added) as side
    where not exists (
      select from public.ledger_account a where a.id = side.id and a.asset = side.asset
    )
  ) then
    raise exception 'ledger_transfer: an account does not exist in that asset'
      using errcode = 'foreign_key_violation', constraint = 'ledger_transfer_debit_asset_fkey';
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
    raise exception 'ledger_transfer: a leg does not mirror a leg of the reversed journal';
  end if;
  return null;
end
$$;

-- Triggers of the partitioned table do not see a statement that names a partition, so each partition has them too.
create function guard_ledger_transfers(part regclass) returns void language plpgsql as $$
begin
  execute format('create trigger ledger_transfer_append_only before update or delete or truncate on %s
    for each statement execute function public.refuse_change()', part);
  execute format('create trigger ledger_transfer_late after insert on %s
    referencing new table as added for each statement execute function public.refuse_late_transfer()', part);
end
$$;

select guard_ledger_transfers('ledger_transfer');
select guard_ledger_transfers('ledger_transfer_default');

-- Makes the missing partitions of this month and of the months after it, and returns how many it made. Rows of a month that
-- are in the default partition already stay there, and that month gets none.
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

-- A reversal mirrors the journal it reverses: same legs, same amounts, sides exchanged. A reversal is not reversed. Nor is a
-- journal of the same transaction, which could still get another leg.
create function check_reversal() returns trigger language plpgsql as $$
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

create constraint trigger ledger_journal_reversal after insert on ledger_journal
  deferrable initially deferred for each row when (new.reverses is not null) execute function check_reversal();

-- A transaction with an old snapshot would not see that a month was closed since it began.
create function refuse_old_snapshot() returns trigger language plpgsql as $$
begin
  if current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
    raise exception '%: this isolation level does not see which months are closed', tg_table_name
      using errcode = 'invalid_transaction_state', hint = 'Use read committed.';
  end if;
  return null;
end
$$;

create trigger ledger_journal_fresh before insert on ledger_journal
  for each statement execute function refuse_old_snapshot();

-- If a month is closed while a booking is under way, the booking fails and is repeated for the next month. A reversal is in
-- no month before that of its journal: otherwise a closed month could hold one without the other. Nothing is recorded
-- on a day that has a snapshot, which a clock that was set back could attempt.
create function refuse_shut_period() returns trigger language plpgsql as $$
begin
  if exists (
    select from added
      left join public.ledger_journal original on original.id = added.reverses
      cross join lateral (
        select greatest(added.event_at, original.period::timestamp at time zone 'UTC') as event_at
      ) as earliest
    where (added.period <> public.ledger_month(earliest.event_at)
        or exists (select from public.ledger_period p where p.period >= added.period and p.state <> 'open'))
      and added.period <> public.ledger_period_for(earliest.event_at)
      and not (added.kind in ('manual', 'opening', 'reversal') and added.transfer is null
        and added.period = public.ledger_period_for(earliest.event_at, true))
  ) then
    raise exception 'ledger_journal: the period is closed, or does not fit the time'
      using errcode = 'serialization_failure', hint = 'Book the journal again: it then goes to the next open period.';
  elsif exists (
    select from added
    where recorded_at < (select (max(recorded) + 1)::timestamp at time zone 'UTC' from public.ledger_snapshot_day)
  ) then
    raise exception 'ledger_journal: the day of recording already has a snapshot'
      using errcode = 'object_not_in_prerequisite_state', hint = 'Correct the clock of the database.';
  end if;
  return null;
end
$$;

create trigger ledger_journal_period after insert on ledger_journal
  referencing new table as added for each statement execute function refuse_shut_period();

-- A journal and its transfers are written by one statement. The clocks of chains may be ahead by a quarter of an hour.
create function refuse_bad_journal() returns trigger language plpgsql as $$
begin
  -- One by one, as in refuse_late_transfer. Only a journal that lost its transfers is reversed without any.
  if exists (
    select from added where (
      select t.leg from public.ledger_transfer t
      where t.journal_id = added.id and t.recorded_at = added.recorded_at limit 1
    ) is null and (
      added.reverses is null
      or (select t.leg from public.ledger_transfer t where t.journal_id = added.reverses limit 1) is not null
    )
  ) then
    raise exception 'ledger_journal: it has no transfers' using hint = 'Write journal and transfers in one statement.';
  elsif exists (select from added where event_at > clock_timestamp() + interval '15 minutes') then
    raise exception 'ledger_journal: its time is more than 15 minutes ahead'
      using hint = 'Check the clock of the database, and the nodes of the network.';
  end if;
  return null;
end
$$;

create trigger ledger_journal_whole after insert on ledger_journal
  referencing new table as added for each statement execute function refuse_bad_journal();

-- A manual journal and an opening have a reason and two people, and so have their reversals. Other journals have them if a
-- restore of the books wrote them. A reversal concerns the same deposit and payment as its journal.
create function check_manual_journal() returns trigger language plpgsql as $$
declare
  original constant public.ledger_journal := (select j from public.ledger_journal j where j.id = new.reverses);
begin
  if coalesce(original.kind, new.kind) in ('manual', 'opening')
    and not exists (select from public.manual_journal where journal_id = new.id and approved_by is not null)
  then
    raise exception 'journal %: a journal by hand needs a reason and two people', new.id;
  end if;
  if new.kind = 'reversal' and (new.deposit_id, new.transfer) is distinct from (original.deposit_id, original.transfer) then
    raise exception 'journal % concerns another deposit or payment than journal %, which it reverses', new.id, new.reverses;
  end if;
  return null;
end
$$;

create constraint trigger ledger_journal_by_hand after insert on ledger_journal
  deferrable initially deferred for each row when (new.kind in ('manual', 'opening', 'reversal'))
  execute function check_manual_journal();

-- A reason is written with its journal and never added later.
create function check_manual_reason() returns trigger language plpgsql as $$
begin
  if exists (
    select from added join public.ledger_journal journal on journal.id = added.journal_id
    where journal.xmin <> pg_current_xact_id()::xid
  ) then
    raise exception 'manual_journal: the journal was already booked';
  end if;
  return null;
end
$$;

-- What an opening cost is stated with it.
create function check_opening_lots() returns trigger language plpgsql as $$
begin
  if exists (
    select from added join public.ledger_journal journal on journal.id = added.journal_id
    where journal.kind <> 'opening' or journal.xmin <> pg_current_xact_id()::xid
  ) then
    raise exception 'opening_lot: the journal is no opening, or was already booked';
  end if;
  return null;
end
$$;

create trigger opening_lot_with_journal after insert on opening_lot
  referencing new table as added for each statement execute function check_opening_lots();

create trigger manual_journal_about after insert on manual_journal
  referencing new table as added for each statement execute function check_manual_reason();

-- A write-off follows from the newest decision of a person, which the daemon cannot store: it is of that asset and account,
-- of that amount at most, and stands once.
create function is_write_off_decided(booked_id bigint, written_off text) returns boolean language sql stable as $$
  select exists (
    select from (
      select said -> 'verdict' as verdict
      from public.chain_transfer payment
        join public.evidence on evidence.inbox_id = payment.inbox_id
        join public.evidence decided on decided.group_id = evidence.group_id
        join public.inbox on inbox.id = decided.inbox_id and inbox.source = 'person'
        cross join lateral (select convert_from(inbox.body, 'UTF8')::jsonb as said) as body
      where payment.transfer = written_off
        and said #>> '{verdict,kind}' in ('write_off', 'write_off_withdrawn')
        and concat_ws('/', said ->> 'network', said ->> 'tx', said ->> 'index') = written_off
      order by said ->> 'receivedAt' desc, inbox.source_key collate "C" desc limit 1
    ) as newest
    where verdict ->> 'kind' = 'write_off' and not exists (
      select from public.ledger_transfer t
      where t.journal_id = booked_id and (t.leg > 1 or t.asset <> verdict ->> 'asset'
        or t.amount > (verdict ->> 'amount')::numeric
        or (verdict ->> 'account' <> 'owner' and t.debit <> verdict ->> 'account')))
  ) and not exists (
    select from public.ledger_journal other
    where other.transfer = written_off and other.kind = 'write_off' and other.id <> booked_id
      and not exists (select from public.ledger_journal undone where undone.reverses = other.id)
  )
$$;

create function check_write_off() returns trigger language plpgsql as $$
begin
  if not public.is_write_off_decided(new.id, new.transfer) then
    raise exception 'journal %: no person decided to write off % like this', new.id, new.transfer;
  end if;
  return null;
end
$$;

create constraint trigger ledger_journal_write_off after insert on ledger_journal
  deferrable initially deferred for each row when (new.kind = 'write_off') execute function check_write_off();
