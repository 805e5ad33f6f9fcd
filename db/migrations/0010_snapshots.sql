-- Sums of days that are over, so that a balance as of any time of events and any time of recording is read from few rows.
-- They can be made again from the transfers, and `ledger verify` does so.

-- Days of recording, in UTC, that have a snapshot, without a gap since the first. A day gets one when nothing can be
-- recorded on it any more.
create table ledger_snapshot_day (
  recorded date primary key,
  -- The cut after which the day was over.
  cut_at timestamptz not null,
  made_at timestamptz not null default clock_timestamp()
);

-- Turnover of each account, by day or month of recording and, within it, by day or month of the event.
create table ledger_snapshot (
  span text not null check (span in ('day', 'month')),
  recorded date not null,
  event date not null,
  account text not null,
  asset text not null,
  debit numeric not null check (debit >= 0),
  credit numeric not null check (credit >= 0),
  primary key (span, recorded, event, account, asset),
  constraint ledger_snapshot_is_number check (debit < 'Infinity' and credit < 'Infinity')
);

create index ledger_snapshot_event on ledger_snapshot (event) where span = 'day';
create index ledger_snapshot_account on ledger_snapshot (account, span);

create trigger ledger_snapshot_day_append_only before update or delete or truncate on ledger_snapshot_day
  for each statement execute function refuse_change();
create trigger ledger_snapshot_append_only before update or delete or truncate on ledger_snapshot
  for each statement execute function refuse_change();

-- Turnover of one day of recording, from its transfers.
create function ledger_turnover_of(day date)
returns table (event date, account text, asset text, debit numeric, credit numeric) language sql stable as $$
  select (e.event_at at time zone 'UTC')::date, e.account, e.asset,
    coalesce(sum(e.amount) filter (where e.amount > 0), 0), coalesce(-sum(e.amount) filter (where e.amount < 0), 0)
  from public.ledger_entry e
  where e.recorded_at >= day::timestamp at time zone 'UTC' and e.recorded_at < (day + 1)::timestamp at time zone 'UTC'
  group by 1, 2, 3
$$;

-- Turnover of one month of recording, from its days.
create function ledger_month_turnover_of(month date)
returns table (event date, account text, asset text, debit numeric, credit numeric) language sql stable as $$
  select date_trunc('month', s.event::timestamp)::date, s.account, s.asset, sum(s.debit), sum(s.credit)
  from public.ledger_snapshot s
  where s.span = 'day' and s.recorded >= month and s.recorded < (month + interval '1 month')::date
  group by 1, 2, 3
$$;

-- Makes the snapshot of the next day that was over at the newest cut, and with the last day of a month that of the month.
-- Returns the day, or null if none is left. The ten minutes allow for a clock that is set back.
create function make_ledger_snapshot() returns date
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  newest constant timestamptz := (select c.cut_at from public.ledger_last_cut c);
  over constant date := ((least(newest, now()) - interval '10 minutes') at time zone 'UTC')::date;
  this date;
begin
  if current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
    raise exception 'make_ledger_snapshot: this isolation level does not see the newest bookings'
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

-- Differences between the snapshots of a day, or of the month that it ends, and what they were made from.
create function ledger_snapshot_faults(day date)
returns table (span text, event date, account text, asset text, kept numeric[], found numeric[]) language sql stable as $$
  with kept as (
    select span, event, account, asset, array[debit, credit] as sums from public.ledger_snapshot s
    where (s.span = 'day' and s.recorded = day)
      or (s.span = 'month' and extract(day from day + 1) = 1 and s.recorded = date_trunc('month', day::timestamp)::date)
  ), found as (
    select 'day' as span, event, account, asset, array[debit, credit] as sums from public.ledger_turnover_of(day)
    union all
    select 'month', event, account, asset, array[debit, credit]
    from public.ledger_month_turnover_of(date_trunc('month', day::timestamp)::date)
    where extract(day from day + 1) = 1
  )
  select span, event, account, asset, kept.sums, found.sums
  from kept full join found using (span, event, account, asset)
  where kept.sums is distinct from found.sums
$$;

-- Turnover of each account up to a time of events and a time of recording: whole months and days come from snapshots, the
-- rest, which is one day of events and the days without a snapshot, from transfers. With only_accounts, of these, found by
-- their index: each call has a plan of its own.
create function ledger_turnover(as_of timestamptz, recorded_as_of timestamptz, only_accounts text[] default null)
returns table (account text, asset text, debit numeric, credit numeric)
language plpgsql stable security definer set search_path = pg_catalog, public, pg_temp
set plan_cache_mode = force_custom_plan as $$
#variable_conflict use_column
declare
  days_over constant date := coalesce((select max(recorded) + 1 from public.ledger_snapshot_day), '-infinity');
  event_day constant date := (as_of at time zone 'UTC')::date;
  recorded_day constant date := least(days_over, (recorded_as_of at time zone 'UTC')::date);
  event_month constant date := date_trunc('month', event_day::timestamp)::date;
  recorded_month constant date := date_trunc('month', recorded_day::timestamp)::date;
  event_from constant timestamptz := event_day::timestamp at time zone 'UTC';
  recorded_from constant timestamptz := recorded_day::timestamp at time zone 'UTC';
begin
  return query
  select part.account, part.asset, sum(part.debit), sum(part.credit)
  from (
    select s.account, s.asset, s.debit, s.credit from public.ledger_snapshot s
    where s.span = 'month' and s.recorded < recorded_month and s.event < event_month
      and (only_accounts is null or s.account = any(only_accounts))
    union all
    select s.account, s.asset, s.debit, s.credit from public.ledger_snapshot s
    where s.span = 'day' and s.recorded < recorded_month and s.event >= event_month and s.event < event_day
      and (only_accounts is null or s.account = any(only_accounts))
    union all
    select s.account, s.asset, s.debit, s.credit from public.ledger_snapshot s
    where s.span = 'day' and s.recorded >= recorded_month and s.recorded < recorded_day and s.event < event_day
      and (only_accounts is null or s.account = any(only_accounts))
    union all
    select side.account, t.asset, side.debit, side.credit
    from (
      select t.debit, t.credit, t.asset, sum(t.amount) as amount from (
        select t.debit, t.credit, t.asset, t.amount from public.ledger_transfer t
        where t.recorded_at >= recorded_from and t.recorded_at <= recorded_as_of and t.event_at <= as_of
          and (only_accounts is null or t.debit = any(only_accounts) or t.credit = any(only_accounts))
        union all
        select t.debit, t.credit, t.asset, t.amount from public.ledger_transfer t
        where t.event_at >= event_from and t.event_at <= as_of and t.recorded_at < recorded_from
          and (only_accounts is null or t.debit = any(only_accounts) or t.credit = any(only_accounts))
      ) as t group by 1, 2, 3
    ) as t
      cross join lateral (values (t.debit, t.amount, 0), (t.credit, 0, t.amount)) as side (account, debit, credit)
  ) as part
  where only_accounts is null or part.account = any(only_accounts)
  group by part.account, part.asset;
end
$$;

create function accounting.trial_balance(as_of timestamptz, recorded_as_of timestamptz default now())
returns table (
  account text, code text, asset_symbol text, asset text, debit numeric, credit numeric, balance numeric,
  debit_base numeric, credit_base numeric, balance_base numeric
)
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select t.account, public.ledger_account_code(t.account), a.symbol, t.asset,
    accounting.in_units(t.debit, a.decimals), accounting.in_units(t.credit, a.decimals),
    accounting.in_units(t.debit - t.credit, a.decimals), t.debit, t.credit, t.debit - t.credit
  from public.ledger_turnover(as_of, recorded_as_of) t join public.asset a on a.key = t.asset
  order by t.asset collate "C", t.account collate "C"
$$;

comment on function accounting.trial_balance is
  'Each account and asset: all that was debited and credited up to as_of, as far as it was recorded by recorded_as_of, and the difference. account; code: as other books call it; asset_symbol and asset: its label and key; debit, credit, balance: in units of the asset, debit balances positive; debit_base, credit_base, balance_base: the same in base units.';

-- The books of a month and of all before it: what happened up to its end, without late journals, which happened in these
-- months and are in the books of a later one.
create function accounting.trial_balance_of(month date, recorded_as_of timestamptz default now())
returns table (
  account text, code text, asset_symbol text, asset text, debit numeric, credit numeric, balance numeric,
  debit_base numeric, credit_base numeric, balance_base numeric
)
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  with bound as (
    select date_trunc('month', month::timestamp)::date as last,
      (date_trunc('month', month::timestamp) + interval '1 month') at time zone 'UTC' as ends
  ), late as (
    select side.account, t.asset, side.debit, side.credit
    from bound
      join public.ledger_journal j on j.period > bound.last and j.period <> public.ledger_month(j.event_at)
        and j.event_at < bound.ends and j.recorded_at <= recorded_as_of
      join public.ledger_transfer t on t.journal_id = j.id and t.recorded_at = j.recorded_at
      cross join lateral (values (t.debit, -t.amount, 0), (t.credit, 0, -t.amount)) as side (account, debit, credit)
  ), happened as (
    select t.account, t.asset, t.debit, t.credit
    from bound cross join lateral public.ledger_turnover(bound.ends - interval '1 microsecond', recorded_as_of) t
  ), turnover as (
    select part.account, part.asset, sum(part.debit) as debit, sum(part.credit) as credit
    from (select * from happened union all select * from late) as part
    group by 1, 2 having sum(part.debit) <> 0 or sum(part.credit) <> 0
  )
  select t.account, public.ledger_account_code(t.account), a.symbol, t.asset,
    accounting.in_units(t.debit, a.decimals), accounting.in_units(t.credit, a.decimals),
    accounting.in_units(t.debit - t.credit, a.decimals), t.debit, t.credit, t.debit - t.credit
  from turnover t join public.asset a on a.key = t.asset
  order by t.asset collate "C", t.account collate "C"
$$;

comment on function accounting.trial_balance_of is
  'Each account and asset: all that was debited and credited in the books of that month and of all before it, as accounting.period_balances freezes it, as far as it was recorded by recorded_as_of. month: any day of it. The columns are those of accounting.trial_balance.';

-- The accounts of an owner: those of the classes liabilities, income and equity that end with its kind and id. An owner may
-- be given with its kind, as in channel:shop; an account stands for itself.
create function ledger_accounts_of(owner text) returns table (account text, asset text)
language sql stable as $$
  select a.id, a.asset from public.ledger_account a
  where a.id = owner
    or (a.id ~ '^(liabilities|income|equity):'
      and (right(a.id, length(owner) + 9) = ':channel:' || owner
        or right(a.id, length(owner) + 15) = ':stable_wallet:' || owner
        or (owner ~ '^(channel|stable_wallet):' and right(a.id, length(owner) + 1) = ':' || owner)))
$$;

-- The side of an account in a statement: 1 if debits increase it, -1 if credits do.
create function ledger_side_of(account text) returns integer language sql immutable parallel safe
  return case when split_part(account, ':', 1) in ('assets', 'expenses') then 1 else -1 end;

-- The first entries of an account in the order of their time. Each side has a plan of its own, made for the account: many
-- entries are read in the order of time until there are enough, few by the index of the account.
create function ledger_entries_of(of_account text, of_asset text, from_at timestamptz, to_at timestamptz, entries_max bigint)
returns setof ledger_entry
language plpgsql stable set plan_cache_mode = force_custom_plan as $$
begin
  return query
  (select t.journal_id, t.leg, t.debit, t.asset, t.amount, t.event_at, t.recorded_at, t.period
    from public.ledger_transfer t
    where t.debit = of_account and t.asset = of_asset and t.event_at >= from_at and t.event_at < to_at
    order by t.event_at, t.journal_id, t.leg limit entries_max)
  union all
  (select t.journal_id, t.leg, t.credit, t.asset, -t.amount, t.event_at, t.recorded_at, t.period
    from public.ledger_transfer t
    where t.credit = of_account and t.asset = of_asset and t.event_at >= from_at and t.event_at < to_at
    order by t.event_at, t.journal_id, t.leg limit entries_max)
  order by 6, 1, 2 limit entries_max;
end
$$;

create function accounting.statement(owner text, from_at timestamptz, to_at timestamptz, entries_max bigint default null)
returns table (
  line text, event_at timestamptz, recorded_at timestamptz, journal_id bigint, kind text, deposit_id bigint,
  account text, asset_symbol text, asset text, amount numeric, balance numeric, amount_base numeric, balance_base numeric
)
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  with own as materialized (
    select account, asset, public.ledger_side_of(account) as side from public.ledger_accounts_of(owner)
  ), ends as (
    select 0 as part, 'opening' as line, from_at as at
    union all
    select 2, 'closing', to_at
  ), entries as (
    select o.account, o.asset, e.event_at, e.recorded_at, e.journal_id, e.leg, o.side * e.amount as amount
    from own o cross join lateral public.ledger_entries_of(o.account, o.asset, from_at, to_at, entries_max) e
  ), turnovers as materialized (
    select ends.part, t.account, t.asset, t.debit - t.credit as amount
    from ends cross join lateral public.ledger_turnover(ends.at - interval '1 microsecond', 'infinity',
      coalesce((select array_agg(distinct account) from own), '{}')) t
  ), balances as (
    select ends.part, ends.line, ends.at, o.account, o.asset, o.side * coalesce(t.amount, 0) as balance
    from ends cross join own o
      left join turnovers t on t.part = ends.part and t.account = o.account and t.asset = o.asset
  ), lines as (
    select part, line, at as event_at, null::timestamptz as recorded_at, null::bigint as journal_id, null::int as leg,
      account, asset, null::numeric as amount, balance
    from balances
    union all
    select 1, 'entry', e.event_at, e.recorded_at, e.journal_id, e.leg, account, asset, e.amount,
      o.balance + sum(e.amount) over (
        partition by account, asset order by e.event_at, e.journal_id, e.leg rows unbounded preceding
      )
    from entries e join balances o using (account, asset) where o.part = 0
  ), shown as (
    select *, bool_or(part = 1 or balance <> 0) over (partition by account, asset) as is_used,
      bool_or(part = 1 or balance <> 0) over () as is_any
    from lines
  )
  select r.line, r.event_at, r.recorded_at, r.journal_id, j.kind, j.deposit_id, r.account, a.symbol, r.asset,
    accounting.in_units(r.amount, a.decimals), accounting.in_units(r.balance, a.decimals), r.amount, r.balance
  from shown r join public.asset a on a.key = r.asset left join public.ledger_journal j on j.id = r.journal_id
  where r.is_used or not r.is_any
  order by r.account collate "C", r.asset collate "C", r.part, r.event_at, r.journal_id, r.leg
$$;

comment on function accounting.statement is
  'What an owner was credited and debited from from_at on and before to_at, of each of its accounts and assets: a line opening, a line entry for each side of a transfer, and a line closing; what has neither an opening balance nor an entry is left out, unless nothing has. owner: the id of a channel or StableWallet, with its kind before it where both have that id, like channel:shop; or an account. entries_max: how many entries of each account and asset are shown, the oldest first; the line closing counts all of them. amount and balance: in units of the asset, of assets and expenses debits positive, of liabilities, income and equity credits, so that what is owed to the owner is positive; amount_base and balance_base: in base units; kind and deposit_id: of the journal.';
