-- Raw observations, exactly as they came in. Everything else in this schema can be made again from here.
create table inbox (
  id bigint generated always as identity primary key,
  source text not null check (source in ('webhook', 'api', 'chain')),
  -- The sender's event id; record id and hash; or transfer, block and stage. Storing one twice is a no-op.
  source_key text not null check (source_key <> ''),
  body bytea not null,
  headers jsonb not null default '{}',
  received_at timestamptz not null,
  stored_at timestamptz not null default now(),
  unique (source, source_key)
);

-- What was stored and not applied yet. A table of its own, so that the inbox is never updated.
create table inbox_pending (
  inbox_id bigint primary key references inbox,
  stored_at timestamptz not null default now()
);

create index inbox_pending_stored_at on inbox_pending (stored_at);

-- Observations that share a linking key, directly or through others, belong to one group. It is the unit that
-- is locked and decided together: one group holds one deposit, rarely several.
create table evidence_group (
  id bigint generated always as identity primary key,
  -- The next moment at which time alone may change what is decided about it.
  recheck_at timestamptz
);

create index evidence_group_recheck_at on evidence_group (recheck_at) where recheck_at is not null;

create table link_key (
  key text primary key,
  group_id bigint not null references evidence_group
);

create index link_key_group_id on link_key (group_id);

-- What an inbox row says, in the terms of the domain. Made by the mapping, so it can be made again.
create table evidence (
  inbox_id bigint primary key references inbox,
  group_id bigint not null references evidence_group,
  observation jsonb not null
);

create index evidence_group_id on evidence (group_id);

-- Where a chain transfer was read, so that the ones which vanished can be told by one query.
create table sighting (
  inbox_id bigint primary key references inbox,
  network text not null,
  transfer text not null,
  stage text not null check (stage in ('seen', 'final', 'orphaned')),
  height bigint not null check (height >= 0),
  block_hash text not null
);

create index sighting_height on sighting (network, height);
create index sighting_transfer on sighting (transfer);

-- One row per thing that is read over and over: a network's scan, the poll. Its lease says who reads now;
-- whoever lost it holds a lower fence and can no longer move the cursor.
create table stream (
  name text primary key,
  holder text,
  fence bigint not null default 0,
  expires_at timestamptz not null default '-infinity',
  cursor jsonb,
  succeeded_at timestamptz,
  progress jsonb not null default '{}'
);

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only: % is refused', tg_table_name, lower(tg_op)
    using hint = 'Post a reversal, or append another observation.';
end
$$;

create trigger inbox_append_only before update or delete or truncate on inbox
  for each statement execute function refuse_change();
