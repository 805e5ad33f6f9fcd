-- Hashes over all that is booked, each over the one before, so that whoever changes, removes or adds a row of a sealed
-- journal, with whatever rights, has to change every later seal too; and those that were published he cannot change.
-- docs/seals.md says what is hashed.
create table ledger_seal (
  number bigint primary key check (number > 0),
  -- It is over all journals with a greater id than after_journal, up to last_journal.
  after_journal bigint not null,
  last_journal bigint not null unique check (last_journal > after_journal),
  journals integer not null check (journals > 0),
  root text not null check (root ~ '^[0-9a-f]{64}$'),
  previous text not null,
  sealed_at timestamptz not null,
  hash text not null unique check (hash ~ '^[0-9a-f]{64}$'),
  -- Of each journal its id, in 8 bytes, and its leaf, in 32: by these a broken seal is told apart journal by journal.
  leaves bytea not null check (length(leaves) = journals * 40),
  -- A seal follows on the one before it, so that two of them never follow on the same.
  preceding bigint generated always as (nullif(number - 1, 0)) stored,
  unique (number, hash, last_journal),
  foreign key (preceding, previous, after_journal) references ledger_seal (number, hash, last_journal),
  check (number > 1 or (after_journal = 0 and previous = repeat('0', 64)))
);

-- Hashes do not get shorter.
alter table ledger_seal alter column leaves set storage external;

create trigger ledger_seal_append_only before update or delete or truncate on ledger_seal
  for each statement execute function refuse_change();

revoke all on ledger_seal from depositd_daemon;
grant select, insert on ledger_seal to depositd_daemon;

create view accounting.seals as
  select number, after_journal, last_journal, journals, root, previous, sealed_at, hash from ledger_seal;

comment on view accounting.seals is 'One row per seal: a hash over a stretch of journals and the seal before it.';
comment on column accounting.seals.number is 'Number of the seal: from 1, without a gap.';
comment on column accounting.seals.after_journal is 'The seal is over all journals with a greater number than this one,';
comment on column accounting.seals.last_journal is 'up to this one.';
comment on column accounting.seals.journals is 'How many journals it is over.';
comment on column accounting.seals.root is 'Root of the Merkle tree over these journals, SHA-256.';
comment on column accounting.seals.previous is 'Hash of the seal before it; zeros for the first.';
comment on column accounting.seals.sealed_at is 'When it was made.';
comment on column accounting.seals.hash is 'Hash of the seal, SHA-256: what is published as an anchor.';

grant select on accounting.seals to depositd_accountant, depositd_daemon;
