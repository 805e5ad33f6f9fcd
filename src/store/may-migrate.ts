import { type Kysely, sql } from 'kysely'
import { readMigrations } from './migrate.ts'

/** Whose connection it is, whether it may change the schema, and the migrations that were applied, if it may know them. */
export type MigrationAccess = {
  user: string
  mayMigrate: boolean
  isStandby: boolean
  migrations: readonly string[] | null
}

/**
 * Who owns the table of migrations owns what they made. Before there is one, whoever may create schemas in the database
 * makes them.
 */
export async function readStanding<Tables>(db: Kysely<Tables>): Promise<MigrationAccess> {
  const { rows } = await sql<{ user: string; mayMigrate: boolean; isStandby: boolean }>`
    select current_user::text as user, pg_is_in_recovery() as "isStandby",
      coalesce(
        (select pg_has_role(relowner, 'USAGE') from pg_class where oid = to_regclass('public.kysely_migration')),
        has_database_privilege(current_database(), 'CREATE')
      ) as "mayMigrate"`.execute(db)
  const standing = rows[0] ?? { user: '', mayMigrate: false, isStandby: false }
  return { ...standing, migrations: await readMigrations(db) }
}
