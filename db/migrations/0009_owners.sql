-- A claim names an owner; what the address book has for that owner is looked up with each.
create index address_book_owner on address_book (owner_kind, owner_id) where owner_id is not null;

-- Of the statuses that the API or the chain knows, how many there are and of how many a webhook told.
alter table deposit add column steps_known smallint not null default 0;
alter table deposit add column steps_told smallint not null default 0;

create index deposit_since on deposit (coalesce(deposited_at, least(webhook_at, api_at))) where merged_into is null;

-- How the service did with the deposits of a span: one row for all, and one per route, which is an asset paid and the
-- asset delivered for it. Amounts of different assets are never added up.
create function accounting.scorecard_between(from_at timestamptz, to_at timestamptz)
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

comment on function accounting.scorecard_between is
  'How the deposit service did with the deposits of a span, from from_at on and before to_at: columns as in accounting.scorecard.';

create view accounting.scorecard as
  select * from accounting.scorecard_between(now() - interval '30 days', now());

comment on view accounting.scorecard is 'How the deposit service did with the deposits of the last 30 days: one row for all of them, and one per route. accounting.scorecard_between(from_at, to_at) is the same for any span.';
comment on column accounting.scorecard.scope is 'service: all deposits; route: those of one asset paid and one asset delivered.';
comment on column accounting.scorecard.network is 'Network of the payments; empty for the whole service.';
comment on column accounting.scorecard.asset_symbol is 'Label of the asset paid.';
comment on column accounting.scorecard.asset is 'Asset paid.';
comment on column accounting.scorecard.settlement_network is 'Network of the deliveries; stable-wallet for credits, empty while none is stated.';
comment on column accounting.scorecard.settlement_asset_symbol is 'Label of the asset delivered.';
comment on column accounting.scorecard.settlement_asset is 'Asset delivered.';
comment on column accounting.scorecard.deposits is 'How many deposits.';
comment on column accounting.scorecard.settled is 'Of how many the delivery is proved.';
comment on column accounting.scorecard.steps_known is 'Statuses of these deposits that the API or the chain knows, of those for which webhooks are to be sent.';
comment on column accounting.scorecard.steps_told is 'Of how many of these a webhook told.';
comment on column accounting.scorecard.completeness is 'steps_told by steps_known: 1 where no webhook is missing.';
comment on column accounting.scorecard.webhooks is 'Webhooks about these deposits, repeats not counted.';
comment on column accounting.scorecard.duplicates is 'How often one of them came again.';
comment on column accounting.scorecard.delivery_p50_seconds is 'From an event to its webhook, in seconds: half are faster.';
comment on column accounting.scorecard.delivery_p95_seconds is 'From an event to its webhook, in seconds: 95 of 100 are faster.';
comment on column accounting.scorecard.delivery_p99_seconds is 'From an event to its webhook, in seconds: 99 of 100 are faster.';
comment on column accounting.scorecard.settle_p50_seconds is 'From a final payment to its proved delivery, in seconds: half are faster.';
comment on column accounting.scorecard.settle_p95_seconds is 'From a final payment to its proved delivery, in seconds: 95 of 100 are faster.';
comment on column accounting.scorecard.settle_p99_seconds is 'From a final payment to its proved delivery, in seconds: 99 of 100 are faster.';
comment on column accounting.scorecard.paid is 'Paid by the settled deposits of the route, in units of the asset paid.';
comment on column accounting.scorecard.delivered is 'Delivered for them, in units of the asset delivered.';
comment on column accounting.scorecard.fee is 'Fees that the service states for them, in units of the asset delivered.';
comment on column accounting.scorecard.fee_share is 'Effective fee: fee by delivered and fee together, of those for which a fee is stated.';
comment on column accounting.scorecard.delivered_per_paid is 'Units delivered for one unit paid, fees and exchange included.';

comment on column accounting.mismatches.subject is
  'What it is about: deposit/ID, transfer/NETWORK/TX/INDEX, inbox/ID, webhook/EVENT or owner/KIND/ID.';

revoke execute on function accounting.scorecard_between from public;
grant execute on function accounting.scorecard_between to depositd_accountant, depositd_daemon;
grant select on accounting.scorecard to depositd_accountant, depositd_daemon;
