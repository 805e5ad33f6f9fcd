-- What was read of each chain and for which addresses: the proof that a payment without a row was not overlooked.

-- Every address of the address book, numbered per network in the order of enrolment. A number is never reused, so that "all
-- addresses up to number N" keeps its meaning.
create table chain_watch (
  network text not null,
  number integer not null check (number > 0),
  address text not null,
  -- Transfers are wanted from this height on: where the address was made, or where the first scan of the network began.
  from_height bigint not null check (from_height >= 0),
  enrolled_at timestamptz not null default now(),
  primary key (network, number),
  unique (network, address)
);

-- How far each network was read as final, and the sorted assets that are read on it. Coverage is compared with this.
create table chain_network (
  network text primary key,
  assets text[] not null,
  height bigint not null check (height >= 0)
);

-- Heights that were completely read as final, for these sorted assets and for every address numbered up to `watched` that
-- is wanted at that height. Rows add up; a row that adds nothing to another is deleted.
create table chain_coverage (
  network text not null,
  watched integer not null check (watched > 0),
  assets text[] not null,
  heights int8multirange not null,
  primary key (network, watched, assets)
);

-- Changes of the balance of a watched address that are no payment to it: what it paid, fees, wrapping. They prove balances
-- and are never booked. A row of a height that is not covered does not count.
create table chain_movement (
  network text not null,
  tx text not null,
  index text not null,
  asset text not null,
  address text not null,
  change numeric(78, 0) not null check (change <> 0),
  height bigint not null check (height >= 0),
  block_hash text not null,
  -- Those who received it and were not addresses of a service when it was read. Null if there are none, and while the
  -- settings name no address of the service of this address on that network.
  outsiders text[],
  primary key (network, tx, index, asset, address, block_hash)
);

create index chain_movement_address on chain_movement (network, address, asset, height);
create index chain_movement_height on chain_movement (network, height);
create index chain_movement_outsiders on chain_movement (network) where outsiders is not null;

-- The addresses of the service by the active rules, as network/address.
create view active_sender as
  select jsonb_array_elements_text(rules::jsonb -> 'senders') as name
  from (select rules from rule_set order by id desc limit 1) as active;

-- A service that names no sender on the network may sweep to any address.
create function outsiders_of(of_network text, deposit_address text, recipients text[]) returns text[] language sql stable
  return (
    select array_agg(one) from unnest(recipients) as one
    where not exists (select from active_sender where name = of_network || '/' || one)
      and exists (
        select from (select rules::jsonb as rules from rule_set order by id desc limit 1) as active
        join address_book on (network, address, role) = (of_network, deposit_address, 'deposit')
        where rules -> 'checkedOutflows' ? (
          case when owner_id like '%/%' then split_part(owner_id, '/', 1) else 'default' end || '/' || of_network
        )
      )
  );

-- A reorganization deletes rows; nothing changes them.
create trigger chain_movement_unaltered before update or truncate on chain_movement
  for each statement execute function refuse_change();

-- Since when a gap has been open, by the lowest number of the addresses it concerns. The job that reads gaps maintains it.
create table chain_gap_since (
  network text not null,
  watched_from integer not null,
  since timestamptz not null,
  primary key (network, watched_from)
);

-- Heights that are wanted and were not read: of each address from its first height up to the height of the network, minus
-- what was read for all addresses up to its number or a higher one. One row per set of addresses with the same gaps.
create view chain_gap as
  with level as materialized (
    select distinct c.network, c.watched,
      range_agg(c.heights) over (partition by c.network order by c.watched desc) as heights
    from chain_coverage c join chain_network n on n.network = c.network and c.assets @> n.assets
  ), missing as (
    select w.network, w.from_height, min(w.number) as watched_from, max(w.number) as watched_to, count(*) as addresses,
      int8multirange(int8range(w.from_height, n.height + 1)) - coalesce(level.heights, '{}') as heights
    from chain_watch w
      join chain_network n on n.network = w.network and n.height >= w.from_height
      left join lateral (
        select nearest.watched, nearest.heights from level nearest
        where nearest.network = w.network and nearest.watched >= w.number
        order by nearest.watched limit 1
      ) level on true
    group by w.network, w.from_height, n.height, level.watched, level.heights
  )
  select missing.network, missing.watched_from, missing.watched_to, missing.addresses, missing.from_height,
    missing.heights, chain_gap_since.since
  from missing left join chain_gap_since using (network, watched_from)
  where not isempty(missing.heights);

-- Transactions that the service names before a chain has shown them. Each is read by its id, with growing pauses, until
-- that can show nothing new. A row is deleted once a transfer is found. Losing all rows costs only time, because scans find
-- the same transfers.
create table named_transaction (
  network text not null,
  tx text not null,
  -- The address that is said to be paid, and the role in which it is watched.
  role text not null check (role in ('deposit', 'recipient')),
  address text not null,
  tries integer not null default 0 check (tries >= 0),
  -- Null if another reading would show nothing new.
  next_at timestamptz,
  primary key (network, tx, role, address)
);

create index named_transaction_due on named_transaction (network, next_at) where next_at is not null;

-- Payments and deliveries that the service claims and no chain has shown in time. Each is searched for on its chain, and
-- the result is stored as evidence: only that tells a missing leg from one that was not read. A row is deleted once the leg
-- is shown. A search without a result is repeated with growing pauses, and when more heights were read.
create table leg_search (
  service_id text not null,
  role text not null check (role in ('deposit', 'recipient')),
  network text not null,
  address text not null,
  -- Null if the service names no transaction.
  tx text,
  -- The earliest time at which the leg can have moved.
  from_at timestamptz not null,
  searched_at timestamptz,
  tries integer not null default 0 check (tries >= 0),
  next_at timestamptz not null,
  unique nulls not distinct (service_id, role, network, address, tx)
);

create index leg_search_due on leg_search (network, next_at);
create index leg_search_address on leg_search (network, address);

-- The balance of each deposit address as it was last read, and the height up to which it is explained.
create table balance_point (
  network text not null,
  address text not null,
  asset text not null references asset,
  -- The height just below the first one that is read for the address, and the balance there: `assumed` to be zero; `read`;
  -- or `left` of the first balance after all known changes since.
  opening_height bigint not null check (opening_height >= -1),
  opening numeric(78, 0) not null default 0 check (opening >= 0),
  opening_is text not null default 'assumed' check (opening_is in ('assumed', 'read', 'left')),
  -- Every change up to this height is explained, or is a balance_difference.
  height bigint not null constraint balance_point_after_opening check (height >= opening_height),
  balance numeric(78, 0) not null check (balance >= 0),
  -- A balance at a later height, which waits until everything up to that height was read.
  reading_height bigint constraint balance_point_reading_after_height check (reading_height >= height),
  reading numeric(78, 0) check (reading >= 0),
  checked_at timestamptz not null,
  primary key (network, address, asset),
  constraint balance_point_reading_complete check ((reading is null) = (reading_height is null))
);

-- A range of heights in which a balance changed by an amount that is not known. The row is deleted once the change is known.
create table balance_difference (
  id bigint generated always as identity primary key,
  network text not null,
  address text not null,
  asset text not null,
  after_height bigint not null,
  after_balance numeric(78, 0) not null,
  height bigint not null check (height > after_height),
  balance numeric(78, 0) not null,
  -- The part of the change that is not explained.
  change numeric(79, 0) not null check (change <> 0),
  -- Why the search did not find the block of the change.
  problem text,
  -- When that block was last searched for.
  searched_at timestamptz,
  found_at timestamptz not null default now(),
  unique (network, address, asset, after_height),
  foreign key (network, address, asset) references balance_point on delete cascade
);

-- The known change of a balance above one height and up to another: final payments that were not orphaned, and all other
-- movements.
create function known_change(of_network text, of_address text, of_asset text, above bigint, up_to bigint)
returns numeric language sql stable as $$
  select
    (select coalesce(sum(amount), 0) from (
      select distinct on (s.transfer) s.amount from chain_transfer s
      where s.network = of_network and s.address = of_address and s.asset = of_asset
        and s.height > above and s.height <= up_to and s.stage = 'final' and s.role = 'deposit'
        and not exists (
          select 1 from chain_transfer gone
          where gone.transfer = s.transfer and gone.stage = 'orphaned' and gone.inbox_id > s.inbox_id
        )
      order by s.transfer, s.inbox_id desc
    ) as received)
    + (select coalesce(sum(m.change), 0) from chain_movement m
      where m.network = of_network and m.address = of_address and m.asset = of_asset
        and m.height > above and m.height <= up_to)
$$;

create view accounting.coverage as
  select w.network, w.address, w.from_height, n.height as to_height,
    coalesce((select sum(upper(stretch) - lower(stretch)) from unnest(g.heights) stretch), 0) as missing_heights,
    w.enrolled_at
  from chain_watch w
    join chain_network n on n.network = w.network
    left join chain_gap g on g.network = w.network and g.from_height = w.from_height
      and w.number between g.watched_from and g.watched_to;

comment on view accounting.coverage is 'One row per watched address: the heights to be read for it, and how many of them were not read.';
comment on column accounting.coverage.network is 'Network on which it is watched.';
comment on column accounting.coverage.address is 'The address.';
comment on column accounting.coverage.from_height is 'First block or slot to be read for it.';
comment on column accounting.coverage.to_height is 'Block or slot up to which the network was read as final.';
comment on column accounting.coverage.missing_heights is 'How many of these heights were not read for this address and every asset; 0 if reading is complete.';
comment on column accounting.coverage.enrolled_at is 'When it was added to the watched addresses.';

create view accounting.coverage_gaps as
  select g.network, lower(stretch) as from_height, upper(stretch) - 1 as to_height, g.addresses, g.since
  from chain_gap g, unnest(g.heights) stretch;

comment on view accounting.coverage_gaps is 'Block ranges that were not read for some watched addresses. They are read again automatically.';
comment on column accounting.coverage_gaps.network is 'Network of the range.';
comment on column accounting.coverage_gaps.from_height is 'First block or slot of the range.';
comment on column accounting.coverage_gaps.to_height is 'Last block or slot of the range.';
comment on column accounting.coverage_gaps.addresses is 'The number of addresses for which it was not read.';
comment on column accounting.coverage_gaps.since is 'When the gap was first found; empty until then.';
