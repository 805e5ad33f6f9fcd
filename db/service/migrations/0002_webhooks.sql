-- API keys, webhook endpoints with their signing secrets, and the delivery of events to them.

create table service.api_key (
  -- The part of the key that may be shown: `dsk_{id}_{secret}`.
  id text primary key check (id ~ '^[0-9a-f]{8}$'),
  -- SHA-256 of the whole key. The secret has 192 random bits, so a slow hash would add nothing.
  hash bytea not null unique check (length(hash) = 32),
  name text not null check (length(name) between 1 and 100),
  scope text not null check (scope in ('read', 'write')),
  created_at timestamptz not null default clock_timestamp(),
  revoked_at timestamptz
);
comment on table service.api_key is 'Keys of the API. Only their hashes are stored.';

-- A revoked key stays revoked.
create function service.keep_revoked() returns trigger language plpgsql as $$
begin
  if old.revoked_at is not null or new.hash <> old.hash then
    raise exception 'API key % is revoked, or its hash would change', old.id;
  end if;
  return new;
end
$$;

create trigger api_key_revoked before update on service.api_key
  for each row execute function service.keep_revoked();

create table service.webhook_endpoint (
  id text primary key check (id ~ '^wep_[0-9a-f]{24}$'),
  sequence bigint generated always as identity unique,
  url text not null check (length(url) <= 2000),
  -- The types of events that it receives; null means all.
  types text[] check (cardinality(types) > 0),
  -- Whether it is in the settings of the service, which then decide about it.
  configured boolean not null,
  status text not null default 'active' check (status in ('active', 'disabled', 'deleted')),
  disabled_because text check (disabled_because in ('gone', 'requested')),
  -- The receiver asked for a pause: nothing is sent before this time.
  resume_at timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  check ((status = 'disabled') = (disabled_because is not null))
);
comment on table service.webhook_endpoint is 'Receivers of webhooks. A deleted one stays for the history of its deliveries.';

-- A receiver that is registered twice would be sent everything twice.
create unique index webhook_endpoint_url on service.webhook_endpoint (url) where status <> 'deleted';

create table service.webhook_secret (
  endpoint_id text not null references service.webhook_endpoint,
  version integer not null check (version > 0),
  scheme text not null check (scheme in ('v1', 'v1a')),
  -- AES-256-GCM under a key of the seed, with the endpoint and the version as associated data.
  sealed bytea not null,
  public_key text,
  created_at timestamptz not null default clock_timestamp(),
  -- It signs until then, together with the newer ones.
  expires_at timestamptz,
  primary key (endpoint_id, version),
  check ((scheme = 'v1a') = (public_key is not null))
);

-- Of the secrets of an endpoint, only the newest does not expire.
create unique index webhook_secret_newest on service.webhook_secret (endpoint_id) where expires_at is null;

create table service.delivery (
  event_id text not null references service.event,
  endpoint_id text not null references service.webhook_endpoint,
  sequence bigint generated always as identity unique,
  status text not null default 'pending' check (status in ('pending', 'delivered', 'failed', 'cancelled')),
  -- All attempts, and those since the delivery was last asked for.
  attempts integer not null default 0,
  tries integer not null default 0 constraint delivery_tries_within_attempts check (tries between 0 and attempts),
  -- During an attempt, the time at which it counts as lost.
  next_at timestamptz default clock_timestamp(),
  created_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  primary key (event_id, endpoint_id),
  constraint delivery_pending_has_next check ((status = 'pending') = (next_at is not null)),
  constraint delivery_ended_has_time check ((status = 'pending') = (ended_at is null))
);
comment on table service.delivery is 'One event on its way to one webhook endpoint.';
create index delivery_due on service.delivery (endpoint_id, next_at, sequence) where next_at is not null;
create index delivery_newest on service.delivery (endpoint_id, sequence);

create table service.delivery_attempt (
  event_id text not null,
  endpoint_id text not null,
  number integer not null check (number > 0),
  started_at timestamptz not null,
  -- Null during the attempt, and for good if the service ended meanwhile.
  duration_ms integer check (duration_ms >= 0),
  status_code smallint,
  problem text,
  answer text check (length(answer) <= 500),
  primary key (event_id, endpoint_id, number),
  foreign key (event_id, endpoint_id) references service.delivery,
  check (num_nonnulls(status_code, problem) = num_nonnulls(duration_ms))
);
comment on table service.delivery_attempt is 'The delivery log: every request to a webhook endpoint and its answer.';
