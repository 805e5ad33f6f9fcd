import { type Kysely, sql } from 'kysely'
import { readMigrations } from './migrate.ts'

/**
 * User of the connection, whether it may change the schema, and the applied migrations; null if it may not read them.
 */
export type MigrationAccess = {
  user: string
  mayMigrate: boolean
  isStandby: boolean
  migrations: readonly string[] | null
}

/**
 * The owner of the migrations table owns the schema that the migrations made. Before that table exists, any user who
 * may create schemas in the database may migrate.
 */
export async function readMigrationAccess<Tables>(db: Kysely<Tables>): Promise<MigrationAccess> {
  const { rows } = await sql<{ user: string; mayMigrate: boolean; isStandby: boolean }>`
    select current_user::text as user, pg_is_in_recovery() as "isStandby",
      coalesce(
        (select pg_has_role(relowner, 'USAGE') from pg_class where oid = to_regclass('public.kysely_migration')),
        has_database_privilege(current_database(), 'CREATE')
      ) as "mayMigrate"`.execute(db)
  const standing = rows[0] ?? { user: '', mayMigrate: false, isStandby: false }
  return { ...standing, migrations: await readMigrations(db) }
}
