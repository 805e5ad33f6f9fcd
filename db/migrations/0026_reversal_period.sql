-- What takes a journal back stands in no month before that of the journal, also where its own month was opened again
-- meanwhile: a month that is closed would hold the one without the other.
create or replace function refuse_shut_period() returns trigger language plpgsql as $$
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
      and not (added.kind in ('manual', 'reversal') and added.deposit_id is null
        and added.period = public.ledger_period_for(earliest.event_at, true))
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
