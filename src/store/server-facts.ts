import { type Kysely, sql } from 'kysely'
import type { Vitals } from '../health.ts'
import type { Tables } from './tables.ts'

/** With the time of the server's clock. */
export type ServerFacts = {
  version: number
  clock: Date
  user: string
  isMade: boolean
  /** A standby, or set to read-only. */
  isReadOnly: boolean
}

/** `version` is a number such as 180004. `isMade` is true if any migration was ever applied. */
export async function readServerFacts(db: Kysely<Tables>): Promise<ServerFacts> {
  const { rows } = await sql<ServerFacts>`
    select current_setting('server_version_num')::int as version, clock_timestamp() as clock,
      current_user::text as user, to_regclass('public.kysely_migration') is not null as "isMade",
      current_setting('transaction_read_only') = 'on' as "isReadOnly"`.execute(db)
  return rows[0] ?? { version: 0, clock: new Date(0), user: '', isMade: false, isReadOnly: false }
}

/**
 * The right that the user lacks to start the daemon: membership in its role, or creation of it. Null if it lacks
 * nothing.
 */
export async function lackOfRights(db: Kysely<Tables>): Promise<'membership' | 'creation' | null> {
  const { rows } = await sql<{ made: boolean; may: boolean }>`
    select to_regrole('depositd_daemon') is not null as made,
      coalesce(pg_has_role(to_regrole('depositd_daemon'), 'SET'),
        (select rolcreaterole or rolsuper from pg_roles where rolname = current_user)) as may`.execute(db)
  const [row] = rows
  if (row === undefined || row.may) return null
  return row.made ? 'membership' : 'creation'
}

/** The user, or a role that it can assume. Before the tables exist: a superuser, or may create roles. */
export async function mayChangeBooks(db: Kysely<Tables>): Promise<boolean> {
  const { rows } = await sql<{ may: boolean }>`
    select coalesce(bool_or(
      pg_has_role(c.relowner, 'MEMBER') or has_table_privilege(c.oid, 'UPDATE, DELETE, TRUNCATE, TRIGGER')
    ), (select rolsuper or rolcreaterole from pg_roles where rolname = current_user)) as may
    from pg_class c
    where c.oid in (to_regclass('public.ledger_journal'), to_regclass('public.ledger_transfer'),
      to_regclass('public.seal'), to_regclass('public.inbox'))`.execute(db)
  return rows[0]?.may ?? false
}

/** Without these the daemon fails at its first deposit. */
const needed = [
  ['select', 'kysely_migration'],
  ['insert', 'inbox'],
  ['insert', 'inbox_pending'],
  ['delete', 'inbox_pending'],
  ['insert', 'evidence'],
  ['insert', 'stream'],
  ['update', 'stream'],
  ['insert', 'deposit'],
  ['update', 'deposit'],
  ['insert', 'mismatch'],
  ['update', 'mismatch'],
  ['insert', 'ledger_transfer'],
  ['select', 'ledger_entry'],
] as const

/** With these a bug of the daemon could change the books, or the messages they are based on. */
const refused = ['ledger_journal', 'ledger_transfer', 'seal', 'inbox'].flatMap((table) =>
  ['update', 'delete', 'truncate'].map((privilege) => [privilege, table] as const),
)

export async function grantsToFix(db: Kysely<Tables>): Promise<string[]> {
  const asked = [...needed.map((one) => [...one, true]), ...refused.map((one) => [...one, false])]
  const { rows } = await sql<{ privilege: string; name: string; wanted: boolean }>`
    select privilege, name, wanted from jsonb_to_recordset(${JSON.stringify(
      asked.map(([privilege, name, wanted]) => ({ privilege, name, wanted })),
    )}::jsonb) as asked (privilege text, name text, wanted boolean)
    where has_table_privilege('depositd_daemon', 'public.' || name, privilege) <> wanted
    order by name, privilege`.execute(db)
  return rows.map(({ privilege, name, wanted }) =>
    wanted
      ? `grant ${privilege} on ${name} to depositd_daemon`
      : `revoke ${privilege} on ${name} from depositd_daemon`,
  )
}

export async function monthsWithoutPartition(db: Kysely<Tables>): Promise<string[]> {
  const { rows } = await sql<{ month: string }>`
    select to_char(month, 'YYYYMM') as month
    from generate_series(date_trunc('month', now() at time zone 'UTC'),
      date_trunc('month', now() at time zone 'UTC') + interval '1 month', '1 month') as month
    where to_regclass('public.ledger_transfer_' || to_char(month, 'YYYYMM')) is null
    order by month`.execute(db)
  return rows.map(({ month }) => month)
}

export async function countOpen(db: Kysely<Tables>, kind: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from open_mismatch where kind = ${kind}`.execute(db)
  return rows[0]?.count ?? 0
}

type VitalsRow = {
  migrations: string[]
  isReadOnly: boolean
  inbox: number
  ages: Record<string, number>
}

const nothing: VitalsRow = { migrations: [], isReadOnly: false, inbox: 0, ages: {} }

/** In one statement, so that a caller waits for a connection only once. */
export async function readHealth(db: Kysely<Tables>): Promise<Vitals> {
  const { rows } = await sql<VitalsRow>`
    select coalesce((select jsonb_agg(name) from kysely_migration), '[]') as migrations,
      current_setting('transaction_read_only') = 'on' as "isReadOnly",
      coalesce((select greatest(extract(epoch from now() - min(stored_at)), 0) from inbox_pending), 0)::float8 as inbox,
      coalesce((
        select jsonb_object_agg(name, greatest(extract(epoch from now() - succeeded_at), 0)) from stream
        where succeeded_at is not null
      ), '{}') as ages`.execute(db)
  const { inbox, ages, ...known } = rows[0] ?? nothing
  return { ...known, inboxOldest: inbox, ages: new Map(Object.entries(ages)) }
}

export async function keepBeat(db: Kysely<Tables>, stream: string): Promise<void> {
  await sql`
    insert into stream (name, succeeded_at) values (${stream}, now())
    on conflict (name) do update set succeeded_at = excluded.succeeded_at`.execute(db)
}
