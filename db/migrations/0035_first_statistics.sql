-- Until a table was analyzed for the first time, a column counts as having two hundred distinct values, and one row in two
-- hundred as being null: whoever looks up the groups of a batch is then given plans that read the whole table. What is said
-- here holds for these columns however many rows there are; ANALYZE replaces it by what it finds. A negative number of
-- distinct values is a share of the rows.
select pg_restore_attribute_stats('schemaname', 'public', 'relname', relname, 'attname', attname, 'inherited', false,
  'null_frac', null_frac, 'avg_width', 8, 'n_distinct', n_distinct)
from (values
  ('link_key', 'group_id', 0::real, -0.2::real),
  ('evidence', 'group_id', 0, -0.25),
  ('deposit', 'group_id', 0, -1),
  ('deposit', 'merged_into', 0.99, -0.01),
  ('ledger_journal', 'deposit_id', 0.01, -0.5)
) as column_of (relname, attname, null_frac, n_distinct)
where not exists (
  select from pg_stats
  where schemaname = 'public' and tablename = column_of.relname and pg_stats.attname = column_of.attname
);
