import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Seal } from '../../ledger/seal.ts'
import { ageOf } from '../database.ts'
import type { Tables } from '../tables.ts'

export async function sealsAfter(db: Kysely<Tables>, number: string, limit: number): Promise<Seal[]> {
  const { rows } = await sql<Seal>`
    select ${columns} from ledger_seal where number > ${number}
    order by ledger_seal.number limit ${limit}`.execute(db)
  return rows
}

/** The newest first. */
export async function newestSeals(
  db: Kysely<Tables>,
  { limit, before = null }: { limit: number; before?: bigint | null },
): Promise<Seal[]> {
  const { rows } = await sql<Seal>`
    select ${columns} from ledger_seal where ${before}::bigint is null or ledger_seal.number < ${before}::bigint
    order by ledger_seal.number desc limit ${limit}`.execute(db)
  return rows
}

export async function sealOfJournal(db: Kysely<Tables>, journal: bigint): Promise<Seal | null> {
  const { rows } = await sql<Seal>`
    select ${columns} from ledger_seal where last_journal >= ${journal}
    order by last_journal limit 1`.execute(db)
  return rows[0] ?? null
}

const columns = sql`number::text as number, after_journal::text as after, last_journal::text as last,
  journals::text as journals, root, previous, ${timeText(sql.ref('sealed_at'))} as "sealedAt", hash`

/** The id and leaf of each journal; null if there is no such seal. */
export async function leavesOfSeal(db: Kysely<Tables>, number: string): Promise<Buffer | null> {
  const { rows } = await sql<{ leaves: Buffer }>`
    select leaves from ledger_seal where number = ${number}::bigint`.execute(db)
  return rows[0]?.leaves ?? null
}

/** If another process stored one at the same time, that one stays. */
export async function insertSeal(db: Kysely<Tables>, seal: Seal, leaves: Buffer): Promise<boolean> {
  const { number, after, last, journals, root, previous, sealedAt, hash } = seal
  // Without a conflict target: the other seal may share any of the keys.
  const { numAffectedRows } = await sql`
    insert into ledger_seal (number, after_journal, last_journal, journals, root, previous, sealed_at, hash, leaves)
    values (${number}, ${after}, ${last}, ${journals}, ${root}, ${previous}, ${sealedAt}, ${hash}, ${leaves})
    on conflict do nothing`.execute(db)
  return numAffectedRows === 1n
}

export async function countUnsealed(db: Kysely<Tables>): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::float8 as count from ledger_journal
    where id > (select coalesce(max(last_journal), 0) from ledger_seal)`.execute(db)
  return rows[0]?.count ?? 0
}

/** In seconds; 0 if there is none. */
export async function secondsUnsealed(db: Kysely<Tables>): Promise<number> {
  const { rows } = await sql<{ age: number }>`
    select ${ageOf(sql`recorded_at`)} as age from ledger_journal
    where id > (select coalesce(max(last_journal), 0) from ledger_seal) order by id limit 1`.execute(db)
  return rows[0]?.age ?? 0
}

/**
 * To the microsecond, in UTC, independent of the session. Outside the years 1 to 9999 as seconds since 1970, so that no
 * two times have the same text.
 */
export function timeText(time: RawBuilder<unknown>): RawBuilder<string> {
  return sql`case when ${time} >= '0001-01-01 00:00:00+00' and ${time} < '10000-01-01 00:00:00+00'
    then to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
    else extract(epoch from ${time})::text end`
}

export type StoredJournal = {
  journal: Record<
    | 'id'
    | 'posting_key'
    | 'kind'
    | 'deposit_id'
    | 'transfer'
    | 'reverses'
    | 'event_at'
    | 'recorded_at'
    | 'period'
    | 'reason'
    | 'made_by'
    | 'approved_by',
    string | null
  >
  legs: StoredLeg[]
}

type StoredLeg = Record<
  'leg' | 'debit' | 'credit' | 'asset' | 'amount' | 'event_at' | 'recorded_at' | 'period',
  string | null
>

type SealedJournalRange = {
  /** Null starts at the lowest id. */
  after: string | null
  last: string
}

type JournalPage = {
  journals: StoredJournal[]
  withoutJournal: bigint[]
}

const journalsOfPage = 1000

/** In order of their ids, page by page. */
export async function* readSealedJournals(
  db: Kysely<Tables>,
  { after, last }: SealedJournalRange,
): AsyncGenerator<JournalPage> {
  let first = after === null ? leastId : next(after)
  for (;;) {
    const read = await journalsWithin(db, { first, last })
    const isLast = read.length < journalsOfPage
    const journals = isLast ? read : wholeOf(read)
    const end = isLast ? last : (journals.at(-1)?.id ?? last)
    yield joined(journals, await legsWithin(db, { first, last: end }))
    if (end === last) return
    first = next(end)
  }
}

/** By id or posting key. */
export async function journalNamed(db: Kysely<Tables>, name: string): Promise<bigint | null> {
  const isNumber = /^-?\d{1,18}$/.test(name)
  const { rows } = await sql<{ id: bigint }>`
    select id from ledger_journal
    where ${isNumber ? sql`id = ${name}::bigint` : sql`posting_key = ${name}`}`.execute(db)
  return rows[0]?.id ?? null
}

/** Drops the last id of a full page: a duplicated journal may continue on the next page. */
function wholeOf(read: SealedJournalRow[]): SealedJournalRow[] {
  const whole = read.filter(({ id }) => id !== read.at(-1)?.id)
  return whole.length > 0 ? whole : read
}

const leastId = (-(2n ** 63n)).toString()

function next(id: string): string {
  return (BigInt(id) + 1n).toString()
}

type SealedJournalRow = StoredJournal['journal'] & { id: string }
type LegRow = StoredLeg & { journal: string }
type JournalIdRange = { first: string; last: string }

async function journalsWithin(
  db: Kysely<Tables>,
  { first, last }: JournalIdRange,
): Promise<SealedJournalRow[]> {
  const { rows } = await sql<SealedJournalRow>`
    select id::text as id, posting_key, kind, deposit_id::text as deposit_id, transfer, reverses::text as reverses,
      ${timesAndPeriod}, reason, made_by, approved_by
    from ledger_journal left join manual_journal on manual_journal.journal_id = ledger_journal.id
    where ledger_journal.id >= ${first}::bigint and ledger_journal.id <= ${last}::bigint
    order by ledger_journal.id limit ${journalsOfPage}`.execute(db)
  return rows
}

/** Numbers of legs are unique within a journal. Rows that break this count as altered. */
async function legsWithin(db: Kysely<Tables>, { first, last }: JournalIdRange): Promise<LegRow[]> {
  const { rows } = await sql<LegRow>`
    select journal_id::text as journal, leg::text as leg, debit, credit, asset, amount::text as amount,
      ${timesAndPeriod}
    from ledger_transfer where journal_id >= ${first}::bigint and journal_id <= ${last}::bigint
    order by journal_id, ledger_transfer.leg, ledger_transfer.recorded_at`.execute(db)
  return rows
}

const timesAndPeriod = sql`${timeText(sql.ref('event_at'))} as event_at,
  ${timeText(sql.ref('recorded_at'))} as recorded_at, to_char(period, 'YYYY-MM-DD') as period`

function joined(journals: readonly SealedJournalRow[], legs: readonly LegRow[]): JournalPage {
  const legsOf = Map.groupBy(legs, ({ journal }) => journal)
  const known = new Set(journals.map(({ id }) => id))
  return {
    journals: journals.map((journal) => ({ journal, legs: legsOf.get(journal.id) ?? [] })),
    withoutJournal: [...legsOf.keys()].filter((id) => !known.has(id)).map(BigInt),
  }
}
