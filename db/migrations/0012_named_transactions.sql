-- Transactions that the service names before any chain has shown them. Each is read by its name, again and again with
-- growing pauses until there is nothing more to learn by that. A row goes once a transfer is found; losing all of them
-- costs time only, for scans find the same.
create table named_transaction (
  network text not null,
  tx text not null,
  -- The address that is said to be paid, and what it is watched as.
  role text not null check (role in ('deposit', 'recipient')),
  address text not null,
  tries integer not null default 0 check (tries >= 0),
  -- When it is read next; empty where that would show nothing new.
  next_at timestamptz,
  primary key (network, tx, role, address)
);

create index named_transaction_due on named_transaction (network, next_at) where next_at is not null;

grant select, insert, update, delete on named_transaction to depositd_daemon;
