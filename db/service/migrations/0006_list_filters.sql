-- The list of deposits of one network and of one status: without these, a rare one is searched for in all the others.
create index deposit_network on service.deposit (network, sequence);
create index deposit_status_list on service.deposit (status, sequence);

-- A balance is read from the index alone.
drop index service.deposit_credited;
create index deposit_credited on service.deposit (owner_kind, owner_id) include (to_amount) where status = 'credited';
