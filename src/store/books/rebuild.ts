import { createHash } from 'node:crypto'
import { type QueryResult, type RawBuilder, sql, type Transaction } from 'kysely'
import { inPieces } from '../database.ts'
import { type BatchLimits, type PendingRow, readWithin } from '../inbox.ts'
import type { Tables } from '../tables.ts'

/** Depends on the evidence alone: not on generated ids, on when it was noticed, nor on bookings reversed in between. */
export type BooksDigestEntry = {
  /** The service's id or else the payment; a chain transfer; or an unreadable payload. */
  subject: string
  what: 'deposit' | 'withdrawal' | 'mismatch' | 'books'
  /** The kind of a mismatch; account, asset and time of a booking; empty for the deposit itself. */
  name: string
  /** JSON text with sorted keys. */
  content: string
}

/**
 * SHA-256. Databases with the same evidence, settings and address book have the same digest, in any order of arrival.
 */
export async function digestBooks(tx: Transaction<Tables>): Promise<string> {
  const hash = hashHoldings()
  for await (const rows of readHoldings(tx)) for (const row of rows) hash.add(row, row.content)
  return hash.digest()
}

/** In the order of the digest. */
export async function* readHoldings(tx: Transaction<Tables>): AsyncGenerator<BooksDigestEntry[]> {
  await sql`set local time zone 'UTC'`.execute(tx)
  yield* inPieces(
    tx,
    sql<BooksDigestEntry>`select subject, what, name, content from ${holdings('public')} order by ${inOrder}`,
  )
}

/** `live` as stored, `rebuilt` from the evidence. Null on the side that lacks it. */
export type BooksComparison = Omit<BooksDigestEntry, 'content'> & {
  live: string | null
  rebuilt: string | null
  /** A recheck is due and has not run yet. */
  isDue: boolean
}

/** All facts of the live tables beside those of the tables that hide them, ordered by subject. */
export function compareBooks(tx: Transaction<Tables>, now: Date): AsyncIterable<BooksComparison[]> {
  return inPieces(
    tx,
    sql<BooksComparison>`
    with due as materialized (
      select live.inbox_id, live.group_id from public.evidence_group join public.evidence live on group_id = evidence_group.id
      where recheck_at <= ${now}
    )
    select subject, what, name, live.content as live, rebuilt.content as rebuilt,
      coalesce(live.group_id in (select group_id from due), false) or coalesce(rebuilt.group_id in (
        select made.group_id from due join pg_temp.evidence made using (inbox_id)
      ), false) as "isDue"
    from ${holdings('public')} as live full join ${holdings('pg_temp')} as rebuilt using (subject, what, name)
    order by ${inOrder}`,
  )
}

/** JSON text; null on the side that lacks it. */
export type EvidenceDifference = { inboxId: bigint; live: string | null; rebuilt: string | null }

/** Observations as stored that are not what their raw rows say, oldest first. */
export function compareEvidence(tx: Transaction<Tables>): AsyncIterable<EvidenceDifference[]> {
  return inPieces(
    tx,
    sql<EvidenceDifference>`
    select coalesce(live.inbox_id, made.inbox_id) as "inboxId", live.observation::text as live, made.observation::text as rebuilt
    from public.evidence live full join pg_temp.evidence made using (inbox_id)
    where live.observation is distinct from made.observation order by 1`,
  )
}

/** JSON text; null on the side on which the owner may not be credited. */
export type CreditDifference = { subject: string; live: string | null; rebuilt: string | null }

/**
 * What stands as safe to credit. It differs if a mismatch came later, which changes nothing of what was recorded, or if it
 * rests on a policy of then.
 */
export function compareCredits(tx: Transaction<Tables>): AsyncIterable<CreditDifference[]> {
  return inPieces(
    tx,
    sql<CreditDifference>`
    select subject, live.content as live, rebuilt.content as rebuilt
    from ${creditsOf('public')} as live full join ${creditsOf('pg_temp')} as rebuilt using (subject)
    where live.content is distinct from rebuilt.content order by subject collate "C"`,
  )
}

function creditsOf(name: 'public' | 'pg_temp'): RawBuilder<unknown> {
  const schema = sql.id(name)
  return sql`(
    select ${subject} as subject, jsonb_build_object('asset', last.asset, 'amount', last.amount, 'account', account)::text as content
    from (
      select distinct on (deposit_id) * from ${schema}.credit_safety order by deposit_id, number desc
    ) as last join ${schema}.deposit on deposit.id = last.deposit_id and merged_into is null
    where action = 'safe'
  )`
}

/** Facts must be added in order. */
export function hashHoldings() {
  const hash = createHash('sha256')
  return {
    add({ subject, what, name }: Omit<BooksDigestEntry, 'content'>, content: string): void {
      hash.update(`${JSON.stringify([subject, what, name])} ${content}\n`)
    },
    digest: () => hash.digest('hex'),
  }
}

const inOrder = sql`subject collate "C", what collate "C", name collate "C"`

/** Specific to this database: generated ids, the name of the service, and times of noticing. */
const ours = [
  'id',
  'service',
  'group_id',
  'merged_into',
  'reconciled_at',
  'unreported_since',
  'created_at',
  'updated_at',
]

function holdings(name: 'public' | 'pg_temp'): RawBuilder<unknown> {
  const schema = sql.id(name)
  return sql`(
    select ${subject} as subject, 'deposit' as what, '' as name, (to_jsonb(deposit) - ${ours}::text[])::text as content, group_id
    from ${schema}.deposit where merged_into is null
    union all
    select 'withdrawal ' || wallet || ' ' || withdrawal_id, 'withdrawal', '',
      (to_jsonb(withdrawal) - ${ours}::text[])::text, group_id
    from ${schema}.withdrawal
    union all
    select coalesce(${subject}, 'payload ' || source || ' ' || source_key, subject), 'mismatch', kind,
      jsonb_build_object('network', mismatch.network, 'asset', mismatch.asset, 'value', value,
        'loss', loss_amount, 'loss_asset', loss_asset, 'detail', detail)::text, mismatch.group_id
    from ${schema}.mismatch
      left join ${schema}.deposit on deposit.id = deposit_id and merged_into is null
      left join public.inbox on inbox.id = substring(subject from '^inbox/(\\d+)$')::bigint
    where cleared_at is null and (mismatch.group_id is not null or inbox.id is not null)
    union all
    select coalesce(${subject}, 'payment ' || journal.transfer, 'journal ' || journal_id), 'books',
      account || ' ' || entry.asset
        || case when journal.transfer <> deposit.transfer then ' of ' || journal.transfer else '' end
        || ' at ' || to_char(journal.event_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.USZ'),
      sum(entry.amount)::text, coalesce(min(deposit.group_id), min(paid_out.group_id))
    from (
      select journal_id, debit as account, asset, amount from ${schema}.ledger_transfer
      union all
      select journal_id, credit, asset, -amount from ${schema}.ledger_transfer
    ) as entry
      left join ${schema}.ledger_journal journal on journal.id = journal_id
      left join ${schema}.deposit on deposit.id = journal.deposit_id and merged_into is null
      left join (
        select transfer, min(group_id) as group_id from ${schema}.withdrawal group by transfer
      ) as paid_out on journal.deposit_id is null and paid_out.transfer = journal.transfer
    where journal.id is null or journal.transfer is not null
    group by 1, 3 having sum(entry.amount) <> 0
  )`
}

/** Valid outside of this database. */
const subject = sql`coalesce('deposit ' || deposit.service_id, 'payment ' || deposit.transfer)`

/** All tables that applying evidence writes to. */
const derivedTables = [
  'evidence_group',
  'link_key',
  'evidence',
  'deposit',
  'withdrawal',
  'mismatch',
  'mismatch_event',
  'ledger_account',
  'ledger_journal',
  'ledger_transfer',
  'credit_safety',
  'event_pending',
] as const

/**
 * For the rest of this transaction, these names refer to its own empty tables. Postgres rejects writes to any other.
 */
export async function hideDerivedTables(tx: Transaction<Tables>): Promise<void> {
  // The temporary schema is searched first unless the session's search path places it elsewhere.
  const tables = derivedTables.map(
    (name) => `create temp table ${name} (like public.${name} including all) on commit drop`,
  )
  const settings = ['set local search_path to pg_temp, public', "set local time zone 'UTC'"]
  await sql.raw([...settings, ...tables, 'set transaction read only'].join('; ')).execute(tx)
}

/** Autovacuum does not analyze tables of one transaction, and plans for empty tables are bad for full ones. */
export async function analyzeDerivedTables(tx: Transaction<Tables>): Promise<void> {
  await sql.raw(`analyze ${derivedTables.join(', ')}`).execute(tx)
}

export async function countApplied(tx: Transaction<Tables>): Promise<{ applied: number; pending: number }> {
  const { rows } = await sql<{ applied: number; pending: number }>`
    select (select count(*) from inbox)::float8 - pending as applied, pending
    from (select count(*)::float8 as pending from inbox_pending) as waiting`.execute(tx)
  return rows[0] ?? { applied: 0, pending: 0 }
}

export function nextApplied(
  tx: Transaction<Tables>,
  after: bigint,
  { rowsMax, bytesMax }: BatchLimits,
): Promise<PendingRow[]> {
  return readWithin(
    tx,
    sql`select id from inbox where id > ${after} and not exists (select from inbox_pending where inbox_id = id)
      order by id limit ${rowsMax}`,
    bytesMax,
  )
}

export async function countGroups(tx: Transaction<Tables>): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(distinct group_id)::float8 as count from evidence`.execute(tx)
  return rows[0]?.count ?? 0
}

const groupsMax = 500

/** Ids of all groups, in pages. */
export async function* allGroups(tx: Transaction<Tables>): AsyncGenerator<bigint[]> {
  for (let after: bigint | undefined = 0n; after !== undefined; ) {
    const { rows }: QueryResult<{ id: bigint }> = await sql<{ id: bigint }>`
      select distinct group_id as id from evidence where group_id > ${after}
      order by id limit ${groupsMax}`.execute(tx)
    if (rows.length > 0) yield rows.map(({ id }) => id)
    after = rows.at(-1)?.id
  }
}
