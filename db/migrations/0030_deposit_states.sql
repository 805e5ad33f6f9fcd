-- How many deposits are in which state is told to whoever scrapes, and is counted from the index alone, however many are
-- done. Those that are open are found by it as they were.
drop index deposit_open;
create index deposit_state on deposit (state, network, merged_into);
