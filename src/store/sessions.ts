import { type Kysely, sql } from 'kysely'
import type { PersonRole } from '../people/roles.ts'
import type { Tables } from './tables.ts'

/** `person` is null until the sign-in is complete. */
export type ConsoleSession = {
  person: string | null
  /** As the sign-in provider said; null if the register of people says. */
  roles: readonly PersonRole[] | null
  challenge: string
}

/** `token` is a SHA-256. */
type NewSession = ConsoleSession & { token: Buffer; lastsMs: number }

const expiry = (lastsMs: number) => sql`clock_timestamp() + ${lastsMs}::float8 * interval '1 millisecond'`

/** Also removes those that have ended. */
export async function insertSession(
  db: Kysely<Tables>,
  { token, person, roles, challenge, lastsMs }: NewSession,
): Promise<void> {
  await sql`
    with ended as (delete from session where expires_at < clock_timestamp())
    insert into session (token, person, roles, challenge, expires_at)
    values (${token}, ${person}, ${roles === null ? null : [...roles]}, ${challenge}, ${expiry(lastsMs)})`.execute(
    db,
  )
}

export async function readSession(db: Kysely<Tables>, token: Buffer): Promise<ConsoleSession | null> {
  const { rows } = await sql<ConsoleSession>`
    select person, roles, challenge from session where token = ${token} and expires_at > clock_timestamp()`.execute(
    db,
  )
  return rows[0] ?? null
}

/** `detail`: by what a person signed in, the person who did it for them, the token, or what they took out of the database or did with webhooks. */
export type AccessEvent =
  | {
      person: string
      action:
        | 'invited'
        | 'passkey_made'
        | 'signed_in'
        | 'signed_out'
        | 'sessions_ended'
        | 'token_created'
        | 'endpoint_created'
        | 'endpoint_changed'
        | 'endpoint_removed'
        | 'token_revoked'
      detail: string | null
    }
  /** `person` is null for a command without a key; the row has the login of the database. */
  | ({ person: string | null } & RecordedAct)

export type RecordedAct = {
  action:
    | 'exported'
    | 'bundle_made'
    | 'dispute_made'
    | 'attachment_taken'
    | 'webhooks_retried'
    | 'webhooks_dropped'
  detail: string
}

/** Append-only, and sealed. */
export async function recordAccess(
  db: Kysely<Tables>,
  { person, action, detail }: AccessEvent,
): Promise<void> {
  await sql`insert into access_event (person, action, detail) values (${person}, ${action}, ${detail})`.execute(
    db,
  )
}

/** Accountants may not. */
export async function mayReadSessions(db: Kysely<Tables>): Promise<boolean> {
  const { rows } = await sql<{
    may: boolean
  }>`select has_table_privilege('session', 'select') as may`.execute(db)
  return rows[0]?.may ?? false
}

/** A copy of another server, or a login that may only read. */
export async function isReadOnly(db: Kysely<Tables>): Promise<boolean> {
  const { rows } = await sql<{ only: boolean }>`
    select current_setting('transaction_read_only')::boolean as only`.execute(db)
  return rows[0]?.only ?? false
}

/** Columns of `accounting.audit_log`. */
export type AuditLine = {
  entry: string
  at: Date
  person: string | null
  action: string
  detail: string | null
  login: string | null
}

/** The newest first. `after` is the last entry of the previous page. */
export async function listAudit(
  db: Kysely<Tables>,
  {
    person,
    action,
    after,
    limit,
  }: { person: string | null; action: string | null; after: string | null; limit: number },
): Promise<AuditLine[]> {
  const { rows } = await sql<AuditLine>`
    select entry, at, person, action, detail, login from accounting.audit_log
    where (${person}::text is null or lower(person) = lower(${person})) and (${action}::text is null or action = ${action})
      and (${after}::text is null or (at, entry) < (select at, entry from accounting.audit_log where entry = ${after}))
    order by at desc, entry desc limit ${limit}`.execute(db)
  return rows
}

/** Of two that end the same session, one gets it. */
export async function endSession(db: Kysely<Tables>, token: Buffer): Promise<ConsoleSession | null> {
  const { rows } = await sql<ConsoleSession & { isOver: boolean }>`
    delete from session where token = ${token}
    returning person, roles, challenge, expires_at <= clock_timestamp() as "isOver"`.execute(db)
  const [row] = rows
  return row === undefined || row.isOver ? null : row
}

/** @returns how many */
export async function endSessionsOf(db: Kysely<Tables>, person: string): Promise<number> {
  const ended = await sql`delete from session where lower(person) = lower(${person})`.execute(db)
  return Number(ended.numAffectedRows ?? 0n)
}

export type Invitation = {
  person: string
  roles: readonly PersonRole[]
  challenge: string
  /** Null until it is made. */
  passkey: string | null
}

/** Replaces an earlier invitation of this person. */
export async function insertInvitation(
  db: Kysely<Tables>,
  {
    token,
    person,
    roles,
    challenge,
    lastsMs,
  }: Omit<Invitation, 'passkey'> & { token: Buffer; lastsMs: number },
): Promise<void> {
  await sql`
    with ended as (
      delete from invitation where expires_at < clock_timestamp() or lower(person) = lower(${person})
    )
    insert into invitation (token, person, roles, challenge, expires_at)
    values (${token}, ${person}, ${[...roles]}, ${challenge}, ${expiry(lastsMs)})`.execute(db)
}

export async function readInvitation(
  db: Kysely<Tables>,
  of: { token: Buffer } | { person: string },
): Promise<Invitation | null> {
  const isOf = 'token' in of ? sql`token = ${of.token}` : sql`lower(person) = lower(${of.person})`
  const { rows } = await sql<Invitation>`
    select person, roles, challenge, passkey from invitation
    where ${isOf} and expires_at > clock_timestamp()`.execute(db)
  return rows[0] ?? null
}

export async function listInvitations(db: Kysely<Tables>): Promise<Invitation[]> {
  const { rows } = await sql<Invitation>`
    select person, roles, challenge, passkey from invitation
    where expires_at > clock_timestamp() order by expires_at`.execute(db)
  return rows
}

/** The first passkey stays. */
export async function keepPasskey(db: Kysely<Tables>, token: Buffer, passkey: string): Promise<void> {
  await sql`update invitation set passkey = ${passkey} where token = ${token} and passkey is null`.execute(db)
}

export async function deleteInvitation(db: Kysely<Tables>, person: string): Promise<void> {
  await sql`delete from invitation where lower(person) = lower(${person})`.execute(db)
}
