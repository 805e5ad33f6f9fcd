-- The books compared with the balances of addresses, and valued in a currency.

-- Each payment of an address, by its newest chain_transfer and its bookings, falls under one heading. A payment under none is a
-- difference.
create view ledger_tie as
  with booked as (
    -- What came in with the opening balances has no payment, and what leaves transit of it has no line of that kind.
    select t.transfer, t.asset, sum(t.amount) filter (where t.kind = 'deposit') as came_in,
      case when sum(t.amount) filter (where t.kind = 'deposit') <> 0 then sum(t.amount) end as in_transit
    from ledger_transit t where t.transfer is not null group by t.transfer, t.asset
  ), waiting as (
    select distinct s.transfer from inbox_pending i join chain_transfer s on s.inbox_id = i.inbox_id
  ), seen as (
    select distinct on (s.transfer) s.transfer, s.network, s.address, s.asset, s.amount, s.height,
      s.stage = 'final' as is_final
    from chain_transfer s where s.role = 'deposit' and s.stage in ('final', 'orphaned')
    order by s.transfer, s.inbox_id desc
  ), payment as (
    select coalesce(s.network, split_part(b.asset, '/', 1)) as network, s.address, coalesce(s.asset, b.asset) as asset,
      case when s.is_final then s.amount else 0 end as held, s.height, w.transfer is not null as is_waiting,
      coalesce(b.came_in, 0) as came_in, coalesce(b.in_transit, 0) as in_transit,
      b.transfer is not null and s.transfer is null as is_unseen
    from seen s full join booked b on b.transfer = s.transfer and b.asset = s.asset
      left join waiting w on w.transfer = s.transfer
  ), placed as (
    select p.*, case
        when p.address is null or b.address is null then 'nowhere'
        when p.held > 0 and not (p.height > b.opening_height and p.height <= b.height) then 'outside'
        when p.came_in = 0 or p.is_waiting then 'not_booked'
        else 'tied' end as heading
    from payment p
      left join balance_point b on (b.network, b.address, b.asset) = (p.network, p.address, p.asset)
  ), address as (
    select network, address, asset, sum(in_transit) as in_transit, sum(came_in - in_transit) as out_of_transit,
      coalesce(sum(held - came_in) filter (where heading = 'not_booked'), 0) as not_booked,
      -coalesce(sum(came_in) filter (where heading = 'outside'), 0) as outside,
      coalesce(sum(came_in) filter (where is_unseen), 0) as unseen
    from placed group by network, address, asset
  ), explained as (
    select network, address, asset, p.height, p.balance, p.checked_at, p.opening,
      coalesce(a.in_transit, 0) as in_transit, coalesce(a.out_of_transit, 0) as out_of_transit,
      coalesce(a.not_booked, 0) as not_booked, coalesce(a.outside, 0) as outside, coalesce(a.unseen, 0) as unseen,
      coalesce((
        select sum(m.change) from chain_movement m
        where (m.network, m.address, m.asset) = (p.network, p.address, p.asset)
          and m.height > p.opening_height and m.height <= p.height
      ), 0) as moved,
      coalesce((
        select sum(d.change) from balance_difference d
        where (d.network, d.address, d.asset) = (p.network, p.address, p.asset)
      ), 0) as unexplained
    from address a full join balance_point p using (network, address, asset)
  )
  select network, address, asset, height, checked_at, in_transit, out_of_transit, not_booked, outside, opening, moved,
    unexplained, balance,
    case when height is not null then
        balance - (in_transit + out_of_transit + not_booked + outside + opening + moved + unexplained)
      when unseen <> 0 then -unseen end as difference
  from explained;

comment on view ledger_tie is 'One row per deposit address and asset: from the amount in transit to the proved balance.';

create view accounting.tie_out as
  select t.network, t.address, b.owner_kind, b.owner_id, a.symbol as asset_symbol, t.asset, t.height, t.checked_at,
    accounting.in_units(t.in_transit, a.decimals) as in_transit, t.in_transit as in_transit_base,
    accounting.in_units(t.out_of_transit, a.decimals) as out_of_transit, t.out_of_transit as out_of_transit_base,
    accounting.in_units(t.not_booked, a.decimals) as not_booked, t.not_booked as not_booked_base,
    accounting.in_units(t.outside, a.decimals) as outside, t.outside as outside_base,
    accounting.in_units(t.opening, a.decimals) as opening, t.opening as opening_base,
    accounting.in_units(t.moved, a.decimals) as moved, t.moved as moved_base,
    accounting.in_units(t.unexplained, a.decimals) as unexplained, t.unexplained as unexplained_base,
    accounting.in_units(t.balance, a.decimals) as balance, t.balance as balance_base,
    accounting.in_units(t.difference, a.decimals) as difference, t.difference as difference_base
  from ledger_tie t
    join asset a on a.key = t.asset
    left join address_book b on b.network = t.network and b.address = t.address and b.role = 'deposit';

comment on view accounting.tie_out is 'One row per deposit address and asset: from the amount in transit in the books to the last proved balance. in_transit + out_of_transit + not_booked + outside + opening + moved + unexplained + difference = balance.';
comment on column accounting.tie_out.network is 'Network of the address.';
comment on column accounting.tie_out.address is 'Deposit address; empty for amounts in transit without a payment on the chain.';
comment on column accounting.tie_out.owner_kind is 'channel or stable_wallet.';
comment on column accounting.tie_out.owner_id is 'Channel or StableWallet of the address.';
comment on column accounting.tie_out.asset_symbol is 'Label of the asset.';
comment on column accounting.tie_out.asset is 'Asset: network/contract, network/mint or network/native.';
comment on column accounting.tie_out.height is 'Final block or slot at which the balance was last proved; empty if it never was.';
comment on column accounting.tie_out.checked_at is 'When the balance was last read.';
comment on column accounting.tie_out.in_transit is 'Payments to the address that are in transit in the books, in units of the asset.';
comment on column accounting.tie_out.in_transit_base is 'Payments in transit, in base units.';
comment on column accounting.tie_out.out_of_transit is 'Payments that left transit (delivered, written off, refunded), in units of the asset.';
comment on column accounting.tie_out.out_of_transit_base is 'Payments that left transit, in base units.';
comment on column accounting.tie_out.not_booked is 'Payments that are on the chain and not booked (not claimed yet, not decided yet, from before the opening, or no deposits), in units of the asset.';
comment on column accounting.tie_out.not_booked_base is 'Payments that are on the chain and not booked, in base units.';
comment on column accounting.tie_out.outside is 'Booked payments that the balance does not include, because their block is above its height or below the start of reading; negative, in units of the asset.';
comment on column accounting.tie_out.outside_base is 'Booked payments that the balance does not include, in base units.';
comment on column accounting.tie_out.opening is 'Balance of the address at the start of reading, in units of the asset.';
comment on column accounting.tie_out.opening_base is 'Balance of the address at the start of reading, in base units.';
comment on column accounting.tie_out.moved is 'Other movements on the chain, in units of the asset; outgoing ones are negative.';
comment on column accounting.tie_out.moved_base is 'Other movements on the chain, in base units.';
comment on column accounting.tie_out.unexplained is 'Changes of the balance without a known reason, in units of the asset: each is an unexplained_balance.';
comment on column accounting.tie_out.unexplained_base is 'Changes of the balance without a known reason, in base units.';
comment on column accounting.tie_out.balance is 'Proved balance of the address, in units of the asset.';
comment on column accounting.tie_out.balance_base is 'Proved balance of the address, in base units.';
comment on column accounting.tie_out.difference is 'Difference between the books and the balance, in units of the asset; if it is not zero, it is a ledger_imbalance.';
comment on column accounting.tie_out.difference_base is 'Difference between the books and the balance, in base units.';

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
      where e.journal_id = j.id and e.recorded_at = j.recorded_at
        and e.account like 'assets:in\_transit:%' group by e.asset order by e.asset limit 1
    ) as paid on true
    join asset pa on pa.key = paid.asset
    -- Amounts of several assets are not added.
    left join lateral (
      select min(t.asset) as asset,
        sum(case when t.credit like 'trading:%' then t.amount else -t.amount end) as amount
      from ledger_transfer t
      where t.journal_id = j.id and t.recorded_at = j.recorded_at
        and (t.debit like 'trading:%' or t.credit like 'trading:%')
        and t.debit not like 'assets:in\_transit:%' and t.credit not like 'assets:in\_transit:%'
      having count(distinct t.asset) = 1
    ) as delivered on true
    left join asset da on da.key = delivered.asset
    -- A payment from before the opening balances has no journal.
    cross join lateral (
      select coalesce((
        select r.event_at from ledger_journal r
        where r.transfer = j.transfer and r.kind = 'deposit'
        order by exists (select from ledger_journal b where b.reverses = r.id), r.id desc limit 1
      ), d.deposited_at) as event_at
    ) as receipt
    left join active_valuation as rule on true
    left join accounting.price_at(paid.asset, receipt.event_at) as pp on true
    left join accounting.price_at(delivered.asset, j.event_at) as dp on true
  where coalesce(o.kind, j.kind) = 'settlement';

comment on view accounting.conversion is 'One row per journal that settles a payment, with the amounts before and after conversion, before the fee. A reversal is negative. With values and their difference if a currency is set.';
comment on column accounting.conversion.journal_id is 'Journal that settles it.';
comment on column accounting.conversion.kind is 'settlement or reversal.';
comment on column accounting.conversion.deposit_id is 'The deposit that was settled.';
comment on column accounting.conversion.owner_kind is 'channel or stable_wallet.';
comment on column accounting.conversion.owner_id is 'Channel or StableWallet that the deposit is for.';
comment on column accounting.conversion.paid_asset_symbol is 'Label of the asset paid.';
comment on column accounting.conversion.paid_asset is 'Asset paid.';
comment on column accounting.conversion.paid is 'Amount paid, in units of the asset.';
comment on column accounting.conversion.paid_base is 'Amount paid, in base units.';
comment on column accounting.conversion.received_at is 'When it was paid.';
comment on column accounting.conversion.delivered_asset_symbol is 'Label of the asset delivered; empty if there is more than one.';
comment on column accounting.conversion.delivered_asset is 'Asset delivered; empty if there is more than one.';
comment on column accounting.conversion.delivered is 'The amount after conversion, in units of the asset: delivered, fee and tolerated difference.';
comment on column accounting.conversion.delivered_base is 'The amount after conversion, in base units.';
comment on column accounting.conversion.settled_at is 'When it was delivered.';
comment on column accounting.conversion.recorded_at is 'When it was written.';
comment on column accounting.conversion.currency is 'Currency of prices and values; empty while none is set.';
comment on column accounting.conversion.paid_price is 'Price of one unit paid, at receipt; empty if no price is recent enough.';
comment on column accounting.conversion.paid_price_at is 'The time of the price.';
comment on column accounting.conversion.paid_price_source is 'Source of that price.';
comment on column accounting.conversion.paid_value is 'paid times its price, exact.';
comment on column accounting.conversion.delivered_price is 'Price of one unit delivered, at settlement; empty if no price is recent enough.';
comment on column accounting.conversion.delivered_price_at is 'The time of the price.';
comment on column accounting.conversion.delivered_price_source is 'Source of that price.';
comment on column accounting.conversion.delivered_value is 'delivered times its price, exact.';
comment on column accounting.conversion.difference is 'delivered_value less paid_value: the gain or loss between payment and delivery. Empty if a price is missing.';

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
