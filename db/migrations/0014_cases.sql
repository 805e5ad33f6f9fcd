-- Case work: what people do about mismatches. A mismatch holds until the evidence clears it; a person can resolve it
-- before, with a reason, and it stays resolved until its evidence changes. It is open while it is neither.
alter table mismatch
  add column assigned_to text check (assigned_to <> ''),
  add column snoozed_until timestamptz,
  add column resolved_at timestamptz,
  add column resolved_by text check (resolved_by <> ''),
  add column resolved_reason text check (resolved_reason <> ''),
  add constraint mismatch_resolved_check
    check (num_nulls(resolved_at, resolved_by, resolved_reason) in (0, 3));

-- Who did what about a mismatch, and why. The columns above follow from it, and are written together with it.
create table mismatch_event (
  id bigint generated always as identity primary key,
  mismatch_id bigint not null references mismatch,
  at timestamptz not null default now(),
  -- A name, `policy`, or `depositd` where evidence did it.
  actor text not null check (actor <> ''),
  action text not null check (action in ('assigned', 'commented', 'snoozed', 'resolved', 'reopened',
    'written_off', 'write_off_withdrawn', 'matched', 'split')),
  -- The comment, or the reason.
  text text check (text <> ''),
  -- The second person, where one was asked for.
  approved_by text,
  before jsonb,
  after jsonb,
  check (action in ('assigned', 'snoozed') or text is not null),
  check (lower(approved_by) <> lower(actor))
);

create index mismatch_event_mismatch_id on mismatch_event (mismatch_id);

create trigger mismatch_event_append_only before update or delete or truncate on mismatch_event
  for each statement execute function refuse_change();

-- What was decided on a command line, and no daemon has counted and logged yet. A table of its own, so that events are
-- never updated.
create table mismatch_event_pending (
  event_id bigint primary key references mismatch_event
);

grant select, insert on mismatch_event to depositd_daemon;
grant select, insert, update, delete on mismatch_event_pending to depositd_daemon;
grant usage on all sequences in schema public to depositd_daemon;

-- A payment that is written off leaves transit without a delivery.
alter table ledger_journal drop constraint ledger_journal_kind_check;
alter table ledger_journal add constraint ledger_journal_kind_check
  check (kind in ('deposit', 'settlement', 'write_off', 'reversal'));
create index ledger_journal_write_off on ledger_journal (deposit_id) where kind = 'write_off';

-- What is open, in one place for all who count it. `stake` names the transfer at stake, so that one which several
-- mismatches are about is counted once: a claim that was given no transfer is about the one that it names.
create view open_mismatch as
  select m.id, m.subject, m.kind, m.severity, m.deposit_id, m.network, m.asset, m.value, m.detail, m.opened_at,
    m.assigned_to, m.snoozed_until,
    coalesce(d.transfer,
      (select min(o.transfer) from deposit o
        where o.tx = d.tx and o.network = d.network and o.address = d.address and o.asset = d.asset),
      substring(m.subject from '^transfer/(.*)$'), m.subject) as stake
  from mismatch m left join deposit d on d.id = m.deposit_id
  where m.cleared_at is null and m.resolved_at is null;

comment on view open_mismatch is 'Every mismatch that holds and that nobody resolved, also while it is snoozed.';

grant select on open_mismatch to depositd_daemon;

create or replace view accounting.mismatches as
  select m.id, m.kind, m.severity, m.deposit_id, m.subject, m.network, a.symbol as asset_symbol, m.asset,
    accounting.in_units(m.value, a.decimals) as amount, m.value as amount_base, m.detail,
    m.opened_at, m.cleared_at, m.cleared_how,
    coalesce(least(m.resolved_at, m.cleared_at), now()) - m.opened_at as age,
    case when m.cleared_at is not null then 'cleared'
      when m.resolved_at is not null then 'resolved'
      when m.snoozed_until > now() then 'snoozed'
      else 'open' end as status,
    m.assigned_to, m.snoozed_until, m.resolved_at, m.resolved_by, m.resolved_reason as reason
  from mismatch m left join asset a on a.key = m.asset;

comment on view accounting.mismatches is 'Every mismatch that was ever opened; its status says whether it is open.';
comment on column accounting.mismatches.cleared_at is 'When the evidence held it no more; empty until then.';
comment on column accounting.mismatches.age is 'From opened_at until it was resolved or cleared, or to now while open.';
comment on column accounting.mismatches.status is 'open; snoozed: open, and looked at later; resolved: by a person; cleared: by evidence.';
comment on column accounting.mismatches.assigned_to is 'Who looks after it.';
comment on column accounting.mismatches.snoozed_until is 'When it is to be looked at again.';
comment on column accounting.mismatches.resolved_at is 'When a person resolved it; empty once new evidence or a person opened it again.';
comment on column accounting.mismatches.resolved_by is 'Who resolved it.';
comment on column accounting.mismatches.reason is 'Why it was resolved.';

create view accounting.mismatch_history as
  select m.id as mismatch_id, m.opened_at as at, 'depositd' as actor, 'opened' as action, null as text,
    null as approved_by, null::jsonb as before, null::jsonb as after
  from mismatch m
  union all
  select mismatch_id, at, actor, action, text, approved_by, before, after from mismatch_event
  union all
  select m.id, m.cleared_at, 'depositd', 'cleared', null, null, null, null
  from mismatch m where m.cleared_at is not null;

comment on view accounting.mismatch_history is 'What became of each mismatch: opened, everything that was done about it, cleared. It is only ever added to.';
comment on column accounting.mismatch_history.mismatch_id is 'Number of the mismatch.';
comment on column accounting.mismatch_history.at is 'When it was done.';
comment on column accounting.mismatch_history.actor is 'Who did it, by the name that was given; depositd where evidence did.';
comment on column accounting.mismatch_history.action is 'opened, assigned, commented, snoozed, resolved, reopened, written_off, write_off_withdrawn, matched, split or cleared.';
comment on column accounting.mismatch_history.text is 'The comment, or the reason.';
comment on column accounting.mismatch_history.approved_by is 'The second person, where one was asked for.';
comment on column accounting.mismatch_history.before is 'What it changed, as it was before.';
comment on column accounting.mismatch_history.after is 'What it changed, as it was then; of a decision about money, what was decided.';

create view accounting.mismatch_ageing as
  select kind, severity, a.symbol as asset_symbol, asset, bucket, from_age,
    sum(mismatches)::bigint as mismatches, accounting.in_units(sum(value), a.decimals) as amount, sum(value) as amount_base
  from (
    select kind, severity, asset, stake, bucket, from_age, count(*) as mismatches, max(value) as value
    from open_mismatch cross join lateral (
      select bucket, from_age from (values
        ('< 1 h', interval '0'), ('< 24 h', interval '1 hour'), ('< 3 d', interval '24 hours'),
        ('< 7 d', interval '3 days'), ('< 30 d', interval '7 days'), ('older', interval '30 days')
      ) as buckets (bucket, from_age)
      where from_age <= greatest(now() - opened_at, interval '0') order by from_age desc limit 1
    ) as aged
    group by kind, severity, asset, stake, bucket, from_age
  ) as stakes left join asset a on a.key = asset
  group by kind, severity, a.symbol, a.decimals, asset, bucket, from_age;

comment on view accounting.mismatch_ageing is 'Open mismatches by how long they have been open. No row where there is none.';
comment on column accounting.mismatch_ageing.kind is 'What is wrong; docs/mismatches.md explains each kind.';
comment on column accounting.mismatch_ageing.severity is 'info, warning or severe.';
comment on column accounting.mismatch_ageing.asset_symbol is 'Label of the asset at stake.';
comment on column accounting.mismatch_ageing.asset is 'Asset at stake; empty where none is.';
comment on column accounting.mismatch_ageing.bucket is '< 1 h, < 24 h, < 3 d, < 7 d, < 30 d or older, each without those before it.';
comment on column accounting.mismatch_ageing.from_age is 'Least age in the bucket. Sort by it.';
comment on column accounting.mismatch_ageing.mismatches is 'How many are open.';
comment on column accounting.mismatch_ageing.amount is 'Value at stake, in units of the asset, each transfer once.';
comment on column accounting.mismatch_ageing.amount_base is 'Value at stake, in smallest units, each transfer once.';

create view accounting.value_at_risk as
  select a.symbol as asset_symbol, s.asset, s.severity, count(*) as transfers,
    accounting.in_units(sum(s.value), a.decimals) as amount, sum(s.value) as amount_base
  from (
    select distinct on (asset, stake) asset, stake, severity, value from open_mismatch
    where value is not null
    order by asset, stake, array_position(array['severe', 'warning', 'info'], severity), value desc
  ) as s join asset a on a.key = s.asset
  group by a.symbol, a.decimals, s.asset, s.severity;

comment on view accounting.value_at_risk is 'What open mismatches are about. A transfer that several are about is counted once, under the gravest of them.';
comment on column accounting.value_at_risk.asset_symbol is 'Label of the asset.';
comment on column accounting.value_at_risk.asset is 'Asset: network/contract, network/mint or network/native.';
comment on column accounting.value_at_risk.severity is 'info, warning or severe.';
comment on column accounting.value_at_risk.transfers is 'How many transfers, or claims of one.';
comment on column accounting.value_at_risk.amount is 'Their sum, in units of the asset.';
comment on column accounting.value_at_risk.amount_base is 'Their sum, in smallest units.';

grant select on accounting.mismatch_history, accounting.mismatch_ageing, accounting.value_at_risk
  to depositd_accountant, depositd_daemon;

comment on column accounting.journal.kind is 'deposit, settlement, write_off or reversal.';
