import { type Kysely, sql } from 'kysely'
import { Fault } from '../../core/errors.ts'
import type { Tables } from '../tables.ts'
import { timeText } from './seals.ts'

/**
 * Creates the ledger partitions of this month and the next ones, ahead of time.
 * @returns how many were created
 */
export async function makePartitions(db: Kysely<Tables>): Promise<number> {
  try {
    const { rows } = await sql<{ made: number }>`select make_ledger_partitions() as made`.execute(db)
    return rows[0]?.made ?? 0
  } catch (error) {
    // If the ledger is busy, the next run creates them; nothing is missing until then.
    if (isBusy(error)) return 0
    throw error
  }
}

const lockNotAvailable = '55P03'

/** A position in the order of journals. Journals up to it never change; later ones are recorded after it. */
export type Cut = { lastJournal: bigint; cutAt: Date }

/** With the time also as text, to the microsecond. */
export type ExactCut = Cut & { at: string }

/** Waits up to two seconds for running bookings to end; blocks new ones until the transaction ends. */
export async function cutLedger(db: Kysely<Tables>): Promise<ExactCut> {
  const { rows } = await sql<ExactCut>`
    select last_journal as "lastJournal", cut_at as "cutAt", ${timeText(sql.ref('cut_at'))} as at
    from ledger_cut()`.execute(db)
  return rows[0] ?? { lastJournal: 0n, cutAt: new Date(0), at: '' }
}

const attemptsMax = 5

/**
 * Runs work that needs a cut. Retries it if a writer takes longer than the cut waits, since a waiting cut blocks all
 * other writers.
 * @throws Fault `remote_failed` if writers do not finish
 */
export async function patiently<Result>(what: string, work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!isBusy(error)) throw error
      if (attempt < attemptsMax) continue
      const problem = `somebody has been writing to the books all the time, ${attemptsMax} times over; try it again`
      throw new Fault('remote_failed', { what, problem }, { cause: error })
    }
  }
}

/** Whether an operation failed only because others were writing, so that a later attempt can succeed. */
export function isBusy(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return ('code' in error && error.code === lockNotAvailable) || isBusy(error.cause)
}
