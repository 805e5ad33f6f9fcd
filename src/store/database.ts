import {
  Kysely,
  type KyselyPlugin,
  PostgresDialect,
  type RawBuilder,
  RawNode,
  sql,
  type Transaction,
} from 'kysely'
import { Pool, type PoolClient, types } from 'pg'
import { Fault, isFault } from '../core/errors.ts'
import { reach } from '../failpoint.ts'

export type Database<Tables> = Kysely<Tables>

export type DatabaseSettings = {
  url: string
  poolMax: number
  applicationName: string
  /** The user of the URL must be a member of it, and is the default. */
  role?: string
  /** For read-only programs: Postgres rejects writes and cancels longer statements. */
  readOnlyWithinMs?: number
  /** When a silent server is noticed. The default is longer than any query of the daemon takes. */
  queryTimeoutMs?: number
}

/** `int8` arrives as `bigint`, `numeric` as decimal text, `timestamptz` as `Date`, `date` as text. */
export function openDatabase<Tables>({
  url,
  poolMax,
  applicationName,
  role,
  readOnlyWithinMs,
  queryTimeoutMs = 60_000,
}: DatabaseSettings): Kysely<Tables> {
  const pool = new Pool({
    connectionString: url,
    max: poolMax,
    application_name: applicationName,
    options: [
      ...(role === undefined ? [] : [`-c role=${role}`]),
      ...sessionOptions,
      ...(readOnlyWithinMs === undefined ? [] : readOnlyOptions(readOnlyWithinMs)),
    ].join(' '),
    connectionTimeoutMillis: 5000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    query_timeout: queryTimeoutMs,
    types: { getTypeParser },
  })
  // A broken connection must not end the process. The failing query reports it, and the next one opens another.
  pool.on('error', () => undefined)
  pool.on('connect', (client) => {
    client.on('error', () => undefined)
    prepareNamed(client)
  })
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
}

/**
 * Each connection parses each statement of this once, and after five times keeps a plan for any values, unless plans for the
 * given ones are better: planning takes most of the time of a statement about few rows. The texts must be few.
 */
export function preparing<Tables>(db: Kysely<Tables>): Kysely<Tables> {
  return db.withPlugin(preparer)
}

const preparedMark = '/* prepared */'

const preparer: KyselyPlugin = {
  transformQuery({ node }) {
    if (!RawNode.is(node)) return node
    const [first = '', ...others] = node.sqlFragments
    if (first.startsWith(preparedMark)) return node
    return RawNode.create([preparedMark + first, ...others], node.parameters)
  },
  transformResult: ({ result }) => Promise.resolve(result),
}

/** A connection keeps what it prepared. */
const preparedMax = 500
const preparedNames = new Map<string, string>()

function nameOf(text: string): string | undefined {
  if (!text.startsWith(preparedMark)) return undefined
  if (!preparedNames.has(text) && preparedNames.size < preparedMax)
    preparedNames.set(text, `depositd_${preparedNames.size}`)
  return preparedNames.get(text)
}

/** Kysely passes on text and parameters, but no name. */
function prepareNamed(client: PoolClient): void {
  const query = client.query.bind(client) as (...args: unknown[]) => unknown
  const named = (text: unknown, ...rest: unknown[]) => {
    const name = typeof text === 'string' ? nameOf(text) : undefined
    if (name === undefined) return query(text, ...rest)
    const answered = query({ name, text, values: rest[0] })
    reach('statement.sent')
    return answered
  }
  client.query = named as typeof client.query
}

/**
 * The timeouts release the locks of a process that vanished or hangs. Pages are in memory or on flash: with a low
 * `random_page_cost`, a batch looks up its rows by index, however large the tables are.
 */
const sessionOptions = [
  '-c idle_in_transaction_session_timeout=30s',
  '-c lock_timeout=30s',
  '-c random_page_cost=1.1',
]

function readOnlyOptions(withinMs: number): string[] {
  return ['-c default_transaction_read_only=on', `-c statement_timeout=${withinMs}`]
}

const serializationFailure = '40001'
const deadlockDetected = '40P01'
export const attemptsMax = 10

/** Repeats the work from the start if it conflicts with another transaction. */
export async function inTransaction<Tables, Result>(
  db: Kysely<Tables>,
  work: (tx: Transaction<Tables>) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await db.transaction().execute(work)
    } catch (error) {
      if (attempt === attemptsMax || !gaveWay(error)) throw error
    }
  }
}

const uniqueViolation = '23505'

/** Of two concurrent transactions, the second waits, fails on the unique key, and finds the row on the retry. */
export async function withoutRace<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === uniqueViolation)) throw error
    return await work()
  }
}

/** Rolls the transaction back, and still returns its result, if the work says that nothing is kept. */
export async function unlessDryRun<Tables, Result>(
  db: Kysely<Tables>,
  work: (tx: Transaction<Tables>) => Promise<{ result: Result; isKept: boolean }>,
): Promise<Result> {
  const undone = Object.assign(new Error('dry run'), { results: [] as Result[] })
  try {
    return await inTransaction(db, async (tx) => {
      const { result, isKept } = await work(tx)
      if (isKept) return result
      undone.results.push(result)
      throw undone
    })
  } catch (error) {
    const [result] = undone.results
    if (error !== undone || result === undefined) throw error
    return result
  }
}

export async function pingDatabase<Tables>(db: Kysely<Tables>): Promise<void> {
  await sql`select 1`.execute(db)
}

export function standbyFault(url: string, cause?: unknown): Fault {
  const problem = 'rejects writes: it is a standby or read-only; set DATABASE_URL to the primary server'
  return new Fault('remote_failed', { what: `the database (${new URL(url).host})`, problem }, { cause })
}

/** The transaction failed only because of concurrent ones, so a retry can succeed. */
export function gaveWay(error: unknown): boolean {
  if (isFault(error, 'conflict')) return true
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === serializationFailure || code === deadlockDetected
}

const [int8, date] = [20, 1082]

const getTypeParser: typeof types.getTypeParser = (oid: number, format?: 'text' | 'binary') => {
  if (format === 'binary') return types.getTypeParser(oid, format)
  if (oid === int8) return (text: string) => BigInt(text)
  return oid === date ? (text: string) => text : types.getTypeParser(oid, format)
}

/** On one processor of the database, without JIT: compiling takes longer than it saves. */
export function readAlone<Tables, Result>(
  db: Kysely<Tables>,
  read: (tx: Transaction<Tables>) => Promise<Result>,
): Promise<Result> {
  return db
    .transaction()
    .setAccessMode('read only')
    .execute(async (tx) => {
      await sql`select set_config('max_parallel_workers_per_gather', '0', true), set_config('jit', 'off', true)`.execute(
        tx,
      )
      return read(tx)
    })
}

/** The names in a text such as `id bigint, at timestamptz`. */
type NamesIn<Columns extends string> = Columns extends `${infer First}, ${infer Rest}`
  ? NamesIn<First> | NamesIn<Rest>
  : Columns extends `${infer Name} ${string}`
    ? Name
    : 'a constant text'

/**
 * `unnest(…) as name (…)` with one array of values per column.
 * @param columns such as `id bigint, at timestamptz`
 */
export function asTable<Columns extends string>(
  name: string,
  rows: readonly Readonly<Record<NamesIn<Columns>, unknown>>[],
  columns: Columns,
): RawBuilder<unknown> {
  const typed = columns.split(', ').map((column) => column.split(' ') as [NamesIn<Columns>, string])
  const arrays = typed.map(([column, type]) => sql`${rows.map((row) => row[column])}::${sql.raw(type)}[]`)
  const names = typed.map(([column]) => sql.id(column))
  return sql`unnest(${sql.join(arrays)}) as ${sql.id(name)} (${sql.join(names)})`
}

/** In seconds by the database's clock, which may have been set back; 0 for null. */
export function ageOf(time: RawBuilder<unknown>): RawBuilder<number> {
  return sql`coalesce(greatest(extract(epoch from now() - ${time}), 0), 0)::float8`
}

/** Omits filters that are not set, so that the others can use an index. */
export function whereSet<Value>(
  value: Value | null | undefined,
  condition: (value: Value) => RawBuilder<unknown>,
): RawBuilder<unknown>[] {
  return value === undefined || value === null ? [] : [condition(value)]
}

/** Rows that one statement fetches. */
const rowsOfPiece = 2000

/** The rows of a query, in constant memory. One at a time per transaction. */
export async function* inPieces<Tables, Row>(
  tx: Transaction<Tables>,
  query: RawBuilder<Row>,
): AsyncGenerator<Row[]> {
  await sql`declare piece no scroll cursor for ${query}`.execute(tx)
  for (;;) {
    const { rows } = await sql<Row>`fetch ${sql.lit(rowsOfPiece)} from piece`.execute(tx)
    if (rows.length === 0) break
    yield rows
  }
  await sql`close piece`.execute(tx)
}
