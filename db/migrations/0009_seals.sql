-- The log: one Merkle tree (RFC 6962) over the rows of the tables that are only added to, in the order of sealing. A person
-- who changes, deletes or adds a sealed row, with any rights, changes the tree, and cannot change the checkpoints that were
-- published. docs/seals.md says what is hashed.

-- A seal adds rows of one table to the log: all with an id above after_id, up to last_id.
create table seal (
  number bigint primary key check (number > 0),
  sealed_table text not null,
  -- Null for the first seal of a table, which also covers every lower id.
  after_id bigint,
  last_id bigint not null,
  -- Place of its first leaf in the log, from 0.
  first_leaf bigint not null,
  leaves integer not null check (leaves > 0),
  next_leaf bigint generated always as (first_leaf + leaves) stored,
  -- Of each leaf the id of its row in 8 bytes, and its hash in 32.
  ids bytea not null constraint seal_id_per_leaf check (length(ids) = leaves * 8),
  hashes bytea not null constraint seal_hash_per_leaf check (length(hashes) = leaves * 32),
  -- Marks of the fields of each row, by which an altered field is named.
  marks bytea not null,
  sealed_at timestamptz not null default clock_timestamp(),
  -- A seal follows the one before it, in the log and in its table.
  preceding bigint generated always as (nullif(number - 1, 0)) stored,
  preceding_leaf bigint generated always as (nullif(first_leaf, 0)) stored,
  unique (first_leaf),
  unique (number, next_leaf),
  unique nulls not distinct (sealed_table, after_id),
  unique (sealed_table, last_id),
  foreign key (preceding, preceding_leaf) references seal (number, next_leaf),
  foreign key (sealed_table, after_id) references seal (sealed_table, last_id),
  constraint seal_first check ((number = 1) = (first_leaf = 0)),
  constraint seal_range check (last_id > after_id)
);

-- Hashes do not compress.
alter table seal alter column ids set storage external, alter column hashes set storage external,
  alter column marks set storage external;

-- The nodes of the tree over each 256 leaves, over each 256 of these nodes, and so on: by these, a proof reads few rows.
create table seal_node (
  height smallint not null check (height > 0 and height % 8 = 0),
  place bigint not null check (place >= 0),
  hash bytea not null check (length(hash) = 32),
  primary key (height, place)
);

-- The root of the tree over the first leaves of the log: what is signed and published.
create table checkpoint (
  size bigint not null check (size > 0),
  -- Name and id of the key; `unsigned` if the installation has none.
  signed_by text not null,
  root bytea not null check (length(root) = 32),
  made_at timestamptz not null default clock_timestamp(),
  -- As in c2sp.org/tlog-checkpoint.
  note text not null,
  primary key (size, signed_by)
);

-- Signatures of witnesses: each saw a log that only grew.
create table cosignature (
  size bigint not null,
  witness text not null,
  lines text not null,
  made_at timestamptz not null default clock_timestamp(),
  primary key (witness, size)
);

create trigger cosignature_append_only before update or delete or truncate on cosignature
  for each statement execute function refuse_change();
create trigger seal_append_only before update or delete or truncate on seal
  for each statement execute function refuse_change();
create trigger seal_node_append_only before update or delete or truncate on seal_node
  for each statement execute function refuse_change();
create trigger checkpoint_append_only before update or delete or truncate on checkpoint
  for each statement execute function refuse_change();

create view accounting.checkpoints as
  select size, encode(root, 'hex') as root, made_at, signed_by, note from checkpoint;

comment on view accounting.checkpoints is 'One row per checkpoint: the root of the tree over the first rows of the log.';
comment on column accounting.checkpoints.size is 'Number of sealed rows, of all tables.';
comment on column accounting.checkpoints.root is 'Root of the Merkle tree over these rows, SHA-256.';
comment on column accounting.checkpoints.made_at is 'When it was made.';
comment on column accounting.checkpoints.signed_by is 'Name and id of the key that signed it; unsigned if there was none.';
comment on column accounting.checkpoints.note is 'The signed text that is published.';
