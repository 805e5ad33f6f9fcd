-- What is in transit and in wallets, and the books compared with the balances of addresses.

-- A security definer, because accountants have no right to the tables.
create function accounting.in_transit_at(as_of timestamptz, recorded_as_of timestamptz default now())
returns table (
  deposit_id bigint, service text, service_id text, state text, owner_kind text, owner_id text, network text, asset_symbol text,
  asset text, amount numeric, amount_base numeric, since timestamptz, age interval, bucket text, from_age interval
)
language sql stable security definer set search_path = pg_catalog, public, pg_temp
as $$
  with opening as (
    select ledger_opened_at(recorded_as_of) as at
  ), held as (
    -- A payment from before the opening is part of that, and so is what leaves transit of it.
    select paid.deposit_id, t.account, t.asset, sum(t.amount) as amount,
      case when paid.deposit_id is null then greatest(min(t.event_at), o.at) else min(t.event_at) end as first_at
    from opening o cross join ledger_transit t
      left join deposit d on d.id = t.deposit_id
      cross join lateral (select case when d.deposited_at <= o.at then null else t.deposit_id end as deposit_id) as paid
    where t.event_at <= as_of and t.recorded_at <= recorded_as_of
    group by paid.deposit_id, t.account, t.asset, o.at having sum(t.amount) <> 0
  ), aging as (
    -- Since the payment that stands: one that came back in another block is booked anew, of its time.
    select h.*, coalesce((
      select min(j.event_at) from ledger_journal j
      where j.deposit_id = h.deposit_id and j.kind = 'deposit'
        and j.event_at <= as_of and j.recorded_at <= recorded_as_of
        and not exists (
          select from ledger_journal r where r.reverses = j.id and r.recorded_at <= recorded_as_of
        )
    ), h.first_at) as since
    from held h
  )
  select h.deposit_id, d.service, d.service_id, d.state, d.owner_kind, d.owner_id, split_part(h.account, ':', 3), a.symbol, h.asset,
    accounting.in_units(h.amount, a.decimals), h.amount, h.since, as_of - h.since, aged.bucket, aged.from_age
  from aging h
    join asset a on a.key = h.asset
    left join deposit d on d.id = h.deposit_id
    cross join lateral (
      select b.bucket, b.from_age from (values
        ('< 1 h', interval '0'), ('< 24 h', interval '1 hour'), ('< 3 d', interval '24 hours'),
        ('< 7 d', interval '3 days'), ('< 30 d', interval '7 days'), ('older', interval '30 days')
      ) as b (bucket, from_age)
      where b.from_age <= greatest(as_of - h.since, interval '0') order by b.from_age desc limit 1
    ) as aged
$$;

comment on function accounting.in_transit_at is
  'Amounts in transit at a moment: events up to as_of, as recorded up to recorded_as_of. Columns as in accounting.in_transit_age.';

create view accounting.in_transit_age as
  select * from accounting.in_transit_at(now());

comment on view accounting.in_transit_age is 'One row per deposit that is in transit now, with its age. accounting.in_transit_at(as_of, recorded_as_of) is the same for any moment. The sum is the balance of assets:in_transit.';
comment on column accounting.in_transit_age.deposit_id is 'Our number of the deposit; empty for opening balances and payments that are part of them.';
comment on column accounting.in_transit_age.service is 'Name of the deposit service in the settings; empty if the row has no deposit.';
comment on column accounting.in_transit_age.service_id is 'The deposit service''s own id; empty while the service has not reported it.';
comment on column accounting.in_transit_age.state is 'State of the deposit, as the evidence stands now.';
comment on column accounting.in_transit_age.owner_kind is 'channel or stable_wallet.';
comment on column accounting.in_transit_age.owner_id is 'Channel or StableWallet whose address was paid.';
comment on column accounting.in_transit_age.network is 'Network on which it is in transit.';
comment on column accounting.in_transit_age.asset_symbol is 'Label of the asset.';
comment on column accounting.in_transit_age.asset is 'Asset: network/contract, network/mint or network/native.';
comment on column accounting.in_transit_age.amount is 'The amount in transit, in units of the asset.';
comment on column accounting.in_transit_age.amount_base is 'The amount in transit, in base units.';
comment on column accounting.in_transit_age.since is 'Time of the block that holds the payment, or of the opening.';
comment on column accounting.in_transit_age.age is 'From then until now, or until the moment asked for.';
comment on column accounting.in_transit_age.bucket is '< 1 h, < 24 h, < 3 d, < 7 d, < 30 d or older, each without those before it.';
comment on column accounting.in_transit_age.from_age is 'Least age in the bucket. Sort by it.';

create view accounting.open_conversions as
  select t.deposit_id, d.service, d.service_id, d.state, d.owner_kind, d.owner_id, a.symbol as asset_symbol, t.asset,
    accounting.in_units(t.amount, a.decimals) as amount, t.amount as amount_base, t.since, now() - t.since as age
  from (
    select j.deposit_id, e.asset, sum(e.amount) as amount, min(e.event_at) as since
    from ledger_entry e join ledger_journal j on j.id = e.journal_id
    where e.account like 'trading:%' and j.deposit_id is not null
    group by j.deposit_id, e.asset having sum(e.amount) <> 0
  ) as t
  join asset a on a.key = t.asset
  join deposit d on d.id = t.deposit_id
  where exists (
    select from ledger_journal j join ledger_transfer o on o.journal_id = j.id and o.recorded_at = j.recorded_at
    where j.deposit_id = t.deposit_id and (o.debit like 'liabilities:%' or o.credit like 'liabilities:%')
  );

comment on view accounting.open_conversions is 'One row per deposit and asset: a delivery is booked, and what is owed has not moved into the asset delivered, or more or less arrived than is owed. Deposits that are income or own funds are left out.';
comment on column accounting.open_conversions.deposit_id is 'Our number of the deposit.';
comment on column accounting.open_conversions.service is 'Name of the deposit service in the settings.';
comment on column accounting.open_conversions.service_id is 'The deposit service''s own id; empty while the service has not reported it.';
comment on column accounting.open_conversions.state is 'State of the deposit, as the evidence stands now.';
comment on column accounting.open_conversions.owner_kind is 'channel or stable_wallet.';
comment on column accounting.open_conversions.owner_id is 'Channel or StableWallet whose address was paid.';
comment on column accounting.open_conversions.asset_symbol is 'Label of the asset.';
comment on column accounting.open_conversions.asset is 'Asset: network/contract, network/mint or network/native.';
comment on column accounting.open_conversions.amount is 'Balance of the trading account for this deposit, in units of the asset: above zero if it was given away, below zero if it was received.';
comment on column accounting.open_conversions.amount_base is 'The same amount, in base units.';
comment on column accounting.open_conversions.since is 'When the delivery happened.';
comment on column accounting.open_conversions.age is 'From then until now.';

create view accounting.withdrawals as
  select w.service, w.wallet, w.withdrawal_id, w.status, w.state, a.symbol as asset_symbol, w.asset,
    accounting.in_units(w.amount, a.decimals) as amount, w.amount as amount_base, w.network, w.recipient, w.tx, w.transfer,
    w.occurred_at, j.id as journal_id
  from withdrawal w left join asset a on a.key = w.asset
    left join lateral (
      select id from ledger_journal booked
      where booked.transfer = w.transfer and booked.kind = 'withdrawal'
        and not exists (select from ledger_journal taken where taken.reverses = booked.id)
      limit 1
    ) j on true;

comment on view accounting.withdrawals is 'Withdrawals from StableWallets that the service lists, with the journal that books each.';
comment on column accounting.withdrawals.service is 'Name of the deposit service in the settings.';
comment on column accounting.withdrawals.wallet is 'Id of the StableWallet.';
comment on column accounting.withdrawals.withdrawal_id is 'Id of the withdrawal at the service, unique within the wallet.';
comment on column accounting.withdrawals.status is 'What the service states: requested, sent, settled or failed.';
comment on column accounting.withdrawals.state is 'What is proved: requested, sent, paid, failed or unproved.';
comment on column accounting.withdrawals.asset_symbol is 'Label of the asset that leaves the balance.';
comment on column accounting.withdrawals.asset is 'Asset that leaves the balance.';
comment on column accounting.withdrawals.amount is 'What leaves the balance, in units of the asset.';
comment on column accounting.withdrawals.amount_base is 'What leaves the balance, in base units.';
comment on column accounting.withdrawals.network is 'Network to which it is paid.';
comment on column accounting.withdrawals.recipient is 'Address to which it is paid.';
comment on column accounting.withdrawals.tx is 'Transaction that the service names.';
comment on column accounting.withdrawals.transfer is 'Its transfer on the chain: network/transaction/index.';
comment on column accounting.withdrawals.occurred_at is 'Time of the status.';
comment on column accounting.withdrawals.journal_id is 'The journal that books it; empty until it is proved.';

create view accounting.wallet_balances as
  select b.service, b.wallet, a.symbol as asset_symbol, b.asset, accounting.in_units(b.balance, a.decimals) as balance,
    b.balance as balance_base, accounting.in_units(b.books, a.decimals) as books, b.books as books_base,
    accounting.in_units(b.leaving, a.decimals) as leaving, accounting.in_units(b.arriving, a.decimals) as arriving,
    accounting.in_units(least(b.balance - b.books + b.leaving, 0) + greatest(b.balance - b.books - b.arriving, 0), a.decimals)
      as difference,
    b.read_at, b.differs_since
  from wallet_balance b left join asset a on a.key = b.asset;

comment on view accounting.wallet_balances is 'The balance of each StableWallet as the service states it, beside its account in the books.';
comment on column accounting.wallet_balances.service is 'Name of the deposit service in the settings.';
comment on column accounting.wallet_balances.wallet is 'Id of the StableWallet.';
comment on column accounting.wallet_balances.asset_symbol is 'Label of the asset.';
comment on column accounting.wallet_balances.asset is 'Asset in which the wallet is credited.';
comment on column accounting.wallet_balances.balance is 'As the service states it, in units of the asset.';
comment on column accounting.wallet_balances.balance_base is 'As the service states it, in base units.';
comment on column accounting.wallet_balances.books is 'Balance of the account assets:stable_wallet:WALLET, in units of the asset.';
comment on column accounting.wallet_balances.books_base is 'The same in base units.';
comment on column accounting.wallet_balances.leaving is 'Withdrawals that are not proved yet, in units of the asset.';
comment on column accounting.wallet_balances.arriving is 'Credits of open deposits that are not proved yet, in units of the asset.';
comment on column accounting.wallet_balances.difference is 'By how much the balance is below the books less leaving (negative) or above the books plus arriving (positive).';
comment on column accounting.wallet_balances.read_at is 'When the balance was read.';
comment on column accounting.wallet_balances.differs_since is 'Since when there is a difference; empty if there is none.';

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
