-- What may be proposed to people, what other systems and people are notified of, and who signs in.

-- Final transfers that no claim named in time, without those that a person resolved.
create view unnamed_transfer as
  select m.id as mismatch_id, m.group_id, m.deposit_id, m.network, m.asset, m.value as amount,
    case m.kind when 'unreported' then 'deposit' else 'recipient' end as role,
    case m.kind when 'unreported' then d.transfer else substr(m.subject, length('transfer/') + 1) end as transfer,
    case m.kind when 'unreported' then d.address else m.detail ->> 'recipient' end as address
  from mismatch m left join deposit d on d.id = m.deposit_id
  where m.cleared_at is null and m.resolved_at is null and m.kind in ('unreported', 'settlement_unreported');

-- Deposits without a payment or delivery on chain, with the unnamed transfers that may be it. Within one group the link keys
-- decide, and a rejected pair is not proposed again.
create view possible_match as
  select pair.*, d.service_id, d.group_id as open_group_id from (
    select u.*, d.id as open_id, 0::numeric as difference, d.network as open_network, d.address as open_address,
      d.asset as open_asset, d.amount as open_amount, d.tx as open_tx
    from unnamed_transfer u
      join deposit d on u.role = 'deposit' and d.state = 'observed' and d.transfer is null
        and d.network = u.network and d.address = u.address and d.asset = u.asset and d.amount = u.amount
    union all
    select u.*, d.id, abs(coalesce(d.settlement_amount, d.amount) - u.amount), o.forward_network, o.forward_recipient,
      coalesce(d.settlement_asset,
        (select key from asset where network = o.forward_network and symbol = o.forward_asset)),
      d.settlement_amount, d.settlement_tx
    from unnamed_transfer u
      join owner o on u.role = 'recipient' and o.forward_network = u.network and o.forward_recipient = u.address
      join deposit d on d.owner_kind = o.kind and d.owner_id = o.id and d.state in ('confirmed', 'settling')
        and d.final_at is not null and d.settled_at is null and d.matrix -> 'settlement' ->> 'chain' = 'absent'
        and (d.settlement_amount is null or d.settlement_amount between u.amount / 2 and u.amount * 2)
  ) pair join deposit d on d.id = pair.open_id
  where d.service_id is not null and d.merged_into is null and d.group_id <> pair.group_id and not exists (
    select from proposal p
    where p.service_id = d.service_id and p.role = pair.role and p.transfer = pair.transfer and p.state = 'rejected');

-- The outbox: what happened, in the transaction that made it true, until it gets its number. What was rolled back never had
-- one. `id` is in the order of the events of one deposit, because each is written under the lock of its group or mismatch.
create table event_pending (
  id bigint generated always as identity primary key,
  -- The id of the event, wherever and however often it is sent.
  event_id uuid not null default uuidv7(),
  type text not null check (type in ('deposit.observed', 'deposit.final', 'deposit.settled', 'deposit.reconciled',
    'deposit.credit_safe', 'deposit.reversed', 'deposit.merged', 'mismatch.opened', 'mismatch.changed', 'mismatch.cleared',
    'mismatch.resolved', 'approval.requested', 'period.closed', 'seal.published')),
  deposit_id bigint,
  -- Null: that of the deposit, if it is about one.
  service text,
  data jsonb not null,
  at timestamptz not null default now()
);

-- Committed events, numbered without a gap. One writer at a time moves them here (src/store/events.ts).
create table event (
  sequence bigint primary key check (sequence > 0),
  id uuid not null unique,
  type text not null,
  deposit_id bigint,
  -- The number of the event before it about the same deposit.
  previous bigint check (previous < sequence),
  service text,
  owner_kind text,
  owner_id text,
  data jsonb not null,
  at timestamptz not null,
  unique (deposit_id, sequence)
);

-- Foreign keys would be checked row by row: 28 µs per event instead of 4, in statements of 1,000. A scalar subquery looks up
-- each row by its index; `exists` may read the whole table instead.
create function refuse_event_gap() returns trigger language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
declare
  wrong bigint;
begin
  select sequence into wrong from added
  where (sequence > 1 and (select e.sequence from public.event e where e.sequence = added.sequence - 1) is null)
    or (previous is not null and (
      select e.sequence from public.event e where e.deposit_id = added.deposit_id and e.sequence = added.previous) is null)
  limit 1;
  if found then
    raise exception 'event % does not follow the events before it', wrong;
  end if;
  return null;
end
$$;

create trigger event_without_gap after insert on event
  referencing new table as added for each statement execute function refuse_event_gap();

create trigger event_append_only before update or delete or truncate on event
  for each statement execute function refuse_change();

-- Where events are sent to: the company's own systems. A removed one keeps its row, for the log of attempts.
create table event_endpoint (
  id bigint generated always as identity primary key,
  name text not null check (name <> ''),
  url text not null check (url ~ '^https?://'),
  payload text not null check (payload in ('thin', 'full')),
  -- Which events it receives; null for all.
  types text[] check (cardinality(types) > 0),
  services text[] check (cardinality(services) > 0),
  owners text[] check (cardinality(owners) > 0),
  state text not null default 'active' check (state in ('active', 'paused')),
  reason text check (reason in ('requested', 'undelivered', 'gone')),
  paused_at timestamptz,
  -- Up to this number, each event for it is delivered or in event_delivery.
  position bigint not null check (position >= 0),
  -- Attempts that failed since one succeeded, and when the first of them did. Nothing is sent until rest_until.
  failures integer not null default 0,
  failing_since timestamptz,
  rest_until timestamptz,
  -- Of what people set. A sender leaves what it took under an earlier one.
  revision integer not null default 0,
  created_by text not null check (created_by <> ''),
  created_at timestamptz not null default clock_timestamp(),
  removed_at timestamptz,
  constraint event_endpoint_reason check ((state = 'paused') = (reason is not null)),
  constraint event_endpoint_paused check ((state = 'paused') = (paused_at is not null)),
  constraint event_endpoint_failing check ((failures = 0) = (failing_since is null))
);
create unique index event_endpoint_name on event_endpoint (lower(name)) where removed_at is null;

-- Signing secrets, encrypted: they need the key of the settings too (src/outbox/secret-vault.ts). The newest has no end.
create table event_endpoint_secret (
  endpoint_id bigint not null references event_endpoint,
  version integer not null check (version > 0),
  scheme text not null check (scheme in ('v1', 'v1a')),
  sealed bytea not null,
  public_key text check (public_key like 'whpk\_%'),
  expires_at timestamptz,
  primary key (endpoint_id, version),
  constraint event_endpoint_secret_public check ((scheme = 'v1a') = (public_key is not null))
);
create unique index event_endpoint_secret_newest on event_endpoint_secret (endpoint_id) where expires_at is null;

-- Events that were taken for an endpoint and are not delivered yet. Those of one lane are sent one after the other: the deposit,
-- or 0 for events about none.
create table event_delivery (
  id bigint generated always as identity primary key,
  endpoint_id bigint not null references event_endpoint,
  sequence bigint not null references event,
  lane bigint not null,
  tries integer not null default 0,
  failing_since timestamptz,
  -- Null: now.
  next_at timestamptz,
  unique (endpoint_id, lane, sequence)
);

-- What each attempt came to. Old ones are deleted.
create table event_attempt (
  id bigint generated always as identity primary key,
  endpoint_id bigint not null references event_endpoint,
  -- Null for a test.
  sequence bigint,
  at timestamptz not null,
  -- That of the answer; null without one.
  status integer,
  problem text,
  duration_ms integer not null check (duration_ms >= 0),
  constraint event_attempt_problem check ((status is null) = (problem is not null))
);
create index event_attempt_endpoint_id on event_attempt (endpoint_id, id);

-- What people were notified of outside depositd. The unique key lets no process repeat a message.
create table notification (
  id bigint generated always as identity primary key,
  -- A channel of the settings, or `people/` and the name of a person.
  channel text not null check (channel <> ''),
  -- What it is about: `cause/…`, `mention/17`, `assigned/17`, `overdue/…`, `waiting/17` or `digest/2026-01-31`.
  key text not null check (key <> ''),
  -- Of a cause: what its mismatches have in common, when the first and the last were opened, and the figures of the last
  -- message, from which it has to double.
  kind text,
  service text,
  network text,
  since timestamptz,
  until timestamptz,
  figures jsonb,
  message_at timestamptz not null,
  -- When the cause ended.
  closed_at timestamptz,
  check ((kind is null) = (since is null) and (kind is null) = (until is null) and (kind is null) = (figures is null)),
  unique (channel, key)
);

create index notification_cause on notification (until) where kind is not null;

-- Messages in the order in which each channel gets them. They are written with the notification, and sent afterwards until the
-- receiver accepts them.
create table notification_message (
  id bigint generated always as identity primary key,
  -- The same in each attempt, so that receivers recognize a message that they already have.
  message_id uuid not null unique default uuidv7(),
  channel text not null,
  -- Messages with one key belong together.
  key text not null,
  content jsonb not null,
  written_at timestamptz not null,
  tries smallint not null default 0,
  -- Not tried again before then.
  next_at timestamptz not null,
  sent_at timestamptz,
  -- Of the last attempt, without secrets.
  problem text
);

create index notification_message_unsent on notification_message (channel, id) where sent_at is null;
create index notification_message_key on notification_message (channel, key, id);

-- Sign-ins to the console, and invitations to make a passkey. They are no record: all of them end by themselves.
create table session (
  -- SHA-256 of what the browser holds.
  token bytea primary key,
  -- Null until a person has shown who they are.
  person text check (person <> ''),
  -- As the sign-in provider said; null if the register of people says.
  roles text[],
  -- What their passkey is to sign, or what the answer of the provider must match.
  challenge text not null,
  expires_at timestamptz not null
);
create table invitation (
  -- SHA-256 of the end of the link.
  token bytea primary key,
  person text not null check (person <> ''),
  roles text[] not null,
  challenge text not null,
  -- The public key, once it is made. It counts from the decision of an administrator about it.
  passkey text,
  expires_at timestamptz not null
);

-- Lists of the console that people keep under a name, for all who sign in: the address of the list without its path.
create table saved_view (
  page text not null check (page in ('mismatches', 'deposits')),
  name text not null check (name = btrim(name) and length(name) between 1 and 60),
  query text not null check (length(query) <= 2000),
  saved_by text not null check (saved_by <> ''),
  saved_at timestamptz not null default now(),
  primary key (page, name)
);
-- Tokens of the API. Each is a service account by name, which is no person: it has no key, so that it signs nothing.
create table api_token (
  id bigint generated always as identity primary key,
  name text not null check (name <> ''),
  -- SHA-256 of the token, which has 256 random bits.
  sha256 bytea not null unique check (length(sha256) = 32),
  scopes text[] not null check (cardinality(scopes) > 0 and scopes <@ array['read_deposits', 'read_books', 'write_cases']),
  -- What it may see; null for all.
  services text[] check (cardinality(services) > 0),
  owners text[] check (cardinality(owners) > 0),
  created_by text not null check (created_by <> ''),
  created_at timestamptz not null default clock_timestamp(),
  revoked_at timestamptz,
  -- To the hour.
  last_used_at timestamptz
);
create unique index api_token_name on api_token (lower(name)) where revoked_at is null;
create trigger api_token_revoked before update on api_token
  for each row when (old.revoked_at is not null) execute function refuse_change();

-- Who came and went, and what they took out of the database. Decisions and case work have records of their own.
create table access_event (
  id bigint generated always as identity primary key,
  -- Null for a command without a key.
  person text check (person <> ''),
  action text not null check (action in ('invited', 'passkey_made', 'signed_in', 'signed_out', 'sessions_ended',
    'exported', 'bundle_made', 'dispute_made', 'attachment_taken', 'webhooks_retried', 'webhooks_dropped',
    'token_created', 'token_revoked', 'endpoint_created', 'endpoint_changed', 'endpoint_removed')),
  -- By what they signed in; who invited them, or ended their sessions; what they took out, retried or dropped; the token; the
  -- endpoint, and what was done to it.
  detail text check (detail <> ''),
  -- The login of the database with which it was written.
  login text not null default session_user,
  at timestamptz not null default clock_timestamp(),
  constraint access_event_person check (person is not null or action in
    ('exported', 'bundle_made', 'dispute_made', 'webhooks_retried', 'webhooks_dropped'))
);
create index access_event_person on access_event (lower(person), id);
create index access_event_at on access_event (at);
create trigger access_event_append_only before update or delete or truncate on access_event
  for each statement execute function refuse_change();

-- Calls of the API that wrote, by the key that the caller gave them, so that a repetition has no second effect. Kept for a day.
create table idempotency_key (
  token_id bigint not null references api_token,
  key text not null check (key ~ '^[!-~]{1,200}$'),
  -- SHA-256 of the call.
  sha256 bytea not null check (length(sha256) = 32),
  event_id bigint not null references mismatch_event,
  at timestamptz not null default clock_timestamp(),
  primary key (token_id, key)
);
create index idempotency_key_at on idempotency_key (at);
