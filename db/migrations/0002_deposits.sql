-- Assets as settings name them; decimals were checked on chain and are pinned here.
create table asset (
  key text primary key,
  network text not null,
  symbol text not null,
  decimals smallint not null check (decimals between 0 and 38)
);

-- Whom deposits are for, and where the service was told to forward them.
create table owner (
  kind text not null check (kind in ('channel', 'stable_wallet')),
  id text not null check (id <> ''),
  forward_network text,
  forward_asset text,
  forward_recipient text,
  created_at timestamptz not null default now(),
  primary key (kind, id),
  check ((kind = 'channel') = (forward_recipient is not null)),
  check ((kind = 'channel') = (forward_network is not null))
);

-- Every address that is watched. A forward recipient may serve many owners, so it names none.
create table address_book (
  network text not null,
  address text not null,
  role text not null check (role in ('deposit', 'recipient')),
  owner_kind text,
  owner_id text,
  added_at timestamptz not null default now(),
  primary key (network, address, role),
  foreign key (owner_kind, owner_id) references owner (kind, id),
  check ((role = 'deposit') = (owner_id is not null))
);

-- What the evidence of one deposit comes to. Derived: every column can be computed again from the evidence.
create table deposit (
  id bigint generated always as identity primary key,
  group_id bigint not null references evidence_group,
  service_id text unique,
  -- Checked when a statement ends: in one statement two deposits may exchange their transfers.
  transfer text unique deferrable,
  merged_into bigint references deposit,
  state text not null check (state in
    ('observed', 'confirmed', 'settling', 'settled', 'reconciled', 'orphaned', 'refunded', 'held', 'failed')),
  owner_kind text,
  owner_id text,
  network text,
  address text,
  asset text,
  amount numeric(78, 0),
  tx text,
  settlement_network text,
  settlement_address text,
  settlement_asset text,
  settlement_amount numeric(78, 0),
  settlement_tx text,
  fee_amount numeric(78, 0),
  matrix jsonb not null,
  -- When it happened in the world: the block that holds the payment.
  deposited_at timestamptz,
  -- When each source first told of it. Their distances are the lags.
  webhook_at timestamptz,
  api_at timestamptz,
  chain_at timestamptz,
  final_at timestamptz,
  settled_at timestamptz,
  reconciled_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (num_nonnulls(service_id, transfer, merged_into) > 0)
);

create index deposit_group_id on deposit (group_id);
create index deposit_open on deposit (state, network) where state not in ('reconciled', 'refunded', 'failed');
create index deposit_tx on deposit (tx);

create table mismatch (
  id bigint generated always as identity primary key,
  -- `deposit/17`, `transfer/base/0x…/3` or `inbox/42`.
  subject text not null,
  kind text not null,
  severity text not null check (severity in ('info', 'warning', 'severe')),
  -- Its deposit, and the group of evidence that decides about it; both empty for what could not be read at all.
  deposit_id bigint references deposit,
  group_id bigint references evidence_group,
  network text,
  asset text,
  value numeric(78, 0),
  detail jsonb not null default '{}',
  opened_at timestamptz not null,
  cleared_at timestamptz,
  cleared_how text check (cleared_how in ('evidence', 'person')),
  check ((cleared_at is null) = (cleared_how is null))
);

create unique index mismatch_open on mismatch (subject, kind) where cleared_at is null;
create index mismatch_deposit_id on mismatch (deposit_id);
create index mismatch_group_open on mismatch (group_id) where cleared_at is null;
