import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { prepareQueueSchema } from '../../src/jobs/queue/schema.ts'
import { type Database, openDatabase } from '../../src/store/database.ts'
import { makePartitions } from '../../src/store/ledger/maintenance.ts'
import type { Tables } from '../../src/store/tables.ts'
import { type TestDatabase, testDatabase } from '../support/postgres.ts'

/**
 * All that the roles may do, as the catalog has it, in files that a person reads where they change: a new table on which
 * a role has more than it needs turns these tests red.
 */
let database: TestDatabase
let owner: Database<Tables>

beforeAll(async () => {
  database = await testDatabase()
  owner = openDatabase<Tables>({ url: database.url, poolMax: 1, applicationName: 'test owner' })
  await makePartitions(owner)
  await prepareQueueSchema({ url: database.url, name: 'depositd' })
})
afterAll(async () => {
  await owner.destroy()
  await database.drop()
})

const roles = [
  'depositd_daemon',
  'depositd_decider',
  'depositd_accountant',
  'depositd_viewer',
  'depositd_operator',
  'depositd_auditor',
  'depositd_backup',
]

/** Months come and go; one stands for all. Columns are named only where not all of them are meant. */
async function rightsOf(role: string): Promise<string> {
  const { rows } = await sql<{ line: string }>`
    with relation as (
      select c.oid, c.relkind, format('%s.%s', n.nspname, regexp_replace(c.relname, '_[0-9]{6}$', '_MONTH')) as name
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname in ('public', 'accounting', 'bullmq') and c.relkind in ('r', 'p', 'v', 'm', 'S')
    ), whole as (
      select name, string_agg(lower(privilege), ', ' order by privilege) as rights from (
        select distinct name, privilege from relation,
          unnest(array['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER', 'MAINTAIN']) as privilege
        where relkind <> 'S' and has_table_privilege(${role}, oid, privilege)
        union
        select distinct name, privilege from relation, unnest(array['USAGE', 'SELECT', 'UPDATE']) as privilege
        where case relkind when 'S' then has_sequence_privilege(${role}, oid, privilege) end
      ) as granted group by name
    ), columns as (
      select name, lower(privilege) as privilege, string_agg(attname, ', ' order by attname) as attnames
      from relation join pg_attribute a on a.attrelid = oid and attnum > 0 and not attisdropped,
        unnest(array['SELECT', 'INSERT', 'UPDATE', 'REFERENCES']) as privilege
      where relkind <> 'S' and has_column_privilege(${role}, oid, attnum, privilege)
        and not has_table_privilege(${role}, oid, privilege)
      group by name, privilege
    )
    select format('%s: %s', name, rights) as line from whole
    union select format('%s: %s (%s)', name, privilege, attnames) from columns
    union select format('function %s.%s', n.nspname, p.proname)
      from pg_proc p join pg_namespace n on n.oid = p.pronamespace
      where n.nspname in ('public', 'accounting') and p.prosecdef and has_function_privilege(${role}, p.oid, 'EXECUTE')
        and p.prorettype <> 'trigger'::regtype
    union select format('schema %s: %s', nspname, lower(privilege))
      from pg_namespace, unnest(array['USAGE', 'CREATE']) as privilege
      where nspname in ('public', 'accounting', 'bullmq') and has_schema_privilege(${role}, oid, privilege)
    union select format('owner of function %s', oid::regprocedure) from pg_proc where proowner = ${role}::regrole
    union select format('parameter %s', parname) from pg_parameter_acl
      where has_parameter_privilege(${role}, parname, 'SET, ALTER SYSTEM')
    union select format('database: %s', lower(privilege)) from unnest(array['CREATE', 'TEMP']) as privilege
      where has_database_privilege(${role}, current_database(), privilege)
    union select format('member of %s', r.rolname) from pg_roles r
      where r.rolname <> ${role} and pg_has_role(${role}, r.oid, 'MEMBER')
    union select 'superuser or better: ' || rolname from pg_roles
      where rolname = ${role} and (rolsuper or rolcreaterole or rolcreatedb or rolreplication or rolbypassrls or rolcanlogin)`.execute(
    owner,
  )
  return `${rows
    .map(({ line }) => line)
    .toSorted()
    .join('\n')}\n`
}

test.each(roles)('what %s may do is what is written down, and nothing else', async (role) => {
  await expect(await rightsOf(role)).toMatchFileSnapshot(`rights/${role}.txt`)
})

test('a table that gets too much shows', async () => {
  const before = await rightsOf('depositd_daemon')
  await sql`create table later (id integer); grant select, truncate on later to depositd_daemon`.execute(
    owner,
  )
  const after = await rightsOf('depositd_daemon')
  const copied = await rightsOf('depositd_backup')
  await sql`drop table later`.execute(owner)
  expect(after.split('\n').filter((line) => !before.includes(line))).toEqual([
    'public.later: select, truncate',
  ])
  expect(copied).toContain('public.later: select')
})

test('what runs with the rights of the owner finds nothing by a path of the caller, and is not for everybody', async () => {
  const { rows } = await sql<{ name: string; path: string | null; isOpen: boolean }>`
    select p.oid::regprocedure::text as name,
      (select option from unnest(p.proconfig) as option where option like 'search_path=%') as path,
      exists (
        select from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) where grantee = 0
      ) as "isOpen"
    from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where n.nspname in ('public', 'accounting', 'bullmq') and p.prosecdef`.execute(owner)
  expect(rows.length).toBeGreaterThan(5)
  for (const { name, path } of rows)
    expect(path, name).toMatch(/^search_path=(pg_catalog, )?public, pg_temp$/)
  expect(rows.filter(({ isOpen }) => isOpen).map(({ name }) => name)).toEqual([])
})
