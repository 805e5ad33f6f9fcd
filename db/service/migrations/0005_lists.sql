-- The order in which channels and wallets are listed. Branches are taken in blocks, so they are not in that order.
alter table service.owner add column sequence bigint generated always as identity;
create unique index owner_list on service.owner (kind, sequence);

-- What the list of deposits is asked for beside its order.
create index deposit_transaction on service.deposit (transaction);
create index deposit_created on service.deposit (created_at);
