-- What accountants ask for each day and at the end of each month, from the books themselves, so that it adds up to the
-- trial balance whatever was taken back. A reversal counts against what it reverses, at the time of that.

-- Every line that touches what is in transit, with the kind of journal that it is of, or that it takes back.
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

comment on view ledger_transit is 'Lines that bring something in transit, as positive amounts, or out of it.';

grant select on ledger_transit to depositd_daemon;

create view accounting.daily_totals as
  select t.day, d.owner_kind, d.owner_id, a.network, a.symbol as asset_symbol, t.asset,
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
  group by t.day, d.owner_kind, d.owner_id, a.network, a.symbol, a.decimals, t.asset
  having sum(t.deposits) <> 0 or sum(t.settlements) <> 0
    or sum(t.came_in) <> 0 or sum(t.settled) <> 0 or sum(t.otherwise) <> 0;

comment on view accounting.daily_totals is 'One row per day, owner and asset: what came in, and what left transit. What was taken back counts for nothing, of the day on which it had happened.';
comment on column accounting.daily_totals.day is 'Day, in UTC, on which it happened in the world.';
comment on column accounting.daily_totals.owner_kind is 'channel or stable_wallet; empty where a journal is of no deposit.';
comment on column accounting.daily_totals.owner_id is 'Channel or StableWallet whose address was paid.';
comment on column accounting.daily_totals.network is 'Network of the payments.';
comment on column accounting.daily_totals.asset_symbol is 'Label of the asset paid.';
comment on column accounting.daily_totals.asset is 'Asset paid: network/contract, network/mint or network/native.';
comment on column accounting.daily_totals.deposits is 'How many payments became final, of that day.';
comment on column accounting.daily_totals.amount is 'Their sum, in units of the asset.';
comment on column accounting.daily_totals.amount_base is 'Their sum, in smallest units.';
comment on column accounting.daily_totals.unclaimed is 'What of it stands in suspense, in units of the asset.';
comment on column accounting.daily_totals.unclaimed_base is 'What of it stands in suspense, in smallest units.';
comment on column accounting.daily_totals.settlements is 'How many payments were delivered, of that day.';
comment on column accounting.daily_totals.settled is 'What they took out of transit, in units of the asset paid.';
comment on column accounting.daily_totals.settled_base is 'What they took out of transit, in smallest units.';
comment on column accounting.daily_totals.otherwise is 'What left transit otherwise: written off, refunded, or booked by hand; in units of the asset.';
comment on column accounting.daily_totals.otherwise_base is 'What left transit otherwise, in smallest units.';

create view accounting.fees as
  with fee as (
    select e.journal_id, e.asset, sum(e.amount) as amount from ledger_entry e
    where e.account = 'expenses:fees:service' group by e.journal_id, e.asset
  )
  select j.id as journal_id, j.deposit_id, d.owner_kind, d.owner_id,
    p.network, p.symbol as asset_symbol, paid.asset, accounting.in_units(paid.amount, p.decimals) as amount,
    paid.amount as amount_base,
    s.network as settlement_network, s.symbol as settlement_asset_symbol, f.asset as settlement_asset,
    accounting.in_units(delivered.amount, s.decimals) as settlement_amount, delivered.amount as settlement_amount_base,
    accounting.in_units(f.amount, s.decimals) as fee, f.amount as fee_base, j.event_at, j.recorded_at
  from fee f
    join ledger_journal j on j.id = f.journal_id
    join asset s on s.key = f.asset
    left join deposit d on d.id = j.deposit_id
    left join lateral (
      select e.asset, -sum(e.amount) as amount from ledger_entry e
      where e.journal_id = j.id and e.account like 'assets:in\_transit:%' group by e.asset limit 1
    ) as paid on true
    left join asset p on p.key = paid.asset
    left join lateral (
      select sum(e.amount) as amount from ledger_entry e
      where e.journal_id = j.id and e.asset = f.asset
        and (e.account like 'assets:forwarded:%' or e.account like 'assets:stable\_wallet:%')
    ) as delivered on true;

comment on view accounting.fees is 'One row per journal that books a fee of the service; of a reversal, everything is negative. The sum is the balance of expenses:fees:service.';
comment on column accounting.fees.journal_id is 'Journal that books it.';
comment on column accounting.fees.deposit_id is 'The deposit it was paid for; empty where it was booked by hand.';
comment on column accounting.fees.owner_kind is 'channel or stable_wallet.';
comment on column accounting.fees.owner_id is 'Channel or StableWallet that the deposit is for.';
comment on column accounting.fees.network is 'Network of the payment.';
comment on column accounting.fees.asset_symbol is 'Label of the asset paid.';
comment on column accounting.fees.asset is 'Asset paid.';
comment on column accounting.fees.amount is 'Amount paid, in units of the asset.';
comment on column accounting.fees.amount_base is 'Amount paid, in smallest units.';
comment on column accounting.fees.settlement_network is 'Network of the delivery; stable-wallet for a credit.';
comment on column accounting.fees.settlement_asset_symbol is 'Label of the asset delivered, which is that of the fee.';
comment on column accounting.fees.settlement_asset is 'Asset delivered, and of the fee.';
comment on column accounting.fees.settlement_amount is 'Amount delivered, in units of the asset.';
comment on column accounting.fees.settlement_amount_base is 'Amount delivered, in smallest units.';
comment on column accounting.fees.fee is 'The fee, in units of the asset delivered.';
comment on column accounting.fees.fee_base is 'The fee, in smallest units.';
comment on column accounting.fees.event_at is 'When the delivery happened in the world.';
comment on column accounting.fees.recorded_at is 'When it was written.';

-- Of a security definer, since accountants read no table.
create function accounting.in_transit_at(as_of timestamptz, recorded_as_of timestamptz default now())
returns table (
  deposit_id bigint, service_id text, state text, owner_kind text, owner_id text, network text, asset_symbol text,
  asset text, amount numeric, amount_base numeric, since timestamptz, age interval, bucket text, from_age interval
)
language sql stable security definer set search_path = pg_catalog, public
as $$
  with held as (
    select t.deposit_id, t.account, t.asset, sum(t.amount) as amount, min(t.event_at) as first_at
    from ledger_transit t where t.event_at <= as_of and t.recorded_at <= recorded_as_of
    group by t.deposit_id, t.account, t.asset having sum(t.amount) <> 0
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
  select h.deposit_id, d.service_id, d.state, d.owner_kind, d.owner_id, split_part(h.account, ':', 3), a.symbol, h.asset,
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
  'What was in transit at a moment, by what had happened until as_of and was written until recorded_as_of: columns as in accounting.in_transit_age.';
revoke execute on function accounting.in_transit_at from public;
grant execute on function accounting.in_transit_at to depositd_accountant, depositd_daemon;

create view accounting.in_transit_age as
  select * from accounting.in_transit_at(now());

comment on view accounting.in_transit_age is 'One row per deposit that is in transit now, with its age. accounting.in_transit_at(as_of, recorded_as_of) is the same for any moment. The sum is the balance of assets:in_transit.';
comment on column accounting.in_transit_age.deposit_id is 'Our number of the deposit; empty where a journal is of no deposit.';
comment on column accounting.in_transit_age.service_id is 'The deposit service''s own id; empty while the service has not reported it.';
comment on column accounting.in_transit_age.state is 'State of the deposit, as the evidence stands now.';
comment on column accounting.in_transit_age.owner_kind is 'channel or stable_wallet.';
comment on column accounting.in_transit_age.owner_id is 'Channel or StableWallet whose address was paid.';
comment on column accounting.in_transit_age.network is 'Network on which it is in transit.';
comment on column accounting.in_transit_age.asset_symbol is 'Label of the asset.';
comment on column accounting.in_transit_age.asset is 'Asset: network/contract, network/mint or network/native.';
comment on column accounting.in_transit_age.amount is 'What is in transit of it, in units of the asset.';
comment on column accounting.in_transit_age.amount_base is 'What is in transit of it, in smallest units.';
comment on column accounting.in_transit_age.since is 'Since when: the time of the block that holds the payment.';
comment on column accounting.in_transit_age.age is 'From then until now, or until the moment asked for.';
comment on column accounting.in_transit_age.bucket is '< 1 h, < 24 h, < 3 d, < 7 d, < 30 d or older, each without those before it.';
comment on column accounting.in_transit_age.from_age is 'Least age in the bucket. Sort by it.';

grant select on accounting.daily_totals, accounting.fees, accounting.in_transit_age
  to depositd_accountant, depositd_daemon;

-- Books and balances of deposit addresses, held against each other. Each payment that is known of an address, by what
-- was last seen of it and by what is booked of it, falls under one heading; what falls under none is a difference.
create view ledger_tie as
  with booked as (
    select t.transfer, t.asset, sum(t.amount) filter (where t.kind = 'deposit') as came_in, sum(t.amount) as in_transit
    from ledger_transit t group by t.transfer, t.asset
  ), waiting as (
    select distinct s.transfer from inbox_pending i join sighting s on s.inbox_id = i.inbox_id
  ), seen as (
    select distinct on (s.transfer) s.transfer, s.network, s.address, s.asset, s.amount, s.height,
      s.stage = 'final' as is_standing
    from sighting s where s.role = 'deposit' and s.stage in ('final', 'orphaned')
    order by s.transfer, s.inbox_id desc
  ), payment as (
    select coalesce(s.network, split_part(b.asset, '/', 1)) as network, s.address, coalesce(s.asset, b.asset) as asset,
      case when s.is_standing then s.amount else 0 end as held, s.height, w.transfer is not null as is_waiting,
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

comment on view ledger_tie is 'Of each deposit address and asset: from what is in transit to what it was proved to hold.';

grant select on ledger_tie to depositd_daemon;

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

comment on view accounting.tie_out is 'One row per deposit address and asset: from what the books have in transit there to the balance that was last proved of it. in_transit + out_of_transit + not_booked + outside + opening + moved + unexplained + difference = balance.';
comment on column accounting.tie_out.network is 'Network of the address.';
comment on column accounting.tie_out.address is 'Deposit address; empty for what is in transit of no payment that was seen, like a journal by hand.';
comment on column accounting.tie_out.owner_kind is 'channel or stable_wallet.';
comment on column accounting.tie_out.owner_id is 'Channel or StableWallet of the address.';
comment on column accounting.tie_out.asset_symbol is 'Label of the asset.';
comment on column accounting.tie_out.asset is 'Asset: network/contract, network/mint or network/native.';
comment on column accounting.tie_out.height is 'Final block or slot at which the balance was last proved; empty while it never was.';
comment on column accounting.tie_out.checked_at is 'When the balance was last read.';
comment on column accounting.tie_out.in_transit is 'What the books have in transit of payments to the address, in units of the asset.';
comment on column accounting.tie_out.in_transit_base is 'What the books have in transit, in smallest units.';
comment on column accounting.tie_out.out_of_transit is 'What the books took out of transit of them: delivered, written off, refunded; in units of the asset.';
comment on column accounting.tie_out.out_of_transit_base is 'What the books took out of transit, in smallest units.';
comment on column accounting.tie_out.not_booked is 'Payments that are on the chain and not booked: not claimed yet, about to be decided, or no deposits; in units of the asset.';
comment on column accounting.tie_out.not_booked_base is 'Payments that are on the chain and not booked, in smallest units.';
comment on column accounting.tie_out.outside is 'Booked payments above the height of the balance, or below where reading began, which it does not hold; less than zero; in units of the asset.';
comment on column accounting.tie_out.outside_base is 'Booked payments outside of what the balance covers, in smallest units.';
comment on column accounting.tie_out.opening is 'What the address held where reading began, in units of the asset.';
comment on column accounting.tie_out.opening_base is 'What the address held where reading began, in smallest units.';
comment on column accounting.tie_out.moved is 'What the chain shows to have moved otherwise, in units of the asset; what was sent on is less than zero.';
comment on column accounting.tie_out.moved_base is 'What the chain shows to have moved otherwise, in smallest units.';
comment on column accounting.tie_out.unexplained is 'What the balance changed by beyond all that is known, in units of the asset: each an unexplained_balance.';
comment on column accounting.tie_out.unexplained_base is 'What the balance changed by beyond all that is known, in smallest units.';
comment on column accounting.tie_out.balance is 'What the address was proved to hold, in units of the asset.';
comment on column accounting.tie_out.balance_base is 'What the address was proved to hold, in smallest units.';
comment on column accounting.tie_out.difference is 'What the books and the balance do not agree on, in units of the asset; anything but zero is a ledger_imbalance.';
comment on column accounting.tie_out.difference_base is 'What the books and the balance do not agree on, in smallest units.';

grant select on accounting.tie_out to depositd_accountant, depositd_daemon;
