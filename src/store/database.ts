import { Kysely, PostgresDialect, type RawBuilder, sql, type Transaction } from 'kysely'
import { Pool, type PoolClient, types } from 'pg'
import { Fault, isFault } from '../core/errors.ts'
import { reach } from '../failpoint.ts'

export type Database<Tables> = Kysely<Tables>

export type DatabaseSettings = {
  url: string
  poolMax: number
  applicationName: string
  /** Works as this role, of which the user of the URL is a member; without it, as that user. */
  role?: string
  /** For who only shows: nothing can be written, and Postgres itself ends what takes longer. */
  readOnlyWithinMs?: number
  /** A server that vanished without a word is noticed then. Without it, longer than what the daemon asks takes. */
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
  // A connection that breaks must not end the process, whether it is idle or in use: who uses it is told by the
  // query that fails, and the next query opens another.
  pool.on('error', () => undefined)
  pool.on('connect', (client) => {
    client.on('error', () => undefined)
    prepareNamed(client)
  })
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
}

/**
 * Begins a statement that runs all the time: each connection plans it once, under that name. Its text must always be
 * the same.
 */
export function prepared(name: string): RawBuilder<unknown> {
  return sql.raw(`/* prepared ${name} */`)
}

const preparedForm = /^\/\* prepared (\w+) \*\//

/** Kysely itself hands on the text and the parameters of a statement, and no name. */
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
 * A process that vanished, or stands still, must not keep its locks; nor may who waits for them wait for ever. Pages
 * are in memory or on flash: a batch looks up its rows one by one, however large the tables get, and reads none through.
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
/** How often a transaction that had to give way is begun. */
export const attemptsMax = 10

/** Runs the work in one transaction, and again from the start where it has to give way to another. */
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

/** Throws where the database does not answer. */
export async function pingDatabase<Tables>(db: Kysely<Tables>): Promise<void> {
  await sql`select 1`.execute(db)
}

/** What is told where something is to be written on a server that only follows another. */
export function standbyFault(url: string, cause?: unknown): Fault {
  const problem = 'takes no writes: it is a standby, or set so; give the DATABASE_URL of the server that does'
  return new Fault('remote_failed', { what: `the database (${new URL(url).host})`, problem }, { cause })
}

/** Whether a transaction failed by others beside it alone, so that it may do when it is begun again. */
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
