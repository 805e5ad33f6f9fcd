import { type Kysely, sql } from 'kysely'
import type { Tables } from '../tables.ts'
import { timeText } from './seals.ts'

/** Rows of the books with every column as text, as they are sealed. */
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

export type StoredLeg = Record<
  'leg' | 'debit' | 'credit' | 'asset' | 'amount' | 'event_at' | 'recorded_at' | 'period',
  string | null
>

export type SealedJournalRange = {
  /** Journals with a greater id; null starts at the lowest id. */
  after: string | null
  last: string
}

export type JournalPage = {
  journals: StoredJournal[]
  /** Ids of missing journals that have legs. */
  unmatchedDeliveries: bigint[]
}

const journalsOfPage = 1000

/** Reads the journals of a range in order of their ids, page by page, each with its legs. */
export async function* readJournals(
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

/** The journal with this id or posting key. */
export async function journalNamed(db: Kysely<Tables>, name: string): Promise<bigint | null> {
  const isNumber = /^-?\d{1,18}$/.test(name)
  const { rows } = await sql<{ id: bigint }>`
    select id from ledger_journal
    where ${isNumber ? sql`id = ${name}::bigint` : sql`posting_key = ${name}`}`.execute(db)
  return rows[0]?.id ?? null
}

/** Drops the last id of a full page: if rows were duplicated, that journal may continue on the next page. */
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

/** Each number of a leg is unique within its journal. Rows that break this count as altered, in any order. */
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
    unmatchedDeliveries: [...legsOf.keys()].filter((id) => !known.has(id)).map(BigInt),
  }
}
