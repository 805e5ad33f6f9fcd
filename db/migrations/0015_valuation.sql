-- The books valued in a currency.

create view accounting.prices as
  select a.symbol as asset_symbol, p.asset, p.currency, p.at, p.price, p.source, p.imported_at
  from price p join asset a on a.key = p.asset;

comment on view accounting.prices is 'Every price that was imported. A price is never changed; of two prices for one time, the one imported last applies.';
comment on column accounting.prices.asset_symbol is 'Label of the asset.';
comment on column accounting.prices.asset is 'Asset: network/contract, network/mint or network/native.';
comment on column accounting.prices.currency is 'Currency of the price, like EUR.';
comment on column accounting.prices.at is 'The time of the price.';
comment on column accounting.prices.price is 'Price of one unit of the asset.';
comment on column accounting.prices.source is 'Its source, from the file.';
comment on column accounting.prices.imported_at is 'When it was imported.';

create view accounting.valuation as
  select t.journal_id, t.leg, j.kind, j.deposit_id, t.debit, t.credit, a.symbol as asset_symbol, t.asset,
    accounting.in_units(t.amount, a.decimals) as amount, t.amount as amount_base, j.event_at, j.recorded_at,
    rule.currency, p.price, p.price_at, p.source as price_source, accounting.in_units(t.amount, a.decimals) * p.price as value
  from ledger_transfer t
    join ledger_journal j on j.id = t.journal_id
    join asset a on a.key = t.asset
    cross join active_valuation as rule
    left join accounting.price_at(t.asset, j.event_at) as p on true;

comment on view accounting.valuation is 'One row per transfer of the books, with its value when it happened: of a deposit that is its receipt, of a settlement the delivery. No row while no currency is set.';
comment on column accounting.valuation.journal_id is 'Journal it belongs to.';
comment on column accounting.valuation.leg is 'Number of the transfer inside its journal.';
comment on column accounting.valuation.kind is 'Kind of the journal.';
comment on column accounting.valuation.deposit_id is 'The deposit it belongs to; empty if there is none.';
comment on column accounting.valuation.debit is 'Account that is debited.';
comment on column accounting.valuation.credit is 'Account that is credited.';
comment on column accounting.valuation.asset_symbol is 'Label of the asset.';
comment on column accounting.valuation.asset is 'Asset: network/contract, network/mint or network/native.';
comment on column accounting.valuation.amount is 'In units of the asset.';
comment on column accounting.valuation.amount_base is 'In base units.';
comment on column accounting.valuation.event_at is 'When it happened.';
comment on column accounting.valuation.recorded_at is 'When it was written.';
comment on column accounting.valuation.currency is 'Currency of price and value.';
comment on column accounting.valuation.price is 'Price of one unit of the asset; empty if no price is recent enough.';
comment on column accounting.valuation.price_at is 'When it was the price; not after event_at.';
comment on column accounting.valuation.price_source is 'Where the price is from.';
comment on column accounting.valuation.value is 'amount times price, exact; empty if there is no price.';

-- What each journal is worth in the functional currency, once and for good, in the order of journals; and what the close of
-- a month revalues.
create table valued_journal (
  id bigint generated always as identity primary key,
  -- A revaluation is taken back in the month after it.
  kind text not null check (kind in ('journal', 'revaluation', 'revaluation_back')),
  journal_id bigint unique references ledger_journal,
  close_id bigint references ledger_period_event,
  event_at timestamptz not null,
  period date not null check (period = date_trunc('month', period::timestamp)),
  -- The cost basis, too.
  rule_id bigint not null references valuation_rule,
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  -- Decimal places of the smallest coin.
  places smallint not null check (places between 0 and 4),
  valued_at timestamptz not null default clock_timestamp(),
  unique (close_id, kind),
  check (case kind when 'journal' then num_nulls(journal_id) = 0 and close_id is null
    else num_nulls(close_id) = 0 and journal_id is null end)
);

-- The change of an account in an asset. Gains and rounding have no asset, and revaluations no units. Debits are positive.
create table valued_line (
  valued_id bigint not null references valued_journal,
  line integer not null check (line > 0),
  account text not null,
  asset text references asset,
  -- In base units.
  units numeric(78, 0) not null,
  -- In the smallest coins of the currency.
  value numeric(78, 0) not null,
  price numeric,
  price_at timestamptz,
  price_source text,
  primary key (valued_id, line),
  constraint valued_line_is_number check (units < 'NaN' and value < 'NaN'),
  constraint valued_line_price check (num_nulls(price, price_at, price_source) in (0, 3))
);

-- Own funds that were given away, each part with the cost at which it was acquired. Those of a reversal are negative.
create table disposal (
  valued_id bigint not null references valued_journal,
  line integer not null check (line > 0),
  account text not null,
  asset text not null references asset,
  -- The journal that acquired them, and its time. Averaged units have none.
  acquired_by bigint references ledger_journal,
  acquired_at timestamptz,
  units numeric(78, 0) not null,
  cost numeric(78, 0) not null,
  proceeds numeric(78, 0) not null,
  primary key (valued_id, line)
);

create trigger valued_journal_append_only before update or delete or truncate on valued_journal
  for each statement execute function refuse_change();
create trigger valued_line_append_only before update or delete or truncate on valued_line
  for each statement execute function refuse_change();
create trigger disposal_append_only before update or delete or truncate on disposal
  for each statement execute function refuse_change();

-- What accounts hold now, and what it is carried at. It follows from the lines, and is kept so that the next journal is valued
-- without reading all of them.
create table value_lot (
  account text not null,
  asset text not null references asset,
  -- Of a trading account only.
  deposit_id bigint references deposit,
  -- The journal that acquired it; 0 of averaged units.
  origin bigint not null,
  acquired_at timestamptz,
  units numeric(78, 0) not null check (units <> 0),
  cost numeric(78, 0) not null,
  -- An opening may have several.
  unique nulls not distinct (account, asset, deposit_id, origin, acquired_at),
  constraint value_lot_same_side check (cost * units >= 0)
);

create index value_lot_deposit on value_lot (deposit_id) where deposit_id is not null;

-- Journals are valued without a gap, and all in one currency.
create function check_valued_journals() returns trigger
  language plpgsql set search_path = pg_catalog, public, pg_temp as $$
declare
  first bigint;
  last bigint;
  valued bigint;
begin
  select min(journal_id), max(journal_id), count(journal_id) into first, last, valued from added;
  if exists (select from added where currency <> (select currency from valued_journal order by id limit 1)) then
    raise exception 'valued_journal: the books are valued in another currency';
  elsif valued > 0 and valued <> (
    select count(*) from ledger_journal
    where id <= last and id > coalesce((select max(journal_id) from valued_journal where journal_id < first), 0)
  ) then
    raise exception 'valued_journal: journals are valued in order, without a gap';
  end if;
  return null;
end
$$;

create trigger valued_journal_in_order after insert on valued_journal
  referencing new table as added for each statement execute function check_valued_journals();

create function check_valued_lines() returns trigger
  language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  if exists (
    select from added join valued_journal j on j.id = added.valued_id where j.xmin <> pg_current_xact_id()::xid
  ) then
    raise exception '%: the journal is already valued', tg_table_name;
  end if;
  return null;
end
$$;

create function check_valued_sums() returns trigger
  language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  if exists (select from added group by valued_id having sum(value) <> 0) then
    raise exception 'valued_line: the values of a journal do not sum to zero';
  end if;
  return null;
end
$$;

create trigger valued_line_late after insert on valued_line
  referencing new table as added for each statement execute function check_valued_lines();
create trigger valued_line_balanced after insert on valued_line
  referencing new table as added for each statement execute function check_valued_sums();
create trigger disposal_late after insert on disposal
  referencing new table as added for each statement execute function check_valued_lines();

create view accounting.valued_entries as
  select v.id as valuation_id, v.journal_id, coalesce(j.kind, v.kind) as kind, j.deposit_id, l.account, a.symbol as asset_symbol,
    l.asset, accounting.in_units(l.units, a.decimals) as amount, l.units as amount_base, v.currency,
    accounting.in_units(l.value, v.places) as value, l.price, l.price_at, l.price_source, v.event_at, v.period, v.valued_at
  from valued_line l
    join valued_journal v on v.id = l.valued_id
    left join ledger_journal j on j.id = v.journal_id
    left join asset a on a.key = l.asset;

comment on view accounting.valued_entries is 'The books in the functional currency: what each account gains or loses by a journal or a revaluation. The values of each sum to zero.';
comment on column accounting.valued_entries.valuation_id is 'Number of the valued journal or revaluation.';
comment on column accounting.valued_entries.journal_id is 'Journal that is valued; empty of a revaluation.';
comment on column accounting.valued_entries.kind is 'Kind of the journal; revaluation at the end of a month, or revaluation_back, which takes it back in the next month.';
comment on column accounting.valued_entries.deposit_id is 'The deposit it belongs to; empty if there is none.';
comment on column accounting.valued_entries.account is 'Account, for example assets:in_transit:base.';
comment on column accounting.valued_entries.asset_symbol is 'Label of the asset; empty of gains and rounding.';
comment on column accounting.valued_entries.asset is 'Asset: network/contract, network/mint or network/native; empty of gains and rounding.';
comment on column accounting.valued_entries.amount is 'In units of the asset; debits positive, credits negative. Zero if only the value changes.';
comment on column accounting.valued_entries.amount_base is 'In base units.';
comment on column accounting.valued_entries.currency is 'Functional currency.';
comment on column accounting.valued_entries.value is 'In the currency, rounded to its smallest coin; debits positive, credits negative.';
comment on column accounting.valued_entries.price is 'Price of one unit of the asset at the time of the event.';
comment on column accounting.valued_entries.price_at is 'The time of the price; not after event_at.';
comment on column accounting.valued_entries.price_source is 'Source of the price.';
comment on column accounting.valued_entries.event_at is 'When it happened; of a revaluation the end of the month, and of its taking back the beginning of the next one.';
comment on column accounting.valued_entries.period is 'First day of the month of the books in which it is.';
comment on column accounting.valued_entries.valued_at is 'When it was valued.';

create view accounting.valued_balances as
  select account, asset_symbol, asset, sum(amount) as balance, sum(amount_base) as balance_base, currency, sum(value) as value
  from accounting.valued_entries group by account, asset_symbol, asset, currency;

comment on view accounting.valued_balances is 'What each account holds in each asset, and what it is carried at, over all valued journals. The values sum to zero.';
comment on column accounting.valued_balances.account is 'Account, for example assets:in_transit:base.';
comment on column accounting.valued_balances.asset_symbol is 'Label of the asset; empty of gains and rounding.';
comment on column accounting.valued_balances.asset is 'Asset: network/contract, network/mint or network/native; empty of gains and rounding.';
comment on column accounting.valued_balances.balance is 'In units of the asset; debit balances positive, credit balances negative.';
comment on column accounting.valued_balances.balance_base is 'In base units; debit balances positive, credit balances negative.';
comment on column accounting.valued_balances.currency is 'Functional currency.';
comment on column accounting.valued_balances.value is 'In the currency; debit balances positive, credit balances negative.';

create view accounting.disposals as
  select v.journal_id, d.line as part, d.account, a.symbol as asset_symbol, d.asset, d.acquired_at, d.acquired_by, v.event_at as disposed_at,
    accounting.in_units(d.units, a.decimals) as amount, d.units as amount_base, v.currency,
    accounting.in_units(d.proceeds, v.places) as proceeds, accounting.in_units(d.cost, v.places) as cost,
    accounting.in_units(d.proceeds - d.cost, v.places) as gain, v.period
  from disposal d
    join valued_journal v on v.id = d.valued_id
    join asset a on a.key = d.asset;

comment on view accounting.disposals is 'Own funds that were given away, one row per part that was acquired at once. A reversal is negative.';
comment on column accounting.disposals.journal_id is 'Journal that gave them away.';
comment on column accounting.disposals.part is 'Number of the part inside its journal.';
comment on column accounting.disposals.account is 'Account that held them.';
comment on column accounting.disposals.asset_symbol is 'Label of the asset.';
comment on column accounting.disposals.asset is 'Asset: network/contract, network/mint or network/native.';
comment on column accounting.disposals.acquired_at is 'When they were acquired; empty if costs are averaged.';
comment on column accounting.disposals.acquired_by is 'Journal that acquired them; empty if costs are averaged.';
comment on column accounting.disposals.disposed_at is 'When they were given away.';
comment on column accounting.disposals.amount is 'In units of the asset.';
comment on column accounting.disposals.amount_base is 'In base units.';
comment on column accounting.disposals.currency is 'Functional currency.';
comment on column accounting.disposals.proceeds is 'What they were worth when they were given away.';
comment on column accounting.disposals.cost is 'What they were worth when they were acquired.';
comment on column accounting.disposals.gain is 'proceeds less cost; negative if it is a loss.';
comment on column accounting.disposals.period is 'First day of the month of the books in which the journal is.';
