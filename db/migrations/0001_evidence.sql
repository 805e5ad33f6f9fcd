-- What came in, how it is grouped, and the assets with their prices. All tables of deposits and mismatches, and the books, can be
-- rebuilt from the inbox and the owners.

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only: % is refused', tg_table_name, lower(tg_op)
    using hint = 'Post a reversal, or append another observation.';
end
$$;

-- Raw observations, byte for byte.
create table inbox (
  id bigint generated always as identity primary key,
  -- A decision of a person, or of a policy in place of a person, is evidence too: it is applied again in a rebuild.
  source text not null check (source in ('webhook', 'api', 'chain', 'person')),
  -- The sender's event id; record id and hash; or transfer, block and stage. Storing one twice has no effect.
  source_key text not null check (source_key <> ''),
  -- The deposit service that sent it; `default` for chains and persons. Ids that a service chooses (of events, records,
  -- deposits and owners) are unique among services wherever they are stored: `{service}/{id}`, but for those of `default`.
  service text not null default 'default',
  body bytea not null,
  headers jsonb not null default '{}',
  received_at timestamptz not null,
  stored_at timestamptz not null default now(),
  unique (source, source_key)
);

create trigger inbox_append_only before update or delete or truncate on inbox
  for each statement execute function refuse_change();

-- Observations that are stored and not applied yet. A table of its own, so that the inbox is never updated. This and the
-- other foreign keys to the inbox of tables with a row per observation are declared and not enforced: Postgres would check
-- them row by row, and write to the row of the inbox. The inbox is append-only, and these rows are made of its rows.
create table inbox_pending (
  inbox_id bigint primary key references inbox not enforced,
  stored_at timestamptz not null default now(),
  -- As in the inbox: the oldest of many is found without reading the inbox.
  received_at timestamptz not null
);

create index inbox_pending_stored_at on inbox_pending (stored_at);

-- Repeats of a webhook with the same body: it is stored once, and each repeat is counted here.
create table webhook_repeat (
  inbox_id bigint primary key references inbox,
  count bigint not null check (count > 0),
  first_at timestamptz not null,
  last_at timestamptz not null,
  -- The newest times, newest first. `count` continues beyond these 32.
  newest_at timestamptz[] not null check (cardinality(newest_at) between 1 and 32)
);

-- One event id with several bodies. Each body is an observation of its own: later ones are in the inbox under the id, a
-- space and the hash, and here next to the first one.
create table webhook_conflict (
  first_id bigint not null references inbox,
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  inbox_id bigint not null unique references inbox,
  primary key (first_id, sha256),
  check (inbox_id <> first_id)
);

create trigger webhook_conflict_append_only before update or delete or truncate on webhook_conflict
  for each statement execute function refuse_change();

-- Deliveries that failed verification, until they are accepted or displaced by newer ones. The table is bounded, because
-- any client can send to the endpoint. Values of headers that are credentials are hashed.
create table quarantine (
  id bigint generated always as identity primary key,
  received_at timestamptz not null,
  -- Address of the client; behind trusted proxies, the one that they name.
  source text not null,
  reason text not null,
  headers jsonb not null,
  body bytea not null,
  -- What counts against the limit, in bytes: the body, the headers and the row itself.
  size integer not null check (size > 0),
  service text not null default 'default'
);

-- What was last read of each record of the service's API. By it, a record that changed, even back to an earlier text, is
-- told from one that did not, and records that the service no longer lists are found. The texts are in the inbox.
create table api_record (
  service_id text primary key,
  service text not null default 'default',
  -- SHA-256 of the record's text, and how many revisions of it were stored.
  hash text not null,
  revision integer not null check (revision >= 0),
  -- The time by which the service orders its list, as the record states it.
  listed_at timestamptz,
  -- When the request that last returned it was sent. An answer to an earlier request is older, even if it arrives later.
  read_at timestamptz not null,
  -- How many times in a row it was missing, from full readings or from a request for this record.
  misses integer not null default 0 check (misses >= 0),
  -- Since when the service is known to have it no longer.
  gone_at timestamptz
);

-- No other column that each reading writes is indexed, so that millions of rows are updated in place.
create index api_record_missed on api_record (misses) where misses > 0 and gone_at is null;

-- Observations that share a link key, directly or through others, are one group. A group is locked and decided as a
-- whole: it holds one deposit, rarely several.
create table evidence_group (
  id bigint generated always as identity primary key,
  -- The next moment at which time alone may change a decision about it.
  recheck_at timestamptz
);

create index evidence_group_recheck_at on evidence_group (recheck_at) where recheck_at is not null;

-- A transaction is linked by its id without the network, so that a claim with the wrong network still meets the transfer.
create table link_key (
  key text primary key,
  group_id bigint not null references evidence_group
);

create index link_key_group_id on link_key (group_id);

-- What an inbox row says in the terms of the domain. It is made by the mapping, so it can be made again.
create table evidence (
  inbox_id bigint primary key references inbox not enforced,
  group_id bigint not null references evidence_group,
  observation jsonb not null
);

create index evidence_group_id on evidence (group_id);

-- Only the group of an observation changes: groups are merged if they turn out to be one. A restore of the books by the owner
-- of the table, which says so for its transaction, also corrects what an altered observation says.
create function hold_observation() returns trigger language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
begin
  if old.inbox_id = new.inbox_id and current_setting('depositd.restoring', true) = 'on'
    and pg_has_role((select relowner from pg_class where oid = tg_relid), 'member')
  then
    return new;
  end if;
  raise exception '% is append-only: % is refused', tg_table_name, lower(tg_op)
    using errcode = 'insufficient_privilege', hint = 'The owner of the table corrects it by a restore of the books.';
end
$$;

create trigger evidence_stands before update on evidence
  for each row when ((old.inbox_id, old.observation) is distinct from (new.inbox_id, new.observation))
  execute function hold_observation();

-- Where and at which stage a chain transfer was seen, so that vanished transfers are found by one query and payments to an
-- address can be summed.
create table chain_transfer (
  inbox_id bigint primary key references inbox not enforced,
  network text not null,
  transfer text not null,
  stage text not null check (stage in ('seen', 'final', 'orphaned')),
  height bigint not null check (height >= 0),
  block_hash text not null,
  role text not null check (role in ('deposit', 'recipient')),
  address text not null,
  asset text not null,
  amount numeric(78, 0) not null,
  constraint chain_transfer_amount_is_number check (amount < 'NaN')
);

create index chain_transfer_height on chain_transfer (network, height);
create index chain_transfer_transfer on chain_transfer (transfer);
create index chain_transfer_received on chain_transfer (network, address, asset, height) where stage = 'final' and role = 'deposit';

create trigger chain_transfer_stands before update on chain_transfer
  for each row execute function refuse_change();

-- One row per source that is read continuously: the scan of a network, the poll. The lease names the current reader. A
-- reader that lost it has a lower fence and can no longer move the cursor.
create table stream (
  name text primary key,
  holder text,
  fence bigint not null default 0,
  expires_at timestamptz not null default '-infinity',
  cursor jsonb,
  succeeded_at timestamptz,
  progress jsonb not null default '{}'
);

-- Accountants read this schema. Its names are stable; the tables behind them are not.
create schema accounting;

create function accounting.in_units(amount numeric, decimals smallint) returns numeric
  language sql immutable parallel safe
  return amount * ('1e-' || decimals)::numeric;

comment on function accounting.in_units is
  'Base units as a decimal in units of the asset. Exact: a product of numerics keeps every digit, a quotient would not.';

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
    raise exception 'asset %: stored amounts have % decimals', old.key, old.decimals
      using errcode = 'restrict_violation';
  end if;
  return new;
end
$$;
create trigger asset_holds_decimals before update on asset
  for each row when (old.decimals <> new.decimals) execute function hold_decimals();

-- Prices in the operator's currency, each with its source and its time. The books hold none of them.
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

-- The currency of valuations, the highest age of a price, and how own funds have their costs. The last row applies; without a
-- currency, nothing is valued.
create table valuation_rule (
  id bigint generated always as identity primary key,
  currency text check (currency ~ '^[A-Z]{3}$'),
  max_age interval check (max_age > interval '0'),
  -- Patterns of accounts.
  own_accounts text[] not null default '{}',
  method text not null default 'fifo' check (method in ('fifo', 'average')),
  pool text not null default 'account' check (pool in ('account', 'asset')),
  since timestamptz not null default clock_timestamp(),
  check ((currency is null) = (max_age is null))
);

create trigger valuation_rule_append_only before update or delete or truncate on valuation_rule
  for each statement execute function refuse_change();

create view active_valuation as
  select id, currency, max_age, own_accounts, method, pool
  from (select * from valuation_rule order by id desc limit 1) as rule where currency is not null;

comment on view active_valuation is 'No row while nothing is valued.';

create function accounting.price_at(asset_key text, moment timestamptz)
returns table (currency text, price numeric, price_at timestamptz, source text)
language sql stable as $$
  select p.currency, p.price, p.at, p.source
  from public.price p
  -- Not joined, so that the index of prices gives the newest one first.
  where p.asset = asset_key and p.currency = (select rule.currency from public.active_valuation rule)
    and p.at <= moment and p.at >= moment - (select rule.max_age from public.active_valuation rule)
  order by p.at desc, p.id desc limit 1
$$;

comment on function accounting.price_at is
  'The price that applies to an asset at a moment: the newest one that is not too old; of two for one time, the one imported last. No row without such a price.';
