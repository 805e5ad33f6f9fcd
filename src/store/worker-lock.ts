import { setTimeout as sleep } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { Fault } from '../core/errors.ts'
import type { Tables } from './tables.ts'

/** Shared by all workers for as long as they run; a restore holds it alone. It ends with its session. */
const lock = sql`hashtext('depositd worker')`

/** How soon a worker notices that the session with its lock was lost. */
const checkEveryMs = 5_000
const retryEveryMs = 1000

/**
 * Takes one connection of the pool, and takes another if the session is lost.
 * @param lost receives why
 * @returns ends it
 * @throws Fault `remote_failed` while a restore runs
 */
export async function enterWork(
  db: Kysely<Tables>,
  lost: (error: unknown) => void,
): Promise<() => Promise<void>> {
  const leaving = new AbortController()
  const { signal } = leaving
  const entered = Promise.withResolvers<void>()
  const first = stay(db, signal, entered.resolve)
  await Promise.race([entered.promise, first])
  const staying = stayOn(db, first, { signal, lost })
  return async () => {
    leaving.abort()
    await staying
  }
}

async function stayOn(
  db: Kysely<Tables>,
  first: Promise<void>,
  { signal, lost }: { signal: AbortSignal; lost: (error: unknown) => void },
): Promise<void> {
  await first.catch(lost)
  while (!signal.aborted) {
    await pause(retryEveryMs, signal)
    if (!signal.aborted) await stay(db, signal).catch(lost)
  }
}

function stay(db: Kysely<Tables>, signal: AbortSignal, entered?: () => void): Promise<void> {
  return db.connection().execute(async (connection) => {
    const { rows } = await sql<{ is_free: boolean }>`
      select pg_try_advisory_lock_shared(${lock}) as is_free`.execute(connection)
    if (rows[0]?.is_free !== true)
      throw new Fault('remote_failed', {
        what: 'starting a worker',
        problem: 'the books are being restored',
        fix: 'start it once "bin/depositd rebuild --restore" has ended',
      })
    entered?.()
    while (!signal.aborted) {
      await pause(checkEveryMs, signal)
      await sql`select 1`.execute(connection)
    }
    await sql`select pg_advisory_unlock_shared(${lock})`.execute(connection)
  })
}

/** Ends early, without an error, if the signal does. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined)
}

/**
 * No worker runs, and none starts, until the work has ended.
 * @throws Fault `usage_bad` that names the sessions if a worker, or other work of this kind, runs
 */
export function withoutWorkers<Result>(db: Kysely<Tables>, work: () => Promise<Result>): Promise<Result> {
  return db.connection().execute(async (connection) => {
    const { rows } = await sql<{ is_free: boolean }>`
      select pg_try_advisory_lock(${lock}) as is_free`.execute(connection)
    if (rows[0]?.is_free !== true) throw await occupied(connection)
    try {
      return await work()
    } finally {
      // Without effect if the session was lost, and with it the lock.
      await sql`select pg_advisory_unlock(${lock})`.execute(connection).catch(() => undefined)
    }
  })
}

async function occupied(db: Kysely<Tables>): Promise<Fault> {
  const { rows } = await sql<{ pid: number }>`
    select pid from pg_locks
    where locktype = 'advisory' and granted and database = (select oid from pg_database where datname = current_database())
      and objsubid = 1 and ((classid::bigint << 32) | objid::bigint) = ${lock}::bigint
    order by pid`.execute(db)
  const sessions = rows.map(({ pid }) => pid).join(', ')
  return new Fault('usage_bad', {
    problem: `a worker of the daemon runs, or another restore (sessions of Postgres: ${sessions})`,
    fix: 'stop every process of the daemon, and try again; a session without a process ends with "select pg_terminate_backend(PID)"',
  })
}
