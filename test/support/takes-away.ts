import type { Client } from 'pg'
import { type Catalog, readCatalog } from './schema-catalog.ts'

/**
 * Whatever a program could stumble over that knows the schema as it stands on that connection, once this migration is
 * applied; it is taken back again. The catalogs are compared, not what the statements say; of what rows were deleted or
 * changed, the tables tell themselves.
 * @throws where the migration cannot be applied in a transaction, as all are
 */
export async function takesAway(client: Client, migration: string): Promise<string[]> {
  const before = await readCatalog(client)
  const inCatalogs = await inVain(client, async () => {
    await client.query(migration)
    return differences(before, await readCatalog(client))
  })
  // A column that is gone could not be watched.
  if (inCatalogs.length > 0) return inCatalogs
  return inVain(client, async () => {
    await client.query(watch)
    await client.query(migration)
    const { rows } = await client.query<{ reported: string }>(
      'select distinct reported from watch.reported order by reported',
    )
    return rows.map(({ reported }) => reported)
  })
}

async function inVain<Result>(client: Client, work: () => Promise<Result>): Promise<Result> {
  await client.query('begin')
  try {
    return await work()
  } finally {
    await client.query('rollback')
  }
}

function differences(before: Catalog, after: Catalog): string[] {
  const gone = [...before.offers].filter((line) => !after.offers.has(line))
  const added = [...after.demands].filter(
    ([line, of]) => !before.demands.has(line) && [...of].some((one) => before.objects.has(one)),
  )
  return [...gone.map((line) => `no longer: ${line}`), ...added.map(([line]) => `asked from now on: ${line}`)]
}

/**
 * Triggers for statements, which are told of those that find no row, too. Who fills a column that he adds changes nothing
 * that was there.
 */
const watch = `
  create schema watch;
  create table watch.reported (reported text);
  create function watch.report() returns trigger language plpgsql security definer as $$
  begin
    insert into watch.reported values (lower(tg_op) || ' in ' || tg_table_schema || '.' || tg_table_name);
    return null;
  end $$;
  do $$
  declare watched record;
  begin
    for watched in
      select attrelid::regclass as name, string_agg(quote_ident(attname), ', ') as columns
      from pg_attribute join pg_class c on c.oid = attrelid join pg_namespace n on n.oid = relnamespace
      where relkind in ('r', 'p') and attnum > 0 and not attisdropped
        and nspname !~ '^pg_' and nspname not in ('information_schema', 'watch')
      group by attrelid
    loop
      execute format('create trigger "0 watch" before delete or truncate or update of %s on %s
        for each statement execute function watch.report()', watched.columns, watched.name);
    end loop;
  end $$;
`
