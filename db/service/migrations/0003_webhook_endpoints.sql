-- Where webhooks go, by which secrets they are signed, and what became of each attempt to deliver one.
create table service.webhook_endpoint (
  id text primary key check (id ~ '^wep_[0-9a-f]{24}$'),
  sequence bigint generated always as identity unique,
  url text not null check (length(url) <= 2000),
  -- The types of events it takes; null takes all.
  types text[] check (cardinality(types) > 0),
  -- Whether it stands in the settings of the service, which then are the truth about it.
  configured boolean not null,
  status text not null default 'active' check (status in ('active', 'disabled', 'deleted')),
  disabled_because text check (disabled_because in ('gone', 'requested')),
  -- The receiver asked for a pause: nothing is sent before.
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
  -- It signs until then, beside the newer ones.
  expires_at timestamptz,
  primary key (endpoint_id, version),
  check ((scheme = 'v1a') = (public_key is not null))
);
-- Of the secrets of an endpoint one does not expire: the newest.
create unique index webhook_secret_newest on service.webhook_secret (endpoint_id) where expires_at is null;

-- A test of an endpoint is the one event that tells of no deposit.
alter table service.event alter deposit_id drop not null, alter revision drop not null,
  drop constraint event_type_check,
  add constraint event_type_check check (
    case when type = 'endpoint.test' then num_nonnulls(deposit_id, revision) = 0
      else type ~ '^deposit\.[a-z]+$' and num_nonnulls(deposit_id, revision) = 2 end
  );

create index event_type on service.event (type, sequence);

create or replace function service.check_event() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' then
    raise exception 'event % is written already, and events are not rewritten', old.id;
  end if;
  if new.type <> 'endpoint.test'
    and not exists (select from service.deposit where id = new.deposit_id and revision = new.revision) then
    raise exception 'event % tells of revision % of %, which is not its state', new.id, new.revision, new.deposit_id;
  end if;
  return new;
end
$$;

-- No release had the table of before, whose rows named addresses.
drop table service.delivery;

create table service.delivery (
  event_id text not null references service.event,
  endpoint_id text not null references service.webhook_endpoint,
  sequence bigint generated always as identity unique,
  status text not null default 'pending' check (status in ('pending', 'delivered', 'failed', 'cancelled')),
  -- All attempts, and those since the delivery was last asked for.
  attempts integer not null default 0,
  tries integer not null default 0 check (tries between 0 and attempts),
  -- While an attempt is under way this is when it counts as lost.
  next_at timestamptz default clock_timestamp(),
  created_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  primary key (event_id, endpoint_id),
  check ((status = 'pending') = (next_at is not null)),
  check ((status = 'pending') = (ended_at is null))
);
comment on table service.delivery is 'One event on its way to one webhook endpoint.';
create index delivery_due on service.delivery (endpoint_id, next_at, sequence) where next_at is not null;
create index delivery_newest on service.delivery (endpoint_id, sequence);

create table service.delivery_attempt (
  event_id text not null,
  endpoint_id text not null,
  number integer not null check (number > 0),
  started_at timestamptz not null,
  -- Null while it is under way, and for good where the service ended meanwhile.
  duration_ms integer check (duration_ms >= 0),
  status_code smallint,
  problem text,
  answer text check (length(answer) <= 500),
  primary key (event_id, endpoint_id, number),
  foreign key (event_id, endpoint_id) references service.delivery,
  check (num_nonnulls(status_code, problem) = num_nonnulls(duration_ms))
);
comment on table service.delivery_attempt is 'The delivery log: every request to a webhook endpoint and what was answered.';
