-- What deposits were worth in a currency of the owner's: beside the books, never in them. Prices are given by the owner;
-- each keeps its source and its time.
create table price (
  id bigint generated always as identity primary key,
  asset text not null references asset,
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  -- When it was the price of one unit of the asset.
  at timestamptz not null,
  price numeric not null check (price > 0 and price < 'Infinity'),
  source text not null check (source <> ''),
  imported_at timestamptz not null default clock_timestamp(),
  unique (asset, currency, at, source)
);

create trigger price_append_only before update or delete or truncate on price
  for each statement execute function refuse_change();

-- In which currency amounts are valued, and how old a price may be; the last row holds. A currency of none is: off.
create table valuation_rule (
  id bigint generated always as identity primary key,
  currency text check (currency ~ '^[A-Z]{3}$'),
  max_age interval check (max_age > interval '0'),
  since timestamptz not null default clock_timestamp(),
  check ((currency is null) = (max_age is null))
);

create trigger valuation_rule_append_only before update or delete or truncate on valuation_rule
  for each statement execute function refuse_change();

grant select on price, valuation_rule to depositd_daemon;
grant insert (asset, currency, at, price, source) on price to depositd_daemon;
grant insert (currency, max_age) on valuation_rule to depositd_daemon;
grant usage on all sequences in schema public to depositd_daemon;

create view valuation_in_force as
  select currency, max_age from (select * from valuation_rule order by id desc limit 1) as rule where currency is not null;

comment on view valuation_in_force is 'No row while nothing is valued.';

grant select on valuation_in_force to depositd_daemon;

create view accounting.prices as
  select a.symbol as asset_symbol, p.asset, p.currency, p.at, p.price, p.source, p.imported_at
  from price p join asset a on a.key = p.asset;

comment on view accounting.prices is 'Every price that was imported. A price is never changed; of two of one time, the one that was imported last holds.';
comment on column accounting.prices.asset_symbol is 'Label of the asset.';
comment on column accounting.prices.asset is 'Asset: network/contract, network/mint or network/native.';
comment on column accounting.prices.currency is 'Currency of the price, like EUR.';
comment on column accounting.prices.at is 'When it was the price.';
comment on column accounting.prices.price is 'Price of one unit of the asset.';
comment on column accounting.prices.source is 'Where it is from, as the file said.';
comment on column accounting.prices.imported_at is 'When it was imported.';

-- A price holds where it is the newest at a time and not too old; of two of one time, the one that was given last.
create view accounting.valuation as
  select t.journal_id, t.leg, j.kind, j.deposit_id, t.debit, t.credit, a.symbol as asset_symbol, t.asset,
    accounting.in_units(t.amount, a.decimals) as amount, t.amount as amount_base, j.event_at, j.recorded_at,
    rule.currency, p.price, p.price_at, p.source as price_source, accounting.in_units(t.amount, a.decimals) * p.price as value
  from ledger_transfer t
    join ledger_journal j on j.id = t.journal_id
    join asset a on a.key = t.asset
    cross join valuation_in_force as rule
    left join lateral (
      select p.price, p.at as price_at, p.source from price p
      where p.asset = t.asset and p.currency = rule.currency and p.at <= j.event_at and p.at >= j.event_at - rule.max_age
      order by p.at desc, p.id desc limit 1
    ) as p on true;

comment on view accounting.valuation is 'One row per transfer of the books, with its value when it happened: of a deposit that is its receipt, of a settlement the delivery. No row while no currency is set.';
comment on column accounting.valuation.journal_id is 'Journal it belongs to.';
comment on column accounting.valuation.leg is 'Number of the transfer inside its journal.';
comment on column accounting.valuation.kind is 'Kind of the journal.';
comment on column accounting.valuation.deposit_id is 'The deposit it belongs to; empty where it is of none.';
comment on column accounting.valuation.debit is 'Account that is debited.';
comment on column accounting.valuation.credit is 'Account that is credited.';
comment on column accounting.valuation.asset_symbol is 'Label of the asset.';
comment on column accounting.valuation.asset is 'Asset: network/contract, network/mint or network/native.';
comment on column accounting.valuation.amount is 'In units of the asset.';
comment on column accounting.valuation.amount_base is 'In smallest units.';
comment on column accounting.valuation.event_at is 'When it happened in the world.';
comment on column accounting.valuation.recorded_at is 'When it was written.';
comment on column accounting.valuation.currency is 'Currency of price and value.';
comment on column accounting.valuation.price is 'Price of one unit of the asset; empty where none is young enough.';
comment on column accounting.valuation.price_at is 'When it was the price; not after event_at.';
comment on column accounting.valuation.price_source is 'Where the price is from.';
comment on column accounting.valuation.value is 'amount by price, exact; empty where there is no price.';

create view accounting.conversion as
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
      where e.journal_id = j.id and e.account like 'assets:in\_transit:%' group by e.asset order by e.asset limit 1
    ) as paid on true
    join asset pa on pa.key = paid.asset
    -- Of more assets than one nothing is added up.
    left join lateral (
      select min(t.asset) as asset,
        sum(case when t.credit = 'equity:conversion' then t.amount else -t.amount end) as amount
      from ledger_transfer t
      where t.journal_id = j.id and 'equity:conversion' in (t.debit, t.credit)
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

comment on view accounting.conversion is 'One row per journal that settles a payment, with what came in and what it became, before the fee; of a reversal, everything is negative. Values and their difference where a currency is set.';
comment on column accounting.conversion.journal_id is 'Journal that settles it.';
comment on column accounting.conversion.kind is 'settlement or reversal.';
comment on column accounting.conversion.deposit_id is 'The deposit that was settled.';
comment on column accounting.conversion.owner_kind is 'channel or stable_wallet.';
comment on column accounting.conversion.owner_id is 'Channel or StableWallet that the deposit is for.';
comment on column accounting.conversion.paid_asset_symbol is 'Label of the asset paid.';
comment on column accounting.conversion.paid_asset is 'Asset paid.';
comment on column accounting.conversion.paid is 'Amount paid, in units of the asset.';
comment on column accounting.conversion.paid_base is 'Amount paid, in smallest units.';
comment on column accounting.conversion.received_at is 'When it was paid.';
comment on column accounting.conversion.delivered_asset_symbol is 'Label of the asset delivered; empty where there are more than one.';
comment on column accounting.conversion.delivered_asset is 'Asset delivered; empty where there are more than one.';
comment on column accounting.conversion.delivered is 'What it became, in units of the asset: what was delivered, the fee, and what was let go.';
comment on column accounting.conversion.delivered_base is 'What it became, in smallest units.';
comment on column accounting.conversion.settled_at is 'When it was delivered.';
comment on column accounting.conversion.recorded_at is 'When it was written.';
comment on column accounting.conversion.currency is 'Currency of prices and values; empty while none is set.';
comment on column accounting.conversion.paid_price is 'Price of one unit paid, at receipt; empty where none is young enough.';
comment on column accounting.conversion.paid_price_at is 'When it was the price.';
comment on column accounting.conversion.paid_price_source is 'Where that price is from.';
comment on column accounting.conversion.paid_value is 'paid by its price, exact.';
comment on column accounting.conversion.delivered_price is 'Price of one unit delivered, at settlement; empty where none is young enough.';
comment on column accounting.conversion.delivered_price_at is 'When it was the price.';
comment on column accounting.conversion.delivered_price_source is 'Where that price is from.';
comment on column accounting.conversion.delivered_value is 'delivered by its price, exact.';
comment on column accounting.conversion.difference is 'delivered_value less paid_value: what was won, or lost, between receipt and settlement. Empty where a price is missing.';

grant select on accounting.prices, accounting.valuation, accounting.conversion
  to depositd_accountant, depositd_daemon;
