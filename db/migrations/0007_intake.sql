-- A sender repeats itself: after a time-out, after a restart, by mistake. What comes again byte for byte is stored once;
-- that it came again is counted here, beside the inbox, which is never updated.
create table webhook_repeat (
  inbox_id bigint primary key references inbox,
  count bigint not null check (count > 0),
  first_at timestamptz not null,
  last_at timestamptz not null,
  -- The newest times, newest first; `count` goes on where this ends.
  newest_at timestamptz[] not null check (cardinality(newest_at) between 1 and 32)
);

-- One event id with several bodies. Each body is an observation of its own; a later one is in the inbox under the id, a
-- space and its hash, and here beside the one that came first.
create table webhook_conflict (
  first_id bigint not null references inbox,
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  inbox_id bigint not null unique references inbox,
  primary key (first_id, sha256),
  check (inbox_id <> first_id)
);

create trigger webhook_conflict_append_only before update or delete or truncate on webhook_conflict
  for each statement execute function refuse_change();

-- Deliveries that failed verification, until they are taken in or pushed out. It is bounded, so that it can be left open to
-- everybody; values of headers that are credentials are hashed.
create table quarantine (
  id bigint generated always as identity primary key,
  received_at timestamptz not null,
  -- Address of the client, behind trusted proxies the one that they name.
  source text not null,
  reason text not null,
  headers jsonb not null,
  body bytea not null,
  -- What it counts against the bound in bytes: the body, the headers, and the row itself.
  size integer not null check (size > 0)
);

comment on column accounting.mismatches.subject is
  'What it is about: deposit/ID, transfer/NETWORK/TX/INDEX, inbox/ID or webhook/EVENT.';

grant select, insert, update on webhook_repeat to depositd_daemon;
grant select, insert on webhook_conflict to depositd_daemon;
grant select, insert, delete on quarantine to depositd_daemon;
