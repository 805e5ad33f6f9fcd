-- Owners of deposit addresses, deposits, and the event of each change of a deposit.
create schema service;

-- Each owner takes one branch of the seed for good. Branch 0 is the liquidity wallet, and the last branch that BIP-44
-- allows is where misdirected forwards go. A branch that a lost race leaves unused is never given out again.
create sequence service.branch as integer minvalue 1 maxvalue 2147483646;

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
  -- The order in which owners are listed. Branches are taken in blocks, so they are not in that order.
  sequence bigint generated always as identity,
  unique (kind, id),
  check (num_nonnulls(forward_network, forward_asset, forward_recipient) = case kind when 'channel' then 3 else 0 end)
);
comment on table service.owner is 'Owners of deposit addresses: a channel with its forwarding rule, or a StableWallet.';

create unique index owner_list on service.owner (kind, sequence);

create table service.policy (
  owner_kind text not null,
  owner_id text not null,
  body jsonb not null check (jsonb_typeof(body) = 'object'),
  updated_at timestamptz not null default clock_timestamp(),
  primary key (owner_kind, owner_id),
  foreign key (owner_kind, owner_id) references service.owner (kind, id)
);
comment on table service.policy is 'Rules that override the forwarding or crediting of one owner''s deposits.';

create table service.deposit (
  id text primary key,
  -- Rows are inserted under one lock, so that their order is the order in which readers see them appear.
  sequence bigint generated always as identity unique,
  revision integer not null default 1,
  owner_kind text not null,
  owner_id text not null,
  status text not null constraint deposit_status check (status in (
    'detected', 'confirmed', 'converting', 'forwarding', 'settled', 'credited', 'held', 'refunding', 'refunded', 'failed')),
  reason text,
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
  -- No policy holds a deposit again once it was released.
  released_at timestamptz,
  refund_address text,
  refund_amount numeric(78, 0) check (refund_amount > 0),
  refund_transaction text,
  refund_at timestamptz,
  sweep_id bigint,
  foreign key (owner_kind, owner_id) references service.owner (kind, id),
  constraint deposit_channel_has_network check ((owner_kind = 'channel') = (to_network is not null)),
  constraint deposit_forward_has_transaction check ((status in ('forwarding', 'settled')) <= (to_transaction is not null)),
  constraint deposit_delivery_has_time check ((status in ('settled', 'credited')) <= (to_at is not null)),
  constraint deposit_status_of_owner check (
    (status = 'settled') <= (owner_kind = 'channel') and (status = 'credited') <= (owner_kind = 'stable_wallet')),
  constraint deposit_reason check (
    case
      when status = 'failed' then coalesce(reason in ('vanished', 'too_small'), false)
      -- `undeliverable`: a forward or a refund was reverted again and again, and a person decides.
      when status = 'held' then coalesce(
        reason in (
          'policy_hold', 'below_minimum', 'asset_denied', 'sender_denied', 'sender_unknown', 'undeliverable',
          'price_missing'), false)
      when status in ('refunding', 'refunded') then coalesce(
        reason in ('below_minimum', 'asset_denied', 'sender_denied', 'requested'), false)
      else reason is null
    end),
  constraint deposit_held check ((status = 'held') <= (to_transaction is null)),
  constraint deposit_quoted check (
    (status in ('converting', 'forwarding', 'settled', 'credited')) <= (num_nonnulls(to_amount, fee, rate) = 3)),
  constraint deposit_converting check ((status = 'converting') <= (owner_kind = 'channel')),
  -- A deposit is never both forwarded and refunded.
  constraint deposit_refunding check (
    (status in ('refunding', 'refunded')) = (num_nonnulls(refund_address, refund_amount) = 2)
    and num_nonnulls(refund_address, refund_amount) in (0, 2)
    and num_nonnulls(to_transaction, refund_address) < 2),
  constraint deposit_refunded check (
    (status = 'refunded') <= (num_nonnulls(refund_transaction, refund_at) = 2)
    and (refund_transaction is not null) <= (status in ('refunding', 'refunded'))
    and (refund_at is not null) = (status = 'refunded'))
);

-- One transfer is one deposit. A transfer that a reorganization removed may come back, as another deposit.
create unique index deposit_once on service.deposit (network, transaction, index)
  where reason is distinct from 'vanished';

-- Work that is due.
create index deposit_open on service.deposit (network, status, sequence) where status in ('detected', 'confirmed');
create index deposit_to_convert on service.deposit (network, sequence)
  where status = 'confirmed' or reason = 'price_missing';
create index deposit_to_forward on service.deposit (to_network, sequence) where status in ('converting', 'forwarding');
create index deposit_to_refund on service.deposit (network, sequence) where status = 'refunding';
create index deposit_unswept on service.deposit (network, sequence)
  where sweep_id is null and status <> 'detected' and reason is distinct from 'vanished';
create index deposit_swept on service.deposit (sweep_id) where sweep_id is not null;

-- Lookups and the filters of the list: without them, a rare network or status is searched for among all others.
create index deposit_transaction on service.deposit (transaction);
create index deposit_to_transaction on service.deposit (to_transaction);
create index deposit_refund_transaction on service.deposit (refund_transaction) where refund_transaction is not null;
create index deposit_owner on service.deposit (owner_id);
create index deposit_updated on service.deposit (updated_at);
create index deposit_created on service.deposit (created_at);
create index deposit_network on service.deposit (network, sequence);
create index deposit_status_list on service.deposit (status, sequence);
-- A balance is read from the index alone.
create index deposit_credited on service.deposit (owner_kind, owner_id) include (to_amount) where status = 'credited';

create table service.event (
  id text primary key,
  sequence bigint generated always as identity unique,
  type text not null,
  -- Null for a test of an endpoint and for a withdrawal.
  deposit_id text references service.deposit,
  revision integer,
  -- Text, not jsonb: these very bytes are signed and sent, at every attempt.
  body text not null,
  created_at timestamptz not null,
  unique (deposit_id, revision),
  constraint event_type_check check (
    case when type = 'endpoint.test' or type ~ '^withdrawal\.[a-z]+$' then num_nonnulls(deposit_id, revision) = 0
      else type ~ '^deposit\.[a-z]+$' and num_nonnulls(deposit_id, revision) = 2 end
  )
);

create index event_type on service.event (type, sequence);

-- No change of a deposit without its event: the transaction that makes a revision also writes its event.
alter table service.deposit add constraint deposit_has_event foreign key (id, revision)
  references service.event (deposit_id, revision) deferrable initially deferred;

-- A sweep is no news of a deposit: it changes neither its revision nor the time that readers follow.
create function service.count_revision() returns trigger language plpgsql as $$
begin
  if new.sweep_id is not distinct from old.sweep_id then
    new.updated_at := clock_timestamp();
  end if;
  if (new.status, new.to_transaction, new.refund_transaction)
    is distinct from (old.status, old.to_transaction, old.refund_transaction) then
    new.revision := old.revision + 1;
  end if;
  return new;
end
$$;

create trigger deposit_revision before update on service.deposit
  for each row execute function service.count_revision();

-- No event without its change: an event is of the newest revision, and is never rewritten.
create function service.check_event() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' then
    raise exception 'event % cannot be changed', old.id;
  end if;
  if new.type like 'deposit.%'
    and not exists (select from service.deposit where id = new.deposit_id and revision = new.revision) then
    raise exception 'event % reports revision % of %, which is not its current one', new.id, new.revision, new.deposit_id;
  end if;
  return new;
end
$$;

create trigger event_tells_state before insert or update on service.event
  for each row execute function service.check_event();
