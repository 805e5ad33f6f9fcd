import type { Client } from 'pg'

/** What a schema is to a program that was written for it, a line each. */
export type Catalog = {
  /** Of this a program makes use; where a line is gone, it may stumble. */
  offers: ReadonlySet<string>
  /** This is asked of whoever writes, or runs, each with the objects of which it is. */
  demands: ReadonlyMap<string, ReadonlySet<string>>
  objects: ReadonlySet<string>
}

const ours = `nspname !~ '^pg_' and nspname <> 'information_schema'`
const relations = `(
  select c.*, format('%I.%I', nspname, relname) as name, nspname
  from pg_class c join pg_namespace n on n.oid = relnamespace where ${ours}
)`
const functions = `(
  select p.*, format('%I.%I', nspname, proname) as name, nspname
  from pg_proc p join pg_namespace n on n.oid = pronamespace where ${ours}
)`
const types = `(
  select t.*, format('%I.%I', nspname, typname) as name, nspname
  from pg_type t join pg_namespace n on n.oid = typnamespace
  where ${ours} and typtype in ('d', 'e', 'r') and typelem = 0
)`
const columns = `(
  select a.*, c.name as relation, c.relkind, format('%s.%I', c.name, attname) as name,
    pg_get_expr(adbin, adrelid) as given
  from pg_attribute a join ${relations} c on c.oid = attrelid
    left join pg_attrdef d on (adrelid, adnum) = (attrelid, attnum)
  where attnum > 0 and not attisdropped and c.relkind in ('r', 'p', 'v', 'm', 'f')
)`
const uniqueIndexes = `(
  select c.name as relation,
    regexp_replace(pg_get_indexdef(indexrelid), '^CREATE UNIQUE INDEX \\S+ ON (ONLY )?\\S+ ', '') as definition
  from pg_index join ${relations} c on c.oid = indrelid where indisunique
)`
const triggers = `(
  select c.name as relation, format('%s (%s), by a body of hash %s', pg_get_triggerdef(t.oid), tgenabled, md5(prosrc)) as definition
  from pg_trigger t join ${relations} c on c.oid = tgrelid join pg_proc p on p.oid = tgfoid
  where not tgisinternal and tgparentid = 0
)`
const rules = `(
  select c.name as relation, pg_get_ruledef(r.oid) as definition
  from pg_rewrite r join ${relations} c on c.oid = ev_class where rulename <> '_RETURN'
)`
const policies = `(
  select c.name as relation, format('%s %s %s to %s using %s check %s', polname, polcmd, polpermissive, polroles,
    pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid)) as definition
  from pg_policy join ${relations} c on c.oid = polrelid
)`
const whoever = `coalesce(nullif(grantee, 0)::regrole::text, 'everybody')`

/** A table, or a sequence, that is made again under its name is another, without what was in it. */
const offers = [
  `select format('schema %I of %s', nspname, nspowner::regrole) from pg_namespace where ${ours}`,
  `select format('%s %s of %s, %s %s', case relkind when 'v' then 'view' when 'm' then 'materialized view'
      when 'S' then 'sequence ' || oid else 'table ' || oid end, name, relowner::regrole, relpersistence, reloptions)
    from ${relations} c where relkind in ('r', 'p', 'v', 'm', 'f', 'S')`,
  `select format('column %s: %s %s %s%s', name, format_type(atttypid, atttypmod), nullif(attcollation, 0)::regcollation,
      attidentity::text || attgenerated::text, ', default ' || given) from ${columns} a`,
  `select format('sequence %s: %s', seqrelid::regclass, s) from pg_sequence s join ${relations} c on c.oid = seqrelid`,
  `select format('%s %s(%s) returns %s of %s%s%s', case prokind when 'p' then 'procedure' else 'function' end, name,
      pg_get_function_arguments(p.oid), pg_get_function_result(p.oid), proowner::regrole,
      case when prosecdef then ', with his rights' end, case when proisstrict then ', of nulls null' end)
    from ${functions} p`,
  `select format('type %s: %s %s, default %s', name, typtype, format_type(typbasetype, typtypmod), typdefault)
    from ${types} t`,
  `select format('value %L of %s', enumlabel, name) from pg_enum join ${types} t on t.oid = enumtypid`,
  `select format('unique on %s %s', relation, definition) from ${uniqueIndexes} i`,
  `select format('trigger on %s: %s', relation, definition) from ${triggers} t`,
  `select format('rule on %s: %s', relation, definition) from ${rules} r`,
  `select format('policy on %s: %s', relation, definition) from ${policies} p`,
  `select format('extension %s', extname) from pg_extension`,
  `select format('%s may %s the schema %s', ${whoever}, lower(privilege_type), nspname)
    from pg_namespace, aclexplode(nspacl) where ${ours} and grantee <> nspowner`,
  // What holds for a whole table holds for each of the columns that it has now.
  `select format('%s may %s %s', ${whoever}, lower(privilege_type), a.name)
    from ${columns} a join pg_class c on c.oid = attrelid,
      lateral (select * from aclexplode(relacl) union all select * from aclexplode(attacl)) as acl
    where grantee <> relowner and privilege_type in ('SELECT', 'INSERT', 'UPDATE', 'REFERENCES')`,
  `select format('%s may %s %s', ${whoever}, lower(privilege_type), name) from ${relations} c, aclexplode(relacl)
    where grantee <> relowner and (relkind = 'S' or privilege_type not in ('SELECT', 'INSERT', 'UPDATE', 'REFERENCES'))`,
  `select format('%s may execute %s(%s)', ${whoever}, name, pg_get_function_identity_arguments(p.oid))
    from ${functions} p, aclexplode(coalesce(proacl, acldefault('f', proowner))) where grantee <> proowner`,
  `select format('%s may use %s', ${whoever}, name)
    from ${types} t, aclexplode(coalesce(typacl, acldefault('T', typowner))) where grantee <> typowner`,
  `select format('%s may %s what %s makes in %s (%s)', ${whoever}, lower(privilege_type), defaclrole::regrole,
      nullif(defaclnamespace, 0)::regnamespace, defaclobjtype)
    from pg_default_acl, aclexplode(defaclacl) where grantee <> defaclrole`,
]

const demands = [
  // Whoever does not know a new column gives no value; whoever knows it may give none as yet.
  `select format('a value in %s', name), name from ${columns} a where attnotnull
    union all
    select format('a value in %s', name), relation from ${columns} a
    where attnotnull and given is null and attidentity = ''`,
  `select format('%s on %s', pg_get_constraintdef(o.oid), c.name), c.name
    from pg_constraint o join ${relations} c on c.oid = conrelid where contype in ('c', 'f', 'x') and conenforced`,
  `select format('%s on %s', pg_get_constraintdef(o.oid), name), name
    from pg_constraint o join ${types} t on t.oid = contypid`,
  // Who may delete rows may no longer where others refer to them.
  `select format('rows of %s are kept for %s', c.name, conrelid::regclass), c.name
    from pg_constraint o join ${relations} c on c.oid = confrelid
    where contype = 'f' and conenforced and confdeltype in ('a', 'r')
      and exists (select from aclexplode(relacl) where privilege_type = 'DELETE' and grantee <> relowner)`,
  `select format('unique on %s %s', relation, definition), relation from ${uniqueIndexes} i`,
  `select format('trigger on %s: %s', relation, definition), relation from ${triggers} t`,
  `select format('rule on %s: %s', relation, definition), relation from ${rules} r`,
  `select format('policy on %s: %s', relation, definition), relation from ${policies} p`,
  `select format('row security of %s%s', name, case when relforcerowsecurity then ', also for its owner' end), name
    from ${relations} c where relrowsecurity`,
  // By fewer words, which of two is meant may be nobody's to say.
  `select format('another %s(%s)', name, pg_get_function_arguments(p.oid)), name from ${functions} p`,
  `select format('event trigger %s', evtname), 'the database' from pg_event_trigger`,
  `select format('setting of %s: %s', nullif(setrole, 0)::regrole, unnest(setconfig)), 'the database'
    from pg_db_role_setting where setdatabase = (select oid from pg_database where datname = current_database())`,
]

const objects = [
  `select name from ${relations} c`,
  `select name from ${columns} a`,
  `select name from ${functions} p`,
  `select name from ${types} t`,
  `select 'the database'`,
]

/** As it stands now, for whoever is asked on that connection. */
export async function readCatalog(client: Client): Promise<Catalog> {
  const demanded = new Map<string, Set<string>>()
  for (const [line = '', of = ''] of await ask(client, demands)) {
    demanded.set(line, (demanded.get(line) ?? new Set()).add(of))
  }
  return {
    offers: new Set((await ask(client, offers)).map(([line = '']) => line)),
    demands: demanded,
    objects: new Set((await ask(client, objects)).map(([name = '']) => name)),
  }
}

async function ask(client: Client, questions: readonly string[]): Promise<string[][]> {
  const { rows } = await client.query<string[]>({ text: questions.join('\nunion all\n'), rowMode: 'array' })
  return rows
}
