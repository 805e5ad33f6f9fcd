-- What this program does to itself to see that the way is open: a webhook to its own public address, and a tiny deposit
-- of its own. Neither is evidence of a customer's money.

-- One row per canary: webhook, or deposit/NETWORK. Whoever moves started_at on is the one who runs it, so that several
-- schedulers never pay twice. One that the settings do not ask for any more is off; since tells when it was last put on, or
-- began to be paid to this owner.
create table canary (
  name text primary key check (name = 'webhook' or name like 'deposit/%'),
  is_on boolean not null default true,
  owner text,
  since timestamptz not null default now(),
  started_at timestamptz,
  succeeded_at timestamptz
);

-- Whose deposits are canaries. An owner that was one stays one, whatever becomes of the settings: what was paid to it
-- was never a customer's. Where that was an error, the owner of the database removes the row (docs/canary.md).
create table canary_owner (
  kind text not null check (kind in ('channel', 'stable_wallet')),
  id text not null,
  since timestamptz not null default now(),
  primary key (kind, id)
);

-- A webhook of ours is known by a token that was given out for it, of which only the hash is kept. Old rows are removed.
create table canary_webhook (
  token_sha256 bytea primary key check (length(token_sha256) = 32),
  sent_at timestamptz not null default now(),
  received_at timestamptz
);

-- A row is written before anything is paid, and has its transaction before that is sent: what became of a payment is
-- known even where the process ended in between.
create table canary_deposit (
  id bigint generated always as identity primary key,
  network text not null,
  asset text not null references asset,
  amount numeric(78, 0) not null check (amount > 0),
  address text not null,
  started_at timestamptz not null default now(),
  tx text,
  outcome text check (outcome in ('reconciled', 'late', 'unpaid')),
  reconciled_at timestamptz,
  unique (network, tx)
);

create index canary_deposit_open on canary_deposit (network, started_at) where reconciled_at is null;

-- Deposits of one owner.
create index deposit_owner on deposit (owner_kind, owner_id, id) where merged_into is null;

grant select, insert, update on canary, canary_deposit to depositd_daemon;
grant select, insert on canary_owner to depositd_daemon;
grant select, insert, update, delete on canary_webhook to depositd_daemon;

-- Accountants see canaries named apart: the money is real and in the books, under accounts of its own.
create or replace view accounting.deposits as
  select r.*,
    exists (select from canary_owner c where c.kind = r.owner_kind and c.id = r.owner_id) as is_canary
  from deposit_report r where r.state <> 'ignored';

comment on column accounting.deposits.is_canary is
  'Whether it is a payment of ours to ourselves, made to see that the way is open; no customer''s.';

create or replace view accounting.daily_totals as
  select t.day, d.owner_kind, d.owner_id, a.network, a.symbol as asset_symbol, t.asset,
    sum(t.deposits)::bigint as deposits,
    accounting.in_units(sum(t.came_in), a.decimals) as amount, sum(t.came_in) as amount_base,
    accounting.in_units(sum(t.unclaimed), a.decimals) as unclaimed, sum(t.unclaimed) as unclaimed_base,
    sum(t.settlements)::bigint as settlements,
    accounting.in_units(sum(t.settled), a.decimals) as settled, sum(t.settled) as settled_base,
    accounting.in_units(sum(t.otherwise), a.decimals) as otherwise, sum(t.otherwise) as otherwise_base,
    c.id is not null as is_canary
  from (
    select (event_at at time zone 'UTC')::date as day, deposit_id, asset,
      case when kind <> 'deposit' then 0 when is_reversal then -1 else 1 end as deposits,
      case when kind <> 'settlement' then 0 when is_reversal then -1 else 1 end as settlements,
      case when kind = 'deposit' then amount else 0 end as came_in,
      case when kind = 'deposit' and contra = 'liabilities:suspense' then amount else 0 end as unclaimed,
      case when kind = 'settlement' then -amount else 0 end as settled,
      case when kind not in ('deposit', 'settlement') then -amount else 0 end as otherwise
    from ledger_transit
  ) as t
    join asset a on a.key = t.asset
    left join deposit d on d.id = t.deposit_id
    left join canary_owner c on c.kind = d.owner_kind and c.id = d.owner_id
  group by t.day, d.owner_kind, d.owner_id, a.network, a.symbol, a.decimals, t.asset, c.id
  having sum(t.deposits) <> 0 or sum(t.settlements) <> 0
    or sum(t.came_in) <> 0 or sum(t.settled) <> 0 or sum(t.otherwise) <> 0;

comment on column accounting.daily_totals.is_canary is
  'Whether the owner is one of ours, whose deposits are canaries; no customer.';

-- How the service did for customers: canaries are too small and too regular to be counted among them.
create or replace function accounting.scorecard_between(from_at timestamptz, to_at timestamptz)
returns table (
  scope text, network text, asset_symbol text, asset text,
  settlement_network text, settlement_asset_symbol text, settlement_asset text,
  deposits bigint, settled bigint, steps_known bigint, steps_told bigint, completeness numeric,
  webhooks bigint, duplicates bigint,
  delivery_p50_seconds float8, delivery_p95_seconds float8, delivery_p99_seconds float8,
  settle_p50_seconds float8, settle_p95_seconds float8, settle_p99_seconds float8,
  paid numeric, delivered numeric, fee numeric, fee_share numeric, delivered_per_paid numeric
)
language sql stable security definer set search_path = public, pg_temp
as $$
  with chosen as (
    select * from deposit d
    where d.merged_into is null and d.state <> 'ignored'
      and coalesce(d.deposited_at, least(d.webhook_at, d.api_at)) >= from_at
      and coalesce(d.deposited_at, least(d.webhook_at, d.api_at)) < to_at
      and not exists (select from canary_owner c where c.kind = d.owner_kind and c.id = d.owner_id)
  ), message as (
    select c.asset, c.settlement_asset, coalesce(r.count, 0) as repeats,
      greatest(extract(epoch from i.received_at - (e.observation ->> 'occurredAt')::timestamptz), 0)::float8 as lag
    from chosen c
      join evidence e on e.group_id = c.group_id and e.observation ->> 'serviceId' = c.service_id
      join inbox i on i.id = e.inbox_id and i.source = 'webhook'
      left join webhook_repeat r on r.inbox_id = i.id
  ), told as (
    select grouping(asset) as is_all, asset, settlement_asset, count(*) as webhooks, sum(repeats)::bigint as duplicates,
      percentile_cont(array[0.5, 0.95, 0.99]) within group (order by lag) as lag
    from message group by grouping sets ((), (asset, settlement_asset))
  ), done as (
    select grouping(asset) as is_all, asset, settlement_asset, count(*) as deposits, count(settled_at) as settled,
      sum(steps_known)::bigint as steps_known, sum(steps_told)::bigint as steps_told,
      percentile_cont(array[0.5, 0.95, 0.99]) within group (
        order by greatest(extract(epoch from settled_at - final_at), 0)::float8
      ) filter (where settled_at is not null and final_at is not null) as settle,
      sum(amount) filter (where settled_at is not null) as paid,
      sum(settlement_amount) filter (where settled_at is not null) as delivered,
      sum(fee_amount) filter (where settled_at is not null) as fee,
      sum(settlement_amount + fee_amount) filter (where settled_at is not null) as before_fee
    from chosen group by grouping sets ((), (asset, settlement_asset))
  )
  select case when done.is_all = 1 then 'service' else 'route' end,
    a.network, a.symbol, done.asset, s.network, s.symbol, done.settlement_asset,
    done.deposits, done.settled, coalesce(done.steps_known, 0), coalesce(done.steps_told, 0),
    done.steps_told::numeric / nullif(done.steps_known, 0),
    coalesce(told.webhooks, 0), coalesce(told.duplicates, 0),
    told.lag[1], told.lag[2], told.lag[3], done.settle[1], done.settle[2], done.settle[3],
    accounting.in_units(done.paid, a.decimals), accounting.in_units(done.delivered, s.decimals),
    accounting.in_units(done.fee, s.decimals),
    case when s.key is not null then done.fee / nullif(done.before_fee, 0) end,
    accounting.in_units(done.delivered, s.decimals) / nullif(accounting.in_units(done.paid, a.decimals), 0)
  from done
    left join told on told.is_all = done.is_all and told.asset is not distinct from done.asset
      and told.settlement_asset is not distinct from done.settlement_asset
    left join asset a on a.key = done.asset
    left join asset s on s.key = done.settlement_asset
  order by done.is_all desc, a.network, a.symbol, s.network, s.symbol
$$;
