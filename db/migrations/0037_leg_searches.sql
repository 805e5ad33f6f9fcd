-- Payments and deliveries that a service claims and no chain has shown in time. Each is searched for on its chain, and
-- what the search shows is kept as evidence: only that tells whether a leg is missing, or was not read. A row goes once
-- the leg is shown. A search that changes nothing is repeated after growing pauses, and when more was read.
create table leg_search (
  service_id text not null,
  role text not null check (role in ('deposit', 'recipient')),
  network text not null,
  address text not null,
  -- Empty if the service names no transaction.
  tx text,
  -- When the leg can have moved at the earliest.
  from_at timestamptz not null,
  searched_at timestamptz,
  tries integer not null default 0 check (tries >= 0),
  next_at timestamptz not null,
  unique nulls not distinct (service_id, role, network, address, tx)
);

create index leg_search_due on leg_search (network, next_at);
create index leg_search_address on leg_search (network, address);

grant select, insert, update, delete on leg_search to depositd_daemon;
grant select on leg_search to depositd_backup;
