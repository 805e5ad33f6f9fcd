-- What people look up is found by an index, however much is stored: all that was ever told of a group of evidence, and since
-- when a payload can be read that once could not.
create index mismatch_group_id on mismatch (group_id);
create index mismatch_unreadable on mismatch (subject) where kind in ('unknown_event', 'unknown_status', 'schema_drift');
