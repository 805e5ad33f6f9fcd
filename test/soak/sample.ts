import { readFileSync } from 'node:fs'
import { type Client, DatabaseError } from 'pg'
import type { ChaosWorld } from '../chaos/world.ts'
import { type QueueSample, readQueue } from './read-queue.ts'

/** How a process stood at a moment. `loopMs`: of 100 turns of its event loop 99 were no later; null where it did not answer. */
export type ProcessSample = { name: string; pid: number; residentBytes: number; loopMs: number | null }

export type Sample = {
  /** Milliseconds since the beginning. */
  at: number
  processes: ProcessSample[]
  queue: QueueSample
  /** How long the oldest row of the inbox that was not applied has waited. */
  oldestSeconds: number
}

/** What can be seen of a world from outside; null where the database does not answer at this moment. */
export async function takeSample(world: ChaosWorld, at: number): Promise<Sample | null> {
  const client = await world.connect().catch(() => null)
  if (client === null) return null
  try {
    const { rows } = await client.query<{ seconds: number }>(
      `select coalesce(extract(epoch from now() - min(stored_at)), 0)::float8 as seconds from inbox_pending`,
    )
    return {
      at,
      processes: await Promise.all(
        world
          .daemons()
          .filter(({ isRunning }) => isRunning())
          .map(sampleProcess),
      ),
      queue: await readQueue(world, client),
      oldestSeconds: rows[0]?.seconds ?? 0,
    }
  } catch (error) {
    if (isMistake(error)) throw error
    // What is sampled is struck meanwhile: this moment is not told of.
    return null
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** A statement that Postgres cannot make sense of, and not a connection that was lost. */
function isMistake(error: unknown): boolean {
  return error instanceof DatabaseError && error.code?.startsWith('42') === true
}

const answerWithinMs = 10_000

async function sampleProcess({
  name,
  pid,
  opsUrl,
}: {
  name: string
  pid: number
  opsUrl: string
}): Promise<ProcessSample> {
  const residentBytes = 1024 * Number(/^VmRSS:\s+(\d+) kB$/m.exec(statusOf(pid))?.[1] ?? 0)
  const text = await fetch(`${opsUrl}/metrics`, { signal: AbortSignal.timeout(answerWithinMs) })
    .then((response) => response.text())
    .catch(() => '')
  const lag = /^nodejs_eventloop_lag_p99_seconds(?:\{[^}]*\})? (\S+)$/m.exec(text)?.[1]
  return { name, pid, residentBytes, loopMs: lag === undefined ? null : 1000 * Number(lag) }
}

function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8')
  } catch {
    return ''
  }
}

export type TableSample = { table: string; live: number; dead: number; bytes: number }

/** The tables of the daemon and of its queue, the largest first. */
export async function sampleTables(client: Client): Promise<TableSample[]> {
  const { rows } = await client.query<TableSample>(
    `select schemaname || '.' || relname as table, n_live_tup::int as live, n_dead_tup::int as dead,
      pg_total_relation_size(relid)::float8 as bytes
    from pg_stat_user_tables where schemaname in ('public', 'bullmq')
    order by pg_total_relation_size(relid) desc, 1`,
  )
  return rows
}

/** How much was ever written to the log of the server. */
export async function walBytes(client: Client): Promise<number> {
  const { rows } = await client.query<{ bytes: number }>(
    `select (pg_current_wal_lsn() - '0/0'::pg_lsn)::float8 as bytes`,
  )
  return rows[0]?.bytes ?? 0
}
