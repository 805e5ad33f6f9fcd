create schema service;

-- Each owner takes one branch of the seed, for good. Branch 0 is the liquidity wallet; a branch that a lost race
-- leaves unused is never handed out again.
create sequence service.branch as integer minvalue 1;

create table service.owner (
  branch integer primary key check (branch > 0),
  kind text not null check (kind in ('channel', 'stable_wallet')),
  id text not null check (length(id) between 1 and 128),
  evm_address text not null unique,
  solana_address text not null unique,
  forward_network text,
  forward_asset text,
  forward_recipient text,
  created_at timestamptz not null default clock_timestamp(),
  unique (kind, id),
  check (num_nonnulls(forward_network, forward_asset, forward_recipient) = case kind when 'channel' then 3 else 0 end)
);
comment on table service.owner is 'Whom deposit addresses belong to: a channel with its forwarding rule, or a StableWallet.';

create table service.deposit (
  id text primary key,
  -- Rows are inserted under one lock, so that their order is the order in which readers see them appear.
  sequence bigint generated always as identity unique,
  revision integer not null default 1,
  owner_kind text not null,
  owner_id text not null,
  status text not null check (status in ('detected', 'confirmed', 'forwarding', 'settled', 'credited', 'failed')),
  failure text check (failure in ('vanished', 'too_small')),
  network text not null,
  address text not null,
  asset text not null,
  contract text,
  decimals smallint not null check (decimals >= 0),
  amount numeric(78, 0) not null check (amount > 0),
  transaction text not null,
  index text not null,
  sender text,
  block bigint not null,
  block_hash text,
  block_at timestamptz not null,
  to_network text,
  to_address text not null,
  to_asset text not null,
  to_contract text,
  to_decimals smallint not null check (to_decimals >= 0),
  to_amount numeric(78, 0) check (to_amount >= 0),
  to_transaction text,
  to_at timestamptz,
  fee numeric(78, 0) check (fee >= 0),
  rate text,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  foreign key (owner_kind, owner_id) references service.owner (kind, id),
  check ((owner_kind = 'channel') = (to_network is not null)),
  check ((status = 'failed') = (failure is not null)),
  check ((status in ('forwarding', 'settled')) <= (to_transaction is not null)),
  check ((status in ('forwarding', 'settled', 'credited')) <= (num_nonnulls(to_amount, fee, rate) = 3)),
  check ((status in ('settled', 'credited')) <= (to_at is not null)),
  check ((status = 'settled') <= (owner_kind = 'channel') and (status = 'credited') <= (owner_kind = 'stable_wallet'))
);

-- One transfer is one deposit. What a reorganisation took away may come back, as another deposit.
create unique index deposit_once on service.deposit (network, transaction, index)
  where failure is distinct from 'vanished';
create index deposit_open on service.deposit (status, network) where status in ('detected', 'confirmed', 'forwarding');
create index deposit_to_transaction on service.deposit (to_transaction);
create index deposit_owner on service.deposit (owner_id);
create index deposit_updated on service.deposit (updated_at);

create table service.event (
  id text primary key,
  sequence bigint generated always as identity unique,
  type text not null check (type ~ '^deposit\.[a-z]+$'),
  deposit_id text not null references service.deposit,
  revision integer not null,
  -- Text, not jsonb: these very bytes are signed and sent, at every attempt.
  body text not null,
  created_at timestamptz not null,
  unique (deposit_id, revision)
);

-- No change of state without its event: the transaction that made a revision must have written the event of it.
alter table service.deposit add constraint deposit_has_event foreign key (id, revision)
  references service.event (deposit_id, revision) deferrable initially deferred;

create function service.count_revision() returns trigger language plpgsql as $$
begin
  new.updated_at := clock_timestamp();
  if (new.status, new.to_transaction) is distinct from (old.status, old.to_transaction) then
    new.revision := old.revision + 1;
  end if;
  return new;
end
$$;

create trigger deposit_revision before update on service.deposit
  for each row execute function service.count_revision();

-- And no event without its change of state: an event tells of the newest revision, and is never rewritten.
create function service.check_event() returns trigger language plpgsql as $$
begin
  if not exists (select from service.deposit where id = new.deposit_id and revision = new.revision) then
    raise exception 'event % tells of revision % of %, which is not its state', new.id, new.revision, new.deposit_id;
  end if;
  return new;
end
$$;

create trigger event_tells_state before insert or update on service.event
  for each row execute function service.check_event();

create table service.delivery (
  event_id text not null references service.event,
  url text not null,
  attempts integer not null default 0,
  next_at timestamptz default clock_timestamp(),
  delivered_at timestamptz,
  answer text,
  primary key (event_id, url),
  check ((delivered_at is null) = (next_at is not null))
);
comment on table service.delivery is 'One event on its way to one webhook endpoint. next_at is null once it was delivered.';
create index delivery_due on service.delivery (next_at) where next_at is not null;

create table service.forward (
  transaction text primary key,
  deposit_id text not null references service.deposit,
  attempt smallint not null check (attempt > 0),
  network text not null,
  -- EVM only.
  nonce bigint,
  -- Solana only: the last block height at which these bytes can still land.
  expires_height bigint,
  amount numeric(78, 0) not null check (amount > 0),
  bytes bytea not null,
  outcome text check (outcome in ('landed', 'reverted', 'expired')),
  created_at timestamptz not null default clock_timestamp(),
  unique (deposit_id, attempt),
  unique (network, nonce),
  check (num_nonnulls(nonce, expires_height) = 1)
);
comment on table service.forward is 'Transfers to recipients, stored signed before they are sent, so that a restart sends the same bytes again.';

-- Of all attempts to forward a deposit at most one has moved money or still can.
create unique index forward_once on service.forward (deposit_id) where outcome is null or outcome = 'landed';
create index forward_open on service.forward (network) where outcome is null;

create table service.stream (
  network text primary key,
  -- The address of branch 0 on this network: a database belongs to one seed.
  liquidity_address text not null,
  next_nonce bigint not null default 0,
  -- Everything up to this height was read as final.
  final_height bigint not null,
  final_hash text,
  -- Sightings up to this height were read.
  seen_height bigint not null check (seen_height >= final_height),
  seen_hash text
);
comment on table service.stream is 'Per network: how far it was read, and the next nonce of the liquidity wallet.';
