import { type Kysely, sql, type Transaction } from 'kysely'
import type { CauseNotice, NoticeFigures } from '../core/notices.ts'
import { ageOf, asTable } from './database.ts'
import type { Tables } from './tables.ts'

/** A receiver cannot use older ones. */
const unsentKept = sql.lit('3 days')
/** Of ended causes, which may come back, and of sent messages. */
const endedKept = sql.lit('30 days')

/** Of each channel, open causes and those that ended after `since`. */
export async function readNotices(
  tx: Transaction<Tables>,
  since: Date,
): Promise<(CauseNotice & { channel: string })[]> {
  const { rows } = await sql<CauseNotice & { channel: string }>`
    select channel, key, kind, service, network, since, until, figures, message_at as "messageAt", closed_at as "closedAt"
    from notification where kind is not null and (closed_at is null or until >= ${since}) order by id`.execute(
    tx,
  )
  return rows
}

export async function saveNotices(
  tx: Transaction<Tables>,
  notices: readonly (CauseNotice & { channel: string })[],
): Promise<void> {
  const rows = notices.map(({ figures, messageAt, closedAt, ...notice }) => ({
    ...notice,
    figures: JSON.stringify(figures satisfies NoticeFigures),
    message_at: messageAt,
    closed_at: closedAt,
  }))
  await sql`
    insert into notification (channel, key, kind, service, network, since, until, figures, message_at, closed_at)
    select channel, key, kind, service, network, since, until, figures, message_at, closed_at
    from ${asTable('n', rows, 'channel text, key text, kind text, service text, network text, since timestamptz, until timestamptz, figures jsonb, message_at timestamptz, closed_at timestamptz')}
    on conflict (channel, key) do update
      set since = excluded.since, until = excluded.until, figures = excluded.figures, message_at = excluded.message_at,
        closed_at = excluded.closed_at`.execute(tx)
}

export type NotedKey = { channel: string; key: string }

/** @returns those that were not noted before */
export async function noteKeys(
  tx: Transaction<Tables>,
  keys: readonly NotedKey[],
  now: Date,
): Promise<NotedKey[]> {
  const { rows } = await sql<NotedKey>`
    insert into notification (channel, key, message_at)
    select channel, key, ${now} from ${asTable('n', keys, 'channel text, key text')}
    on conflict (channel, key) do nothing returning channel, key`.execute(tx)
  return rows
}

/** `content` is JSON. */
export type WrittenMessage = NotedKey & { content: object }

export async function appendMessages(
  tx: Transaction<Tables>,
  messages: readonly WrittenMessage[],
  now: Date,
): Promise<void> {
  const rows = messages.map((message) => ({ ...message, content: JSON.stringify(message.content) }))
  await sql`
    insert into notification_message (channel, key, content, written_at, next_at)
    select channel, key, content, ${now}, ${now}
    from ${asTable('m', rows, 'channel text, key text, content jsonb')}`.execute(tx)
}

export async function forgetNotices(tx: Transaction<Tables>, now: Date): Promise<void> {
  await sql`
    with messages as (
      delete from notification_message where coalesce(sent_at, written_at) < ${now}::timestamptz - ${endedKept}::interval
    )
    delete from notification
    where message_at < ${now}::timestamptz - ${endedKept}::interval and (kind is null or closed_at is not null)`.execute(
    tx,
  )
}

export type DueMessage = {
  id: bigint
  /** The same in each attempt. */
  messageId: string
  /** Of the first message about the same; null if this is the first. */
  threadId: string | null
  content: unknown
  writtenAt: Date
  tries: number
}

/**
 * The next one of the channel, which no other process then takes for a minute, or longer after each attempt. Later ones
 * wait until it is sent.
 */
export async function takeDueMessage(
  db: Kysely<Tables>,
  channel: string,
  now: Date,
): Promise<DueMessage | null> {
  const { rows } = await sql<DueMessage>`
    with due as (
      select id from notification_message
      where channel = ${channel} and sent_at is null and written_at > ${now}::timestamptz - ${unsentKept}::interval
      order by id limit 1
    )
    update notification_message m
    set tries = tries + 1, next_at = ${now}::timestamptz + least(power(2, least(tries, 10)), 60) * interval '1 minute'
    from due where m.id = due.id and m.next_at <= ${now}::timestamptz and m.sent_at is null
    returning m.id, m.message_id as "messageId", m.content, m.written_at as "writtenAt", m.tries,
      (select f.message_id from notification_message f
        where f.channel = m.channel and f.key = m.key and f.id < m.id order by f.id limit 1) as "threadId"`.execute(
    db,
  )
  return rows[0] ?? null
}

/** @param problem null if the receiver accepted it */
export async function noteAttempt(
  db: Kysely<Tables>,
  id: bigint,
  { problem, at }: { problem: string | null; at: Date },
): Promise<void> {
  await sql`
    update notification_message set problem = ${problem}, sent_at = case when ${problem}::text is null then ${at}::timestamptz end
    where id = ${id}`.execute(db)
}

/** `oldest`: for how many seconds the first has waited. */
export type UnsentMessages = { channel: string; waiting: number; oldest: number; problem: string | null }

/** Of each channel whose next message is not sent. */
export async function readUnsent(db: Kysely<Tables>): Promise<UnsentMessages[]> {
  const { rows } = await sql<UnsentMessages>`
    select channel, count(*)::int as waiting, ${ageOf(sql`min(written_at)`)} as oldest,
      (array_agg(problem order by id))[1] as problem
    from notification_message where sent_at is null and written_at > now() - ${unsentKept}::interval
    group by channel order by channel`.execute(db)
  return rows
}
