import { type Kysely, sql } from 'kysely'

/** Whose connection it is, whether he may change the schema, and which version it is at; empty before the first. */
export type Standing = { user: string; mayMigrate: boolean; isStandby: boolean; schema: string }

/**
 * Who owns the table of migrations owns what they made. Before there is one, whoever may create schemas in the database
 * makes them. The version is told to who may read it.
 */
export async function readStanding<Tables>(db: Kysely<Tables>): Promise<Standing> {
  const { rows } = await sql<{ user: string; mayMigrate: boolean; isStandby: boolean; mayRead: boolean }>`
    select current_user::text as user, pg_is_in_recovery() as "isStandby",
      coalesce(
        (select pg_has_role(relowner, 'USAGE') from pg_class where oid = to_regclass('public.kysely_migration')),
        has_database_privilege(current_database(), 'CREATE')
      ) as "mayMigrate",
      coalesce(has_table_privilege(to_regclass('public.kysely_migration'), 'SELECT'), false) as "mayRead"`.execute(
    db,
  )
  const { mayRead = false, ...standing } = rows[0] ?? { user: '', mayMigrate: false, isStandby: false }
  return { ...standing, schema: mayRead ? await newestApplied(db) : '' }
}

async function newestApplied<Tables>(db: Kysely<Tables>): Promise<string> {
  const { rows } = await sql<{ schema: string }>`
    select coalesce(max(name), '') as schema from public.kysely_migration`.execute(db)
  return rows[0]?.schema ?? ''
}
