-- What accountants ask for: statements with the sign of the account's side, the trial balance of a month's books, and
-- exports and checks with a login that only reads.

-- On which side an account stands in a statement: 1 where debits make it more, -1 where credits do.
create function ledger_side_of(account text) returns integer language sql immutable parallel safe
  return case when split_part(account, ':', 1) in ('assets', 'expenses') then 1 else -1 end;

create or replace function accounting.statement(owner text, from_at timestamptz, to_at timestamptz)
returns table (
  line text, event_at timestamptz, recorded_at timestamptz, journal_id bigint, kind text, deposit_id bigint,
  account text, asset_symbol text, asset text, amount numeric, balance numeric, amount_base numeric, balance_base numeric
)
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  with own as (
    select account, asset, public.ledger_side_of(account) as side from public.ledger_accounts_of(owner)
  ), opening as (
    select o.account, o.asset, o.side * coalesce(t.debit - t.credit, 0) as amount
    from own o left join public.ledger_turnover(from_at - interval '1 microsecond', now()) t using (account, asset)
  ), lines as (
    select 1 as part, 'entry' as line, e.event_at, e.recorded_at, e.journal_id, e.leg, e.account, e.asset,
      o.side * e.amount as amount
    from public.ledger_entry e join own o using (account, asset)
    where e.event_at >= from_at and e.event_at < to_at
    union all
    select 0, 'opening', from_at, null, null, null, account, asset, amount from opening
    union all
    select 2, 'closing', to_at, null, null, null, account, asset, 0 from opening
  ), running as (
    select l.*, sum(amount) over (
      partition by account, asset order by part, event_at, journal_id, leg rows unbounded preceding
    ) as balance
    from lines l
  )
  select r.line, r.event_at, r.recorded_at, r.journal_id, j.kind, j.deposit_id, r.account, a.symbol, r.asset,
    case when r.part = 1 then accounting.in_units(r.amount, a.decimals) end, accounting.in_units(r.balance, a.decimals),
    case when r.part = 1 then r.amount end, r.balance
  from running r join public.asset a on a.key = r.asset left join public.ledger_journal j on j.id = r.journal_id
  order by r.account collate "C", r.asset collate "C", r.part, r.event_at, r.journal_id, r.leg
$$;

comment on function accounting.statement is
  'What an owner was credited and debited from from_at on and before to_at, of each of its accounts and assets: a line opening, a line entry for each side of a transfer, and a line closing. owner: the id of a channel or StableWallet, with its kind before it where both have that id, like channel:shop; or an account. amount and balance: in units of the asset, of assets and expenses debits positive, of liabilities, income and equity credits, so that what is owed to the owner is positive; amount_base and balance_base: in smallest units; kind and deposit_id: of the journal.';

-- Books of a month and of all before it. They are what happened up to its end, without what came late: that happened in
-- one of these months and stands in the books of a later one.
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

revoke execute on function accounting.trial_balance_of from public;
grant execute on function accounting.trial_balance_of to depositd_accountant, depositd_daemon;

-- What `ledger export`, `ledger seals export` and `ledger verify` read: the books, which the views show already, and of
-- deposits, owners and balances no more than these look at. A cut of the books keeps writers waiting, and stays with the
-- daemon.
grant select on ledger_journal, ledger_transfer, ledger_account, ledger_entry, manual_journal, asset, ledger_seal,
  ledger_period, ledger_period_event, ledger_period_balance, ledger_snapshot_day, ledger_snapshot, ledger_tie
  to depositd_accountant;
grant select (id, transfer, state, merged_into, owner_kind, owner_id) on deposit to depositd_accountant;
grant select (kind, id) on owner to depositd_accountant;
grant select (network, address) on balance_point to depositd_accountant;
grant execute on function ledger_turnover to depositd_accountant;
