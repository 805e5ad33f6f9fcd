-- What a sighting is about, beside its text, so that payments to one address can be summed. Rows of older programs have
-- it not; whoever sums fills it in first.
alter table sighting add column role text check (role in ('deposit', 'recipient'));
alter table sighting add column address text;
alter table sighting add column asset text;
alter table sighting add column amount numeric(78, 0);

create index sighting_unfilled on sighting (inbox_id) where role is null;
create index sighting_received on sighting (network, address, asset, height) where stage = 'final' and role = 'deposit';

grant update (role, address, asset, amount) on sighting to depositd_daemon;

-- What each deposit address holds, as it was last read, and up to which height that is explained.
create table balance_point (
  network text not null,
  address text not null,
  asset text not null references asset,
  -- Just below the first height that is read for the address, and what it held then: assumed to be nothing; read; or
  -- what was left of the first balance after all that is known to have come and gone since.
  opening_height bigint not null check (opening_height >= -1),
  opening numeric(78, 0) not null default 0 check (opening >= 0),
  opening_is text not null default 'assumed' check (opening_is in ('assumed', 'read', 'left')),
  -- Up to here every change is explained, or is a balance_difference.
  height bigint not null check (height >= opening_height),
  balance numeric(78, 0) not null check (balance >= 0),
  -- A balance above that, which waits until everything up to its height has been read.
  reading_height bigint check (reading_height >= height),
  reading numeric(78, 0) check (reading >= 0),
  checked_at timestamptz not null,
  primary key (network, address, asset),
  check ((reading is null) = (reading_height is null))
);

-- A stretch in which a balance changed by more, or less, than is known. It goes once the change is known.
create table balance_difference (
  id bigint generated always as identity primary key,
  network text not null,
  address text not null,
  asset text not null,
  after_height bigint not null,
  after_balance numeric(78, 0) not null,
  height bigint not null check (height > after_height),
  balance numeric(78, 0) not null,
  -- What is not explained of it.
  change numeric(79, 0) not null check (change <> 0),
  -- Why the one block was not found.
  problem text,
  -- When the block was last searched for.
  searched_at timestamptz,
  found_at timestamptz not null default now(),
  unique (network, address, asset, after_height),
  foreign key (network, address, asset) references balance_point on delete cascade
);

grant select, insert, update, delete on balance_point, balance_difference to depositd_daemon;

-- By how much what is stored says that a balance changed above one height and up to another: payments received that
-- are final and still stand, and all other movements.
create function known_change(of_network text, of_address text, of_asset text, above bigint, up_to bigint)
returns numeric language sql stable as $$
  select
    (select coalesce(sum(amount), 0) from (
      select distinct on (s.transfer) s.amount from sighting s
      where s.network = of_network and s.address = of_address and s.asset = of_asset
        and s.height > above and s.height <= up_to and s.stage = 'final' and s.role = 'deposit'
        and not exists (
          select 1 from sighting gone
          where gone.transfer = s.transfer and gone.stage = 'orphaned' and gone.inbox_id > s.inbox_id
        )
      order by s.transfer, s.inbox_id desc
    ) as received)
    + (select coalesce(sum(m.change), 0) from chain_movement m
      where m.network = of_network and m.address = of_address and m.asset = of_asset
        and m.height > above and m.height <= up_to)
$$;

comment on column accounting.mismatches.subject is
  'What it is about: deposit/ID, transfer/NETWORK/TX/INDEX, inbox/ID, webhook/EVENT, owner/KIND/ID, network/NAME or balance/NETWORK/ADDRESS/ASSET.';
