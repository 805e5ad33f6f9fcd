import { Client } from 'pg'

/** One statement per line of text; each is a definition as Postgres itself words it. */
const queries = [
  `select format(E'table %s.%s (\\n%s\\n);', n.nspname, c.relname, string_agg(format('  %s %s%s%s', a.attname,
      format_type(a.atttypid, a.atttypmod), case when a.attnotnull then ' not null' else '' end,
      case when a.attidentity <> '' then ' generated as identity' when d.adbin is not null
        then ' default ' || pg_get_expr(d.adbin, d.adrelid) else '' end), E',\\n' order by a.attname))
    from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid
      left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
    where c.relkind in ('r', 'p') and n.nspname = any($1) and a.attnum > 0 and not a.attisdropped
    group by n.nspname, c.relname`,
  `select format('constraint %s on %s: %s;', conname, conrelid::regclass, pg_get_constraintdef(oid))
    from pg_constraint where connamespace = any(select oid from pg_namespace where nspname = any($1)) and contype <> 'n'`,
  `select pg_get_indexdef(i.indexrelid) || ';' from pg_index i join pg_class c on c.oid = i.indexrelid
    join pg_namespace n on n.oid = c.relnamespace where n.nspname = any($1)`,
  `select format(E'view %s.%s as\\n%s', schemaname, viewname, definition) from pg_views where schemaname = any($1)`,
  `select pg_get_functiondef(p.oid) || ';' from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where n.nspname = any($1)`,
  `select pg_get_triggerdef(t.oid) || ';' from pg_trigger t join pg_class c on c.oid = t.tgrelid
    join pg_namespace n on n.oid = c.relnamespace where n.nspname = any($1) and not t.tgisinternal`,
  `select format('grant %s on %s.%s to %s;', string_agg(lower(privilege_type), ', ' order by privilege_type),
      table_schema, table_name, grantee)
    from information_schema.role_table_grants where table_schema = any($1) and grantee <> current_user
    group by table_schema, table_name, grantee`,
  `select format('comment on %s is %L;', pg_describe_object(classoid, objoid, objsubid), description)
    from pg_description d where exists (select 1 from pg_depend x where x.refclassid = 'pg_namespace'::regclass
      and x.refobjid in (select oid from pg_namespace where nspname = any($1)) and x.objid = d.objoid)`,
]

const notOurs = /\bkysely_migration/

/** The schema as it stands in a database, worded by Postgres, in an order that does not depend on its history. */
export async function dumpSchema(url: string, schemas: readonly string[]): Promise<string> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    const parts: string[] = []
    for (const query of queries) {
      const { rows } = await client.query({ text: query, values: [schemas], rowMode: 'array' })
      const texts = rows.map(([text]: unknown[]) => String(text)).filter((text) => !notOurs.test(text))
      parts.push(texts.toSorted().join('\n'))
    }
    return `${parts.join('\n\n').replaceAll(/[ \t]+$/gm, '')}\n`
  } finally {
    await client.end()
  }
}
