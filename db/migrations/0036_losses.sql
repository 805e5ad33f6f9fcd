-- What may be lost by a mismatch, beside the amount of the deposit that it is about: the core says it for each kind, and
-- docs/mismatches.md why. It is in an asset of its own, since a delivery that falls short is of the asset delivered.
alter table mismatch
  add column loss_asset text,
  add column loss_amount numeric(78, 0) check (loss_amount > 0),
  -- What the loss is a part of, in the same asset.
  add column loss_whole numeric(78, 0) check (loss_whole >= loss_amount),
  add constraint mismatch_loss_check check (num_nulls(loss_asset, loss_amount, loss_whole) in (0, 3));

-- Every mismatch with the value of its loss: by the price that was in force when the mismatch opened.
create view mismatch_loss as
  select m.*, rule.currency,
    accounting.in_units(m.loss_amount, a.decimals) as loss,
    a.symbol as loss_asset_symbol,
    round(m.loss_amount / m.loss_whole, 6) as loss_share,
    accounting.in_units(m.loss_amount, a.decimals) * p.price as loss_value
  from mismatch m
    left join asset a on a.key = m.loss_asset
    left join valuation_in_force rule on m.loss_asset is not null
    left join lateral (
      select p.price from price p
      where p.asset = m.loss_asset and p.currency = rule.currency
        and p.at <= m.opened_at and p.at >= m.opened_at - rule.max_age
      order by p.at desc, p.id desc limit 1
    ) as p on true;

comment on view mismatch_loss is 'Every mismatch that was ever opened, with the value of its loss; empty if its asset has no price.';

create or replace view open_mismatch as
  select m.id, m.subject, m.kind, m.severity, m.deposit_id, m.network, m.asset, m.value, m.detail, m.opened_at,
    m.assigned_to, m.snoozed_until,
    coalesce(d.transfer,
      (select min(o.transfer) from deposit o
        where o.tx = d.tx and o.network = d.network and o.address = d.address and o.asset = d.asset),
      substring(m.subject from '^transfer/(.*)$'), m.subject) as stake,
    m.loss_asset, m.loss_amount, m.loss_share, m.loss_value, m.currency
  from mismatch_loss m left join deposit d on d.id = m.deposit_id
  where m.cleared_at is null and m.resolved_at is null;

create or replace view accounting.mismatches as
  select m.id, m.kind, m.severity, m.deposit_id, m.subject, m.network, a.symbol as asset_symbol, m.asset,
    accounting.in_units(m.value, a.decimals) as amount, m.value as amount_base, m.detail,
    m.opened_at, m.cleared_at, m.cleared_how,
    coalesce(least(m.resolved_at, m.cleared_at), now()) - m.opened_at as age,
    case when m.cleared_at is not null then 'cleared'
      when m.resolved_at is not null then 'resolved'
      when m.snoozed_until > now() then 'snoozed'
      else 'open' end as status,
    m.assigned_to, m.snoozed_until, m.resolved_at, m.resolved_by, m.resolved_reason as reason,
    m.loss_asset_symbol, m.loss_asset, m.loss, m.loss_amount as loss_base, m.loss_share, m.loss_value, m.currency
  from mismatch_loss m left join asset a on a.key = m.asset;

comment on column accounting.mismatches.asset_symbol is 'Label of that asset.';
comment on column accounting.mismatches.asset is 'Asset of the deposit, transfer or balance that it is about.';
comment on column accounting.mismatches.amount is 'Amount of the deposit, transfer or balance that it is about, in units of the asset. What may be lost is in loss.';
comment on column accounting.mismatches.amount_base is 'The same amount, in smallest units.';
comment on column accounting.mismatches.loss_asset_symbol is 'Label of the asset of the loss.';
comment on column accounting.mismatches.loss_asset is 'Asset of the loss; empty if nothing is lost, or if it cannot be measured. docs/mismatches.md says which, for each kind.';
comment on column accounting.mismatches.loss is 'What may be lost, in units of its asset.';
comment on column accounting.mismatches.loss_base is 'What may be lost, in smallest units.';
comment on column accounting.mismatches.loss_share is 'Loss by the whole that it is a part of, as the delivery that is owed: 1 is all of it.';
comment on column accounting.mismatches.loss_value is 'Loss by the price in force when the mismatch opened; empty if there is no price.';
comment on column accounting.mismatches.currency is 'Currency of loss_value; empty while nothing is valued.';

-- What several mismatches say of one transfer is mostly one loss: the largest of each asset counts, and only once.
create or replace view accounting.mismatch_ageing as
  select kind, severity, a.symbol as asset_symbol, asset, bucket, from_age,
    sum(mismatches)::bigint as mismatches, accounting.in_units(sum(loss), a.decimals) as amount,
    sum(loss) as amount_base, sum(loss_value) as value, max(currency) as currency
  from (
    select kind, severity, loss_asset as asset, stake, bucket, from_age, count(*) as mismatches,
      max(loss_amount) as loss, max(loss_value) as loss_value, max(currency) as currency
    from open_mismatch cross join lateral (
      select bucket, from_age from (values
        ('< 1 h', interval '0'), ('< 24 h', interval '1 hour'), ('< 3 d', interval '24 hours'),
        ('< 7 d', interval '3 days'), ('< 30 d', interval '7 days'), ('older', interval '30 days')
      ) as buckets (bucket, from_age)
      where from_age <= greatest(now() - opened_at, interval '0') order by from_age desc limit 1
    ) as aged
    group by kind, severity, loss_asset, stake, bucket, from_age
  ) as stakes left join asset a on a.key = asset
  group by kind, severity, a.symbol, a.decimals, asset, bucket, from_age;

comment on column accounting.mismatch_ageing.asset_symbol is 'Label of the asset of the losses.';
comment on column accounting.mismatch_ageing.asset is 'Asset of the losses; empty for mismatches without one.';
comment on column accounting.mismatch_ageing.amount is 'Losses, in units of the asset. Of one transfer, the largest counts.';
comment on column accounting.mismatch_ageing.amount_base is 'Losses, in smallest units.';
comment on column accounting.mismatch_ageing.value is 'Losses by the prices in force when the mismatches opened; empty if there is no price.';
comment on column accounting.mismatch_ageing.currency is 'Currency of value; empty while nothing is valued.';

create or replace view accounting.value_at_risk as
  select a.symbol as asset_symbol, s.asset, s.severity, count(*) as transfers,
    accounting.in_units(sum(s.loss), a.decimals) as amount, sum(s.loss) as amount_base,
    sum(s.loss_value) as value, max(s.currency) as currency
  from (
    select loss_asset as asset, stake, max(loss_amount) as loss, max(loss_value) as loss_value,
      max(currency) as currency,
      (array['severe', 'warning', 'info'])[min(array_position(array['severe', 'warning', 'info'], severity))] as severity
    from open_mismatch where loss_asset is not null group by loss_asset, stake
  ) as s join asset a on a.key = s.asset
  group by a.symbol, a.decimals, s.asset, s.severity;

comment on view accounting.value_at_risk is 'What may be lost by open mismatches, per asset. Of a transfer that several are about, the largest loss of each asset counts, under the highest severity.';
comment on column accounting.value_at_risk.transfers is 'How many transfers, or claims of one, have a loss.';
comment on column accounting.value_at_risk.amount is 'Losses, in units of the asset.';
comment on column accounting.value_at_risk.amount_base is 'Losses, in smallest units.';
comment on column accounting.value_at_risk.value is 'Losses by the prices in force when the mismatches opened; empty if there is no price.';
comment on column accounting.value_at_risk.currency is 'Currency of value; empty while nothing is valued.';
