-- What accountants read of the books, from the books themselves, so that it adds up to the trial balance whatever was
-- reversed. A reversal counts against the journal it reverses, at the time of that journal.

create view accounting.journal as
  select j.id, j.posting_key, j.kind, j.deposit_id, j.reverses, j.event_at, j.recorded_at,
    j.period, ledger_month(j.event_at) as belongs_to
  from ledger_journal j;

comment on view accounting.journal is 'One row per journal. A journal is never changed; a correction is a reversal and a new journal.';
comment on column accounting.journal.id is 'Number of the journal.';
comment on column accounting.journal.posting_key is 'Key of the booking. Unique, so that nothing is booked twice.';
comment on column accounting.journal.kind is 'deposit, settlement, conversion, shortage, refund, write_off, withdrawal, manual, opening or reversal.';
comment on column accounting.journal.deposit_id is 'The deposit it belongs to; empty if there is none.';
comment on column accounting.journal.reverses is 'The journal that this one takes back.';
comment on column accounting.journal.event_at is 'When it happened.';
comment on column accounting.journal.recorded_at is 'When it was written.';
comment on column accounting.journal.period is 'First day of the month of the books in which it is.';
comment on column accounting.journal.belongs_to is 'First day of the month in which it happened; differs from period if that month was closed when it was booked.';

create view accounting.entries as
  select e.journal_id, e.leg, j.posting_key, j.kind, j.deposit_id, e.account, a.symbol as asset_symbol, e.asset,
    accounting.in_units(e.amount, a.decimals) as amount, e.amount as amount_base, e.event_at, e.recorded_at,
    e.period, ledger_month(e.event_at) as belongs_to
  from ledger_entry e
    join ledger_journal j on j.id = e.journal_id
    join asset a on a.key = e.asset;

comment on view accounting.entries is 'Two rows per transfer: the debit side positive, the credit side negative. Per asset they sum to zero.';
comment on column accounting.entries.journal_id is 'Journal the entry belongs to.';
comment on column accounting.entries.leg is 'Number of the transfer inside its journal.';
comment on column accounting.entries.posting_key is 'Posting key of the journal.';
comment on column accounting.entries.kind is 'Kind of the journal.';
comment on column accounting.entries.deposit_id is 'The deposit it belongs to; empty if there is none.';
comment on column accounting.entries.account is 'Account, for example assets:in_transit:base.';
comment on column accounting.entries.asset_symbol is 'Label of the asset.';
comment on column accounting.entries.asset is 'Asset: network/contract, network/mint or network/native.';
comment on column accounting.entries.amount is 'In units of the asset; debits positive, credits negative.';
comment on column accounting.entries.amount_base is 'In base units; debits positive, credits negative.';
comment on column accounting.entries.event_at is 'When it happened.';
comment on column accounting.entries.recorded_at is 'When it was written.';
comment on column accounting.entries.period is 'First day of the month of the books in which it is.';
comment on column accounting.entries.belongs_to is 'First day of the month in which it happened; differs from period if that month was closed when it was booked.';

create view accounting.balances as
  select b.account, a.symbol as asset_symbol, b.asset, accounting.in_units(b.balance, a.decimals) as balance,
    b.balance as balance_base
  from ledger_balance b join asset a on a.key = b.asset;

comment on view accounting.balances is 'Balance of each account in each asset, over all that was ever booked.';
comment on column accounting.balances.account is 'Account, for example assets:in_transit:base.';
comment on column accounting.balances.asset_symbol is 'Label of the asset.';
comment on column accounting.balances.asset is 'Asset: network/contract, network/mint or network/native.';
comment on column accounting.balances.balance is 'In units of the asset; debit balances positive, credit balances negative.';
comment on column accounting.balances.balance_base is 'In base units; debit balances positive, credit balances negative.';

create view accounting.accounts as
  select a.id as account, split_part(a.id, ':', 1) as class,
    case when split_part(a.id, ':', 1) = 'trading' then 'none'
      when split_part(a.id, ':', 1) in ('assets', 'expenses') then 'debit' else 'credit' end as normal,
    l.code, l.name
  from (select distinct id from ledger_account) a
    left join lateral (
      select code, name from account_label where fits_pattern(a.id, pattern) order by place limit 1
    ) l on true;

comment on view accounting.accounts is 'One row per account of the books, with the code and the name that the settings give it.';
comment on column accounting.accounts.account is 'Account, for example assets:in_transit:base.';
comment on column accounting.accounts.class is 'assets, liabilities, equity, income, expenses or trading.';
comment on column accounting.accounts.normal is 'The side on which its balance usually is: debit or credit; none for trading.';
comment on column accounting.accounts.code is 'Code of the account in other books, if the settings give one.';
comment on column accounting.accounts.name is 'Name of the account in other books, if the settings give one.';

create view accounting.manual_journals as
  select j.id as journal_id, j.posting_key, j.kind, m.reason, m.made_by, m.approved_by, m.decision_id, j.deposit_id, changed.at as changed_at,
    j.reverses, r.id as reversed_by, j.event_at, j.recorded_at, j.period
  from manual_journal m
    join ledger_journal j on j.id = m.journal_id
    left join ledger_journal r on r.reverses = j.id
    left join lateral (
      select min(later.at) as at from (
        select l.recorded_at as at from ledger_journal l
        where l.deposit_id = j.deposit_id and l.transfer is not null and l.recorded_at > j.recorded_at
        union all
        select unnest(array[x.opened_at, x.cleared_at]) from mismatch x where x.deposit_id = j.deposit_id
      ) as later
      where later.at > j.recorded_at
    ) as changed on j.kind = 'manual' and r.id is null;

comment on view accounting.manual_journals is 'One row per journal that people booked by hand, per reversal of one, per journal that a decision about a deposit booked, and per journal that a restore of the books wrote.';
comment on column accounting.manual_journals.journal_id is 'Number of the journal.';
comment on column accounting.manual_journals.posting_key is 'Key of the booking: manual/ and its reference, or opening and its number. Unique, so that nothing is booked twice.';
comment on column accounting.manual_journals.kind is 'manual, opening or reversal; of a restore, that of its journal.';
comment on column accounting.manual_journals.reason is 'Why it was booked.';
comment on column accounting.manual_journals.made_by is 'The person who booked it.';
comment on column accounting.manual_journals.approved_by is 'The person who agreed; never the one who booked it. Empty if one person decided about a deposit alone.';
comment on column accounting.manual_journals.decision_id is 'The signed decision; empty if it was booked without signatures.';
comment on column accounting.manual_journals.deposit_id is 'The deposit that it names; empty if there is none.';
comment on column accounting.manual_journals.changed_at is 'When that deposit first changed afterwards: a journal from evidence, or a mismatch that opened or was cleared. Empty if it did not, or if the journal is reversed.';
comment on column accounting.manual_journals.reverses is 'The journal that this one takes back.';
comment on column accounting.manual_journals.reversed_by is 'The journal that takes this one back.';
comment on column accounting.manual_journals.event_at is 'The date of the booking.';
comment on column accounting.manual_journals.recorded_at is 'When it was written.';
comment on column accounting.manual_journals.period is 'First day of the month of the books in which it is.';

-- Every line that touches what is in transit, with the kind of its journal, or of the journal that it reverses.
create view ledger_transit as
  select j.id as journal_id, coalesce(o.kind, j.kind) as kind, j.reverses is not null as is_reversal, j.deposit_id,
    j.transfer, j.event_at, j.recorded_at, t.asset,
    case when t.debit like 'assets:in\_transit:%' then t.debit else t.credit end as account,
    case when t.debit like 'assets:in\_transit:%' then t.credit else t.debit end as contra,
    case when t.debit like 'assets:in\_transit:%' then t.amount else -t.amount end as amount
  from ledger_transfer t
    join ledger_journal j on j.id = t.journal_id
    left join ledger_journal o on o.id = j.reverses
  where (t.debit like 'assets:in\_transit:%') <> (t.credit like 'assets:in\_transit:%');

comment on view ledger_transit is 'Ledger transfers into transit, as positive amounts, or out of transit.';

create view accounting.daily_totals as
  select t.day, d.service, d.owner_kind, d.owner_id, a.network, a.symbol as asset_symbol, t.asset,
    sum(t.deposits)::bigint as deposits,
    accounting.in_units(sum(t.came_in), a.decimals) as amount, sum(t.came_in) as amount_base,
    accounting.in_units(sum(t.unclaimed), a.decimals) as unclaimed, sum(t.unclaimed) as unclaimed_base,
    sum(t.settlements)::bigint as settlements,
    accounting.in_units(sum(t.settled), a.decimals) as settled, sum(t.settled) as settled_base,
    accounting.in_units(sum(t.otherwise), a.decimals) as otherwise, sum(t.otherwise) as otherwise_base
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
  group by t.day, d.service, d.owner_kind, d.owner_id, a.network, a.symbol, a.decimals, t.asset
  having sum(t.deposits) <> 0 or sum(t.settlements) <> 0
    or sum(t.came_in) <> 0 or sum(t.settled) <> 0 or sum(t.otherwise) <> 0;

comment on view accounting.daily_totals is 'One row per day, owner and asset: amounts received, and amounts that left transit. A reversal counts against the day of the reversed event.';
comment on column accounting.daily_totals.day is 'Day, in UTC, on which it happened.';
comment on column accounting.daily_totals.service is 'Name of the deposit service in the settings; empty if the journal has no deposit.';
comment on column accounting.daily_totals.owner_kind is 'channel or stable_wallet; empty if the journal has no deposit.';
comment on column accounting.daily_totals.owner_id is 'Channel or StableWallet whose address was paid.';
comment on column accounting.daily_totals.network is 'Network of the payments.';
comment on column accounting.daily_totals.asset_symbol is 'Label of the asset paid.';
comment on column accounting.daily_totals.asset is 'Asset paid: network/contract, network/mint or network/native.';
comment on column accounting.daily_totals.deposits is 'The number of final payments of that day.';
comment on column accounting.daily_totals.amount is 'Their sum, in units of the asset.';
comment on column accounting.daily_totals.amount_base is 'Their sum, in base units.';
comment on column accounting.daily_totals.unclaimed is 'The part of it in suspense, in units of the asset.';
comment on column accounting.daily_totals.unclaimed_base is 'The part of it in suspense, in base units.';
comment on column accounting.daily_totals.settlements is 'The number of deliveries of that day.';
comment on column accounting.daily_totals.settled is 'The amount that they took out of transit, in units of the asset paid.';
comment on column accounting.daily_totals.settled_base is 'The amount that they took out of transit, in base units.';
comment on column accounting.daily_totals.otherwise is 'Other amounts that left transit (written off, refunded), in units of the asset; opening balances are negative.';
comment on column accounting.daily_totals.otherwise_base is 'Other amounts that left transit, in base units; opening balances are negative.';

-- Legs of a journal are read from the partition that holds them.
create view accounting.fees as
  with fee as (
    select e.journal_id, e.recorded_at, e.asset, 'us' as borne_by, sum(e.amount) as amount from ledger_entry e
    where e.account = 'expenses:fees:service' group by e.journal_id, e.recorded_at, e.asset
    union all
    -- A settlement touches a liability only for a fee that the customer bears.
    select t.journal_id, t.recorded_at, t.asset, 'customer',
      sum(case when t.credit like 'trading:%' then t.amount else -t.amount end)
    from ledger_transfer t
      join ledger_journal j on j.id = t.journal_id
      left join ledger_journal o on o.id = j.reverses
    where coalesce(o.kind, j.kind) = 'settlement'
      and (t.debit like 'liabilities:%' or t.credit like 'liabilities:%')
    group by t.journal_id, t.recorded_at, t.asset
  )
  select j.id as journal_id, j.deposit_id, d.service, d.owner_kind, d.owner_id,
    p.network, p.symbol as asset_symbol, paid.asset, accounting.in_units(paid.amount, p.decimals) as amount,
    paid.amount as amount_base,
    s.network as settlement_network, s.symbol as settlement_asset_symbol, f.asset as settlement_asset,
    accounting.in_units(delivered.amount, s.decimals) as settlement_amount, delivered.amount as settlement_amount_base,
    accounting.in_units(f.amount, s.decimals) as fee, f.amount as fee_base, f.borne_by, j.event_at, j.recorded_at
  from fee f
    join ledger_journal j on j.id = f.journal_id and j.recorded_at = f.recorded_at
    join asset s on s.key = f.asset
    left join deposit d on d.id = j.deposit_id
    left join lateral (
      select e.asset, -sum(e.amount) as amount from ledger_entry e
      where e.journal_id = j.id and e.recorded_at = j.recorded_at
        and e.account like 'assets:in\_transit:%' group by e.asset limit 1
    ) as paid on true
    left join asset p on p.key = paid.asset
    left join lateral (
      select sum(e.amount) as amount from ledger_entry e
      where e.journal_id = j.id and e.recorded_at = j.recorded_at and e.asset = f.asset
        and (e.account like 'assets:forwarded:%' or e.account like 'assets:stable\_wallet:%')
    ) as delivered on true;

comment on view accounting.fees is 'One row per journal that books a fee of the service; a reversal is negative. The sum of those that we bear is the balance of expenses:fees:service.';
comment on column accounting.fees.journal_id is 'Journal that books it.';
comment on column accounting.fees.deposit_id is 'The deposit it was paid for; empty if it was booked by hand.';
comment on column accounting.fees.service is 'Name of the deposit service in the settings; empty if it was booked by hand.';
comment on column accounting.fees.owner_kind is 'channel or stable_wallet.';
comment on column accounting.fees.owner_id is 'Channel or StableWallet that the deposit is for.';
comment on column accounting.fees.network is 'Network of the payment.';
comment on column accounting.fees.asset_symbol is 'Label of the asset paid.';
comment on column accounting.fees.asset is 'Asset paid.';
comment on column accounting.fees.amount is 'Amount paid, in units of the asset.';
comment on column accounting.fees.amount_base is 'Amount paid, in base units.';
comment on column accounting.fees.settlement_network is 'Network of the delivery; stable-wallet for a credit.';
comment on column accounting.fees.settlement_asset_symbol is 'Label of the asset delivered, which is that of the fee.';
comment on column accounting.fees.settlement_asset is 'Asset delivered, and of the fee.';
comment on column accounting.fees.settlement_amount is 'Amount delivered, in units of the asset.';
comment on column accounting.fees.settlement_amount_base is 'Amount delivered, in base units.';
comment on column accounting.fees.fee is 'The fee, in units of the asset delivered.';
comment on column accounting.fees.fee_base is 'The fee, in base units.';
comment on column accounting.fees.borne_by is 'us: an expense; customer: it reduces what is owed.';
comment on column accounting.fees.event_at is 'When the delivery happened.';
comment on column accounting.fees.recorded_at is 'When it was written.';

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
