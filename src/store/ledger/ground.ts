import { type Kysely, sql } from 'kysely'
import { Fault } from '../../core/errors.ts'
import type { Tables } from '../tables.ts'
import { timeText } from './seals.ts'

/**
 * Makes, ahead of time, the partitions of this month and the next ones that hold what is booked then.
 * @returns how many were made
 */
export async function makePartitions(db: Kysely<Tables>): Promise<number> {
  try {
    const { rows } = await sql<{ made: number }>`select make_ledger_partitions() as made`.execute(db)
    return rows[0]?.made ?? 0
  } catch (error) {
    // While much is being booked the next run makes them: until then nothing is missing.
    if (isBusy(error)) return 0
    throw error
  }
}

const lockNotAvailable = '55P03'

/** A line in the order of journals. What is up to it stays as it is; what comes later is recorded after it. */
export type Cut = { lastJournal: bigint; cutAt: Date }

/** With the time as text, too, to the microsecond. */
export type ExactCut = Cut & { at: string }

/** Waits for all that is being booked, two seconds at most; nothing is booked until this has ended. */
export async function cutLedger(db: Kysely<Tables>): Promise<ExactCut> {
  const { rows } = await sql<ExactCut>`
    select last_journal as "lastJournal", cut_at as "cutAt", ${timeText(sql.ref('cut_at'))} as at
    from ledger_cut()`.execute(db)
  return rows[0] ?? { lastJournal: 0n, cutAt: new Date(0), at: '' }
}

const attemptsMax = 5

/**
 * Does what needs a cut, and does it again where a writer takes longer than the cut waits, which keeps all others waiting
 * meanwhile.
 * @throws Fault `remote_failed` where writers do not come to an end
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

/** Whether something was not done because others were writing, so that it can be done at another time. */
export function isBusy(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return ('code' in error && error.code === lockNotAvailable) || isBusy(error.cause)
}
