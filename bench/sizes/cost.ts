import { sql } from 'kysely'
import type { Database } from '../../src/store/database.ts'
import type { Tables } from '../../src/store/tables.ts'
import { watchSessions } from '../processor-time.ts'
import type { Ground, Worked } from './arrive.ts'

/** What one step cost per deposit; `laneMs`: for how long the lane that applies was busy. */
export type Cost = {
  step: string
  walBytes: number
  programMs: number
  postgresMs: number
  laneMs: number | null
}

export type Step = { step: string; work: (ground: Ground) => Promise<Worked> }

/** @param name of the database */
export async function costOf(name: string, ground: Ground, { step, work }: Step): Promise<Cost> {
  using sessions = watchSessions(name)
  const [cpu, wal] = [process.cpuUsage(), await walAt(ground.db)]
  const { laneSeconds } = await work(ground)
  const { user, system } = process.cpuUsage(cpu)
  return {
    step,
    walBytes: Number((await walAt(ground.db)) - wal) / ground.deposits,
    programMs: (user + system) / 1000 / ground.deposits,
    postgresMs: sessions.taken() / ground.deposits,
    laneMs: laneSeconds === null ? null : (laneSeconds * 1000) / ground.deposits,
  }
}

async function walAt(db: Database<Tables>): Promise<bigint> {
  const { rows } = await sql<{ at: bigint }>`
    select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint as at`.execute(db)
  return rows[0]?.at ?? 0n
}
