-- What was read of each chain, for whom: the proof that a payment which is in no table was not overlooked.

-- Every address of the address book, numbered per network in the order in which reading took it up. A number is never
-- given again, so that "all addresses up to number N" keeps its meaning.
create table chain_watch (
  network text not null,
  number integer not null check (number > 0),
  address text not null,
  -- The height from which on its transfers are wanted: where it was made, or where the network's first scan began.
  from_height bigint not null check (from_height >= 0),
  enrolled_at timestamptz not null default now(),
  primary key (network, number),
  unique (network, address)
);

-- A recipient is watched from where the oldest channel was made that forwards to it.
create index owner_forward on owner (forward_network, forward_recipient) where forward_recipient is not null;

-- Up to where each network was read as final, and the assets that are read on it, sorted: what coverage is held against.
create table chain_network (
  network text primary key,
  assets text[] not null,
  height bigint not null check (height >= 0)
);

-- Heights that were read completely as final, for these assets (sorted) and for every address numbered up to `watched`
-- that is wanted at that height. Rows add up; those that say nothing more than another are deleted.
create table chain_coverage (
  network text not null,
  watched integer not null check (watched > 0),
  assets text[] not null,
  heights int8multirange not null,
  primary key (network, watched, assets)
);

-- What changed the balance of a watched address and is nobody's payment to it: what it paid, fees, what it wrapped. It
-- proves balances and is never booked. A row of a height that is not covered (any more) counts for nothing.
create table chain_movement (
  network text not null,
  tx text not null,
  index text not null,
  asset text not null,
  address text not null,
  change numeric(78, 0) not null check (change <> 0),
  height bigint not null check (height >= 0),
  block_hash text not null,
  primary key (network, tx, index, asset, address, block_hash)
);

create index chain_movement_address on chain_movement (network, address, asset, height);
create index chain_movement_height on chain_movement (network, height);

-- A change of history deletes; nothing is ever altered.
create trigger chain_movement_unaltered before update or truncate on chain_movement
  for each statement execute function refuse_change();

-- Since when a gap has been open, by the lowest number of the addresses that it is about. Kept by the job that heals it.
create table chain_gap_since (
  network text not null,
  watched_from integer not null,
  since timestamptz not null,
  primary key (network, watched_from)
);

-- What is wanted and was not read: each address from its first height up to where the network was read, less what was
-- read for all addresses up to its number, or up to a higher one. One row per set of addresses that miss the same.
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

create view accounting.coverage as
  select w.network, w.address, w.from_height, n.height as to_height,
    coalesce((select sum(upper(stretch) - lower(stretch)) from unnest(g.heights) stretch), 0) as missing_heights,
    w.enrolled_at
  from chain_watch w
    join chain_network n on n.network = w.network
    left join chain_gap g on g.network = w.network and g.from_height = w.from_height
      and w.number between g.watched_from and g.watched_to;

comment on view accounting.coverage is 'One row per watched address: the heights that are wanted of it, and how many of them were not read.';
comment on column accounting.coverage.network is 'Network on which it is watched.';
comment on column accounting.coverage.address is 'The address.';
comment on column accounting.coverage.from_height is 'Block or slot from which on its transfers are wanted.';
comment on column accounting.coverage.to_height is 'Block or slot up to which the network was read as final.';
comment on column accounting.coverage.missing_heights is 'How many of these heights were not read for this address and every asset; 0 where reading is complete.';
comment on column accounting.coverage.enrolled_at is 'When reading took it up.';

create view accounting.coverage_gaps as
  select g.network, lower(stretch) as from_height, upper(stretch) - 1 as to_height, g.addresses, g.since
  from chain_gap g, unnest(g.heights) stretch;

comment on view accounting.coverage_gaps is 'Stretches of heights that were not read for some watched addresses. They are read by themselves.';
comment on column accounting.coverage_gaps.network is 'Network of the stretch.';
comment on column accounting.coverage_gaps.from_height is 'First block or slot of it.';
comment on column accounting.coverage_gaps.to_height is 'Last block or slot of it.';
comment on column accounting.coverage_gaps.addresses is 'For how many addresses it was not read.';
comment on column accounting.coverage_gaps.since is 'Since when it is known to be open; empty until it was first looked at.';

comment on column accounting.mismatches.subject is
  'What it is about: deposit/ID, transfer/NETWORK/TX/INDEX, inbox/ID, webhook/EVENT, owner/KIND/ID or network/NAME.';

grant select, insert, update on chain_watch, chain_network to depositd_daemon;
grant select, insert, update, delete on chain_coverage, chain_gap_since to depositd_daemon;
grant select, insert, delete on chain_movement to depositd_daemon;
grant select on chain_gap, accounting.coverage, accounting.coverage_gaps to depositd_daemon;
grant select on accounting.coverage, accounting.coverage_gaps to depositd_accountant;
