-- Assets, their prices, and the owners whose addresses are watched.

-- Accountants read this schema. Its names are stable; the tables behind them are not.
create schema accounting;

create function accounting.in_units(amount numeric, decimals smallint) returns numeric
  language sql immutable parallel safe
  return amount * ('1e-' || decimals)::numeric;

comment on function accounting.in_units is
  'An integer of smallest units as a decimal in units of the asset. Exact: a product of numerics keeps every digit, which a quotient would not.';

-- Assets as the settings name them. Decimals are checked on chain and pinned here.
create table asset (
  key text primary key,
  network text not null,
  symbol text not null,
  decimals smallint not null check (decimals between 0 and 38)
);

-- Decimals give every stored amount its meaning, so they stay as they are once a deposit has the asset.
create function hold_decimals() returns trigger
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  if exists (select from public.deposit where old.key in (asset, settlement_asset)) then
    raise exception 'asset %: amounts were kept by % decimals', old.key, old.decimals
      using errcode = 'restrict_violation';
  end if;
  return new;
end
$$;
create trigger asset_holds_decimals before update on asset
  for each row when (old.decimals <> new.decimals) execute function hold_decimals();

-- Prices in a currency of the operator's. They stay outside the books; each keeps its source and its time.
create table price (
  id bigint generated always as identity primary key,
  asset text not null references asset,
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  -- The time for which it is the price of one unit of the asset.
  at timestamptz not null,
  price numeric not null check (price > 0 and price < 'Infinity'),
  source text not null check (source <> ''),
  imported_at timestamptz not null default clock_timestamp(),
  unique (asset, currency, at, source)
);

create trigger price_append_only before update or delete or truncate on price
  for each statement execute function refuse_change();

-- The currency of valuations, and the highest age of a price. The last row applies; without a currency, nothing is valued.
create table valuation_rule (
  id bigint generated always as identity primary key,
  currency text check (currency ~ '^[A-Z]{3}$'),
  max_age interval check (max_age > interval '0'),
  since timestamptz not null default clock_timestamp(),
  check ((currency is null) = (max_age is null))
);

create trigger valuation_rule_append_only before update or delete or truncate on valuation_rule
  for each statement execute function refuse_change();

create view active_valuation as
  select currency, max_age from (select * from valuation_rule order by id desc limit 1) as rule where currency is not null;

comment on view active_valuation is 'No row while nothing is valued.';

-- Channels and StableWallets, and where the service was told to forward their deposits.
create table owner (
  kind text not null check (kind in ('channel', 'stable_wallet')),
  id text not null check (id <> ''),
  service text not null default 'default',
  forward_network text,
  forward_asset text,
  forward_recipient text,
  created_at timestamptz not null default now(),
  primary key (kind, id, service),
  check ((kind = 'channel') = (forward_recipient is not null)),
  check ((kind = 'channel') = (forward_network is not null))
);

-- A recipient is watched from the creation of the oldest channel that forwards to it.
create index owner_forward on owner (forward_network, forward_recipient) where forward_recipient is not null;

-- Every watched address. A recipient may serve several owners, so it names none.
create table address_book (
  network text not null,
  address text not null,
  role text not null check (role in ('deposit', 'recipient')),
  owner_kind text,
  owner_id text,
  service text not null default 'default',
  added_at timestamptz not null default now(),
  primary key (network, address, role),
  foreign key (owner_kind, owner_id, service) references owner (kind, id, service),
  check ((role = 'deposit') = (owner_id is not null))
);

-- A claim names an owner; each claim is compared with the addresses of that owner.
create index address_book_owner on address_book (owner_kind, owner_id, service) where owner_id is not null;

-- Canaries check the whole path: a webhook to the daemon's own public address, and a tiny deposit of the operator's. Neither
-- is evidence of a customer's money. One row per canary: webhook, or deposit/NETWORK. The scheduler that advances started_at
-- runs it, so that several schedulers pay once. A canary that the settings no longer ask for is off; since says when it
-- was last switched on, or when this owner began to be paid.
create table canary (
  name text primary key check (name = 'webhook' or name like 'deposit/%'),
  is_on boolean not null default true,
  owner text,
  since timestamptz not null default now(),
  started_at timestamptz,
  succeeded_at timestamptz
);

-- Owners whose deposits are canaries. An owner stays a canary whatever the settings say: earlier payments to it were never
-- a customer's. To correct an error, the owner of the database deletes the row (docs/canary.md).
create table canary_owner (
  kind text not null check (kind in ('channel', 'stable_wallet')),
  id text not null,
  service text not null default 'default',
  since timestamptz not null default now(),
  primary key (kind, id, service)
);

-- A canary webhook is recognized by a token, of which only the hash is stored. Old rows are deleted.
create table canary_webhook (
  token_sha256 bytea primary key check (length(token_sha256) = 32),
  sent_at timestamptz not null default now(),
  received_at timestamptz
);

-- A row is written before the payment, and has its transaction before that is sent: the outcome of a payment is known
-- even if the process ends in between.
create table canary_deposit (
  id bigint generated always as identity primary key,
  network text not null,
  asset text not null references asset,
  amount numeric(78, 0) not null check (amount > 0),
  address text not null,
  started_at timestamptz not null default now(),
  tx text,
  outcome text check (outcome in ('reconciled', 'late', 'unpaid')),
  reconciled_at timestamptz,
  unique (network, tx)
);

create index canary_deposit_open on canary_deposit (network, started_at) where reconciled_at is null;
