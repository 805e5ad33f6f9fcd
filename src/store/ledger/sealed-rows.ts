import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { SealedRow } from '../../ledger/sealed-row.ts'
import {
  type Columns,
  type ColumnType,
  type SealedTableName,
  sealedTable,
  sealedTableNames,
} from '../../ledger/sealed-tables.ts'
import type { Tables } from '../tables.ts'

/**
 * To the microsecond, in UTC, independent of the session. Outside the years 1 to 9999 as seconds since 1970, so that no
 * two times have the same text.
 */
export function timeText(time: RawBuilder<unknown>): RawBuilder<string> {
  return sql`case when ${time} >= '0001-01-01 00:00:00+00' and ${time} < '10000-01-01 00:00:00+00'
    then to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
    else extract(epoch from ${time})::text end`
}

export type RowRange = {
  table: SealedTableName
  /** Null starts at the lowest id. */
  after: bigint | null
  last: bigint
}

type RowPage = {
  rows: SealedRow[]
  /** Ids of missing rows to which lines refer. */
  withoutRow: bigint[]
}

const rowsOfPage = 1000
const leastId = -(2n ** 63n)

/** In order of their ids, page by page. */
export async function* readSealedRows(
  db: Kysely<Tables>,
  { table, after, last }: RowRange,
): AsyncGenerator<RowPage> {
  let first = after === null ? leastId : after + 1n
  for (;;) {
    const read = await rowsWhere(db, table, isWithin(first, last))
    const isLast = read.length < rowsOfPage
    const rows = isLast ? read : wholeOf(read)
    const end = isLast ? last : (rows.at(-1)?.id ?? last)
    yield joined(table, rows, await linesWhere(db, table, isWithin(first, end)))
    if (end === last) return
    first = end + 1n
  }
}

/** Drops the last id of a full page: a duplicated row may continue on the next page. */
function wholeOf(read: StoredRow[]): StoredRow[] {
  const whole = read.filter(({ id }) => id !== read.at(-1)?.id)
  return whole.length > 0 ? whole : read
}

/** At most a page of rows, by their ids. */
export async function sealedRowsOf(
  db: Kysely<Tables>,
  table: SealedTableName,
  ids: readonly bigint[],
): Promise<SealedRow[]> {
  const isAmong: IdCondition = (id) => sql`${id} = any(${ids}::bigint[])`
  return joined(table, await rowsWhere(db, table, isAmong), await linesWhere(db, table, isAmong)).rows
}

type StoredRow = Pick<SealedRow, 'id' | 'values'>
type IdCondition = (id: RawBuilder<unknown>) => RawBuilder<unknown>

function isWithin(first: bigint, last: bigint): IdCondition {
  return (id) => sql`${id} >= ${first} and ${id} <= ${last}`
}

async function rowsWhere(
  db: Kysely<Tables>,
  table: SealedTableName,
  isWanted: IdCondition,
): Promise<StoredRow[]> {
  const id = sql.ref(`${table}.${sealedTable(table).id}`)
  const { rows } = await sql<StoredRow>`
    select ${id} as id, ${valuesOf(table)} as values from ${sourceOf(table)}
    where ${isWanted(id)} order by ${id} limit ${rowsOfPage}`.execute(db)
  return rows
}

type StoredLine = { parent: bigint; values: (string | null)[] }

async function linesWhere(
  db: Kysely<Tables>,
  table: SealedTableName,
  isWanted: IdCondition,
): Promise<StoredLine[]> {
  const { lines } = sealedTable(table)
  if (lines === undefined) return []
  const parent = sql.ref(lines.by)
  const { rows } = await sql<StoredLine>`
    select ${parent} as parent, ${listOf(textsOf(lines.table, lines.columns))} as values from ${sql.table(lines.table)}
    where ${isWanted(parent)} order by ${parent}, ${sql.raw(lines.order)}`.execute(db)
  return rows
}

function joined(table: SealedTableName, rows: readonly StoredRow[], lines: readonly StoredLine[]): RowPage {
  const linesOf = Map.groupBy(lines, ({ parent }) => parent)
  const known = new Set(rows.map(({ id }) => id))
  return {
    rows: rows.map(({ id, values }) => ({
      table,
      id,
      values,
      lines: (linesOf.get(id) ?? []).map((line) => line.values),
    })),
    withoutRow: [...linesOf.keys()].filter((id) => !known.has(id)),
  }
}

function sourceOf(table: SealedTableName): RawBuilder<unknown> {
  const { id, joined: other } = sealedTable(table)
  if (other === undefined) return sql`${sql.table(table)}`
  const [own, theirs] = [sql.ref(`${table}.${id}`), sql.ref(`${other.table}.${other.by}`)]
  return sql`${sql.table(table)} left join ${sql.table(other.table)} on ${theirs} = ${own}`
}

function valuesOf(table: SealedTableName): RawBuilder<string[]> {
  const { columns, joined: other } = sealedTable(table)
  return listOf([
    ...textsOf(table, columns),
    ...(other === undefined ? [] : textsOf(other.table, other.columns)),
  ])
}

function textsOf(table: string, columns: Columns): RawBuilder<string>[] {
  return Object.entries(columns).map(([name, type]) => textOfType[type](sql.ref(`${table}.${name}`)))
}

/** As JSON, which is parsed faster than an array. */
function listOf(texts: readonly RawBuilder<string>[]): RawBuilder<string[]> {
  return sql`to_json(array[${sql.join(texts)}])`
}

const textOfType: Record<ColumnType, (column: RawBuilder<unknown>) => RawBuilder<string>> = {
  text: (column) => sql`${column}::text`,
  time: timeText,
  date: (column) => sql`to_char(${column}, 'YYYY-MM-DD')`,
  bytes: (column) => sql`encode(sha256(${column}), 'hex')`,
  seconds: (column) => sql`extract(epoch from ${column})::text`,
}

/** Other values of the same field, among which the former one may be. */
export async function otherValues(
  db: Kysely<Tables>,
  table: SealedTableName,
  { name, limit }: { name: string; limit: number },
): Promise<(string | null)[]> {
  const { columns, joined: other, lines } = sealedTable(table)
  const lineColumn = /^line \d+ (.*)$/.exec(name)?.[1]
  const column = lineColumn ?? name
  const parts = lineColumn === undefined ? [{ table, columns }, other] : [lines]
  const place = parts.find((one) => one !== undefined && column in one.columns)
  const type = place?.columns[column]
  if (place === undefined || type === undefined) return []
  const { rows } = await sql<{ value: string | null }>`
    select distinct ${textOfType[type](sql.ref(column))} as value from ${sql.table(place.table)} limit ${limit}`.execute(
    db,
  )
  return [null, ...rows.map(({ value }) => value)]
}

/** Tables of the log that the login may read. */
export async function readableTables(db: Kysely<Tables>): Promise<SealedTableName[]> {
  const { rows } = await sql<{ name: SealedTableName }>`
    select name from unnest(${sealedTableNames}::text[]) as name
    where has_table_privilege(name, 'select')`.execute(db)
  return rows.map(({ name }) => name)
}

/**
 * The greatest id up to which every row is written or never will be; null if there is no row, `busy` if `wait` gave up.
 * Waits for transactions that are writing to the table now, and blocks none: ids are drawn by inserts, which hold a lock
 * on the table until their transaction ends.
 */
export async function finishedUpTo(
  db: Kysely<Tables>,
  table: SealedTableName,
  wait: (isOpen: () => Promise<boolean>) => Promise<boolean>,
): Promise<bigint | 'busy' | null> {
  const { rows } = await sql<{ last: bigint | null }>`
    select max(${sql.ref(sealedTable(table).id)}) as last from ${sql.table(table)}`.execute(db)
  const writers = await writersOf(db, table)
  const isOpen = async () => {
    const open = new Set(await writersOf(db, table))
    return writers.some((writer) => open.has(writer))
  }
  return writers.length === 0 || (await wait(isOpen)) ? (rows[0]?.last ?? null) : 'busy'
}

/** Transactions that have inserted into the table, or are about to. */
async function writersOf(db: Kysely<Tables>, table: SealedTableName): Promise<string[]> {
  const { rows } = await sql<{ writer: string }>`
    select virtualtransaction as writer from pg_locks
    where locktype = 'relation' and relation = ${table}::regclass and mode = 'RowExclusiveLock'
      and database = (select oid from pg_database where datname = current_database())`.execute(db)
  return rows.map(({ writer }) => writer)
}
