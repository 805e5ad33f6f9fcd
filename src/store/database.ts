import { Kysely, PostgresDialect, type RawBuilder, sql, type Transaction } from 'kysely'
import { Pool, type PoolClient, types } from 'pg'
import { Fault, isFault } from '../core/errors.ts'
import { reach } from '../failpoint.ts'

export type Database<Tables> = Kysely<Tables>

export type DatabaseSettings = {
  url: string
  poolMax: number
  applicationName: string
  /** Role to work as; the user of the URL must be a member of it. Default: the user of the URL. */
  role?: string
  /** For read-only programs: Postgres rejects writes and cancels statements that take longer. */
  readOnlyWithinMs?: number
  /**
   * A server that stops answering is noticed after this time. The default is longer than any query of the daemon takes.
   */
  queryTimeoutMs?: number
}

/**
 * Opens a pool. `int8` arrives as `bigint` and `numeric` as its decimal text, so that no digit is lost;
 * `timestamptz` arrives as `Date`, and `date`, which has no time zone, as its text.
 */
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
  // A broken connection must not end the process, whether it is idle or in use. The failing query reports it to the
  // caller, and the next query opens another connection.
  pool.on('error', () => undefined)
  pool.on('connect', (client) => {
    client.on('error', () => undefined)
    prepareNamed(client)
  })
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
}

/**
 * Starts a statement that runs constantly: each connection plans it once, under this name. Its text must always be the
 * same.
 */
export function prepared(name: string): RawBuilder<unknown> {
  return sql.raw(`/* prepared ${name} */`)
}

const preparedForm = /^\/\* prepared (\w+) \*\//

/** Kysely passes on the text and the parameters of a statement, but no name. */
function prepareNamed(client: PoolClient): void {
  const query = client.query.bind(client) as (...args: unknown[]) => unknown
  const named = (text: unknown, ...rest: unknown[]) => {
    const name = typeof text === 'string' ? preparedForm.exec(text)?.[1] : undefined
    if (name === undefined) return query(text, ...rest)
    const answered = query({ name, text, values: rest[0] })
    reach('statement.sent')
    return answered
  }
  client.query = named as typeof client.query
}

/**
 * The timeouts release the locks of a process that vanished or hangs, and end waits for locks. Pages are in memory or
 * on flash: with a low `random_page_cost`, a batch looks up its rows by index, however large the tables are, and scans
 * none.
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
/** Maximum attempts of a transaction that conflicts with others. */
export const attemptsMax = 10

/** Runs the work in one transaction. Runs it again from the start if it conflicts with another transaction. */
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

/** Throws if the database does not answer. */
export async function pingDatabase<Tables>(db: Kysely<Tables>): Promise<void> {
  await sql`select 1`.execute(db)
}

/** The fault of a write to a standby or read-only server. */
export function standbyFault(url: string, cause?: unknown): Fault {
  const problem = 'rejects writes: it is a standby or read-only; set DATABASE_URL to the primary server'
  return new Fault('remote_failed', { what: `the database (${new URL(url).host})`, problem }, { cause })
}

/** Whether a transaction failed only because of concurrent ones, so that a retry can succeed. */
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

/**
 * Runs a large read in a transaction that uses one processor of the database. JIT is off: for statements that run every
 * few minutes, compiling takes longer than it saves.
 */
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

/** Omits filters that are not set, so that those that are can use an index. */
export function whereSet<Value>(
  value: Value | undefined,
  condition: (value: Value) => RawBuilder<unknown>,
): RawBuilder<unknown>[] {
  return value === undefined ? [] : [condition(value)]
}
