-- Numbers and sums of deposits, kept as deposits change. Each change adds rows for its difference, so that no writer waits for
-- another; the daemon replaces them by their sums. Merged deposits are not counted.

create table deposit_count (
  state text not null,
  service text not null,
  network text not null,
  count bigint not null
);

-- By the hour in which the deposit was paid, or first reported. An asset that is not known is empty.
create table deposit_hour (
  hour timestamptz not null,
  service text not null,
  asset text not null,
  settlement_asset text not null,
  matrix jsonb not null,
  deposits bigint not null,
  settled bigint not null,
  steps_known bigint not null,
  steps_reported bigint not null,
  -- Of settled deposits, in base units.
  paid numeric not null,
  delivered numeric not null,
  fee numeric not null,
  -- Of those with a fee.
  before_fee numeric not null,
  is_sum boolean not null default false
);

create index deposit_hour_hour on deposit_hour (hour);
create index deposit_hour_difference on deposit_hour (hour) where not is_sum;

create function count_deposits() returns trigger language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
declare
  sign constant integer := tg_argv[0];
begin
  insert into public.deposit_count
  select state, service, coalesce(network, ''), sign * count(*) from changed where merged_into is null group by 1, 2, 3;
  insert into public.deposit_hour
  select date_trunc('hour', coalesce(deposited_at, least(webhook_at, api_at)), 'UTC'), service, coalesce(asset, ''),
    coalesce(settlement_asset, ''), matrix, sign * count(*), sign * count(settled_at), sign * sum(steps_known),
    sign * sum(steps_reported), sign * coalesce(sum(amount) filter (where settled_at is not null), 0),
    sign * coalesce(sum(settlement_amount) filter (where settled_at is not null), 0),
    sign * coalesce(sum(fee_amount) filter (where settled_at is not null), 0),
    sign * coalesce(sum(settlement_amount + fee_amount) filter (where settled_at is not null), 0)
  from changed
  where merged_into is null and state <> 'ignored' and coalesce(deposited_at, webhook_at, api_at) is not null
  group by 1, 2, 3, 4, 5;
  return null;
end
$$;

-- The sums as they must be: all deposits are counted.
create view deposit_hour_counted as
  select date_trunc('hour', coalesce(deposited_at, least(webhook_at, api_at)), 'UTC') as hour, service,
    coalesce(asset, '') as asset, coalesce(settlement_asset, '') as settlement_asset, matrix, count(*) as deposits,
    count(settled_at) as settled, sum(steps_known) as steps_known, sum(steps_reported) as steps_reported,
    coalesce(sum(amount) filter (where settled_at is not null), 0) as paid,
    coalesce(sum(settlement_amount) filter (where settled_at is not null), 0) as delivered,
    coalesce(sum(fee_amount) filter (where settled_at is not null), 0) as fee,
    coalesce(sum(settlement_amount + fee_amount) filter (where settled_at is not null), 0) as before_fee
  from deposit
  where merged_into is null and state <> 'ignored' and coalesce(deposited_at, webhook_at, api_at) is not null
  group by 1, 2, 3, 4, 5;

create trigger deposit_added after insert on deposit
  referencing new table as changed for each statement execute function count_deposits('1');
create trigger deposit_replaced after update on deposit
  referencing old table as changed for each statement execute function count_deposits('-1');
create trigger deposit_replacement after update on deposit
  referencing new table as changed for each statement execute function count_deposits('1');

-- How each service did with the deposits of a span: one row for all, and one per route, which is an asset paid and the asset
-- delivered for it. Amounts of different assets are never added. Numbers and amounts are sums of whole hours. Durations and
-- webhooks are those of a sample, which has the same share of each hour: the first deposits of it.
create function accounting.scorecard_between(from_at timestamptz, to_at timestamptz)
returns table (
  service text, scope text, network text, asset_symbol text, asset text,
  settlement_network text, settlement_asset_symbol text, settlement_asset text,
  deposits bigint, settled bigint, steps_known bigint, steps_reported bigint, completeness numeric,
  sampled bigint, webhooks bigint, duplicates bigint, duplicates_share numeric,
  delivery_p50_seconds float8, delivery_p95_seconds float8, delivery_p99_seconds float8,
  settle_p50_seconds float8, settle_p95_seconds float8, settle_p99_seconds float8,
  paid numeric, delivered numeric, fee numeric, fee_share numeric, delivered_per_paid numeric
)
language sql stable security definer set search_path = public, pg_temp
as $$
  with within as (
    select * from deposit_hour where hour >= date_trunc('hour', from_at, 'UTC') and hour < to_at
  ), done as (
    select service, grouping(asset) as is_all, coalesce(asset, '') as asset, coalesce(settlement_asset, '') as settlement_asset,
      sum(deposits)::bigint as deposits, sum(settled)::bigint as settled, sum(steps_known)::bigint as steps_known,
      sum(steps_reported)::bigint as steps_reported, nullif(sum(paid), 0) as paid, nullif(sum(delivered), 0) as delivered,
      case when sum(before_fee) <> 0 then sum(fee) end as fee, nullif(sum(before_fee), 0) as before_fee
    from within group by grouping sets ((service), (service, asset, settlement_asset)) having sum(deposits) > 0
  ), share as (
    select hour, ceil(sum(deposits) * least(1, 20000 / nullif(sum(sum(deposits)) over (), 0)))::bigint as deposits
    from within group by hour having sum(deposits) > 0
  ), sample as (
    select d.service, d.group_id, d.service_id, coalesce(d.asset, '') as asset, coalesce(d.settlement_asset, '') as settlement_asset,
      d.settled_at - d.final_at as took
    from share cross join lateral (
      select * from deposit d
      where d.merged_into is null and d.state <> 'ignored'
        and coalesce(d.deposited_at, least(d.webhook_at, d.api_at)) >= share.hour
        and coalesce(d.deposited_at, least(d.webhook_at, d.api_at)) < share.hour + interval '1 hour'
      order by coalesce(d.deposited_at, least(d.webhook_at, d.api_at)) limit share.deposits
    ) as d
  ), paced as (
    select service, grouping(asset) as is_all, coalesce(asset, '') as asset, coalesce(settlement_asset, '') as settlement_asset,
      count(*) as sampled, percentile_cont(array[0.5, 0.95, 0.99]) within group (
        order by greatest(extract(epoch from took), 0)::float8
      ) filter (where took is not null) as settle
    from sample group by grouping sets ((service), (service, asset, settlement_asset))
  ), told as (
    select s.service, grouping(s.asset) as is_all, coalesce(s.asset, '') as asset, coalesce(s.settlement_asset, '') as settlement_asset,
      count(*) as webhooks, sum(coalesce(r.count, 0))::bigint as duplicates,
      percentile_cont(array[0.5, 0.95, 0.99]) within group (
        order by greatest(extract(epoch from i.received_at - (e.observation ->> 'occurredAt')::timestamptz), 0)::float8
      ) as lag
    from sample s
      join evidence e on e.group_id = s.group_id and e.observation ->> 'serviceId' = s.service_id
      join inbox i on i.id = e.inbox_id and i.source = 'webhook'
      left join webhook_repeat r on r.inbox_id = i.id
    group by grouping sets ((s.service), (s.service, s.asset, s.settlement_asset))
  )
  select done.service, case when done.is_all = 1 then 'service' else 'route' end,
    a.network, a.symbol, nullif(done.asset, ''), s.network, s.symbol, nullif(done.settlement_asset, ''),
    done.deposits, done.settled, done.steps_known, done.steps_reported,
    done.steps_reported::numeric / nullif(done.steps_known, 0),
    coalesce(paced.sampled, 0), coalesce(told.webhooks, 0), coalesce(told.duplicates, 0),
    told.duplicates::numeric / told.webhooks,
    told.lag[1], told.lag[2], told.lag[3], paced.settle[1], paced.settle[2], paced.settle[3],
    accounting.in_units(done.paid, a.decimals), accounting.in_units(done.delivered, s.decimals),
    accounting.in_units(done.fee, s.decimals),
    case when s.key is not null then done.fee / done.before_fee end,
    accounting.in_units(done.delivered, s.decimals) / nullif(accounting.in_units(done.paid, a.decimals), 0)
  from done
    left join paced using (service, is_all, asset, settlement_asset)
    left join told using (service, is_all, asset, settlement_asset)
    left join asset a on a.key = done.asset
    left join asset s on s.key = done.settlement_asset
  order by done.service <> 'default', done.service, done.is_all desc, a.network, a.symbol, s.network, s.symbol
$$;

comment on function accounting.scorecard_between is
  'How each deposit service did with the deposits of a span, from the hour of from_at on and in hours that begin before to_at: columns as in accounting.scorecard.';

create view accounting.scorecard as
  select * from accounting.scorecard_between(now() - interval '30 days', now());

comment on view accounting.scorecard is 'How each deposit service did with the deposits of the last 30 days: one row for all of them, and one per route. accounting.scorecard_between(from_at, to_at) is the same for any span of hours.';
comment on column accounting.scorecard.service is 'Name of the deposit service in the settings.';
comment on column accounting.scorecard.scope is 'service: all deposits of the service; route: those of one asset paid and one asset delivered.';
comment on column accounting.scorecard.network is 'Network of the payments; empty for the whole service.';
comment on column accounting.scorecard.asset_symbol is 'Label of the asset paid.';
comment on column accounting.scorecard.asset is 'Asset paid.';
comment on column accounting.scorecard.settlement_network is 'Network of the deliveries; stable-wallet for credits, empty while none is stated.';
comment on column accounting.scorecard.settlement_asset_symbol is 'Label of the asset delivered.';
comment on column accounting.scorecard.settlement_asset is 'Asset delivered.';
comment on column accounting.scorecard.deposits is 'How many deposits.';
comment on column accounting.scorecard.settled is 'Of how many the delivery is proved.';
comment on column accounting.scorecard.steps_known is 'Statuses of these deposits that the API or the chain knows, of those for which webhooks are to be sent.';
comment on column accounting.scorecard.steps_reported is 'How many of these a webhook reported.';
comment on column accounting.scorecard.completeness is 'steps_reported divided by steps_known: 1 if no webhook is missing.';
comment on column accounting.scorecard.sampled is 'Of how many of these deposits webhooks and durations are: of all, if the span has at most 20,000.';
comment on column accounting.scorecard.webhooks is 'Webhooks about the sampled deposits, repeats not counted.';
comment on column accounting.scorecard.duplicates is 'How often one of them was repeated.';
comment on column accounting.scorecard.duplicates_share is 'duplicates divided by webhooks.';
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
