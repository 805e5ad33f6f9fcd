import { openDatabase } from '../../src/store/database.ts'
import { readPending } from '../../src/store/inbox.ts'
import type { Tables } from '../../src/store/tables.ts'
import type { PostgresGround } from '../postgres-ground.ts'
import { type Arm, armNames, keepForCopy, type Place, workCopy, workOurs, workRows } from './apply-arms.ts'
import { holdInvariants } from './hold-invariants.ts'
import { storeBacklog } from './store-backlog.ts'

/** B3: how fast one arm got inbox rows into the books. */
export type ApplyRound = { arm: Arm; perSecond: number }

/** What the memory and the time of ours were with so many deposits; heap bytes after the first batches and the last. */
export type Sized = { deposits: number; perSecond: number; heapFirst: number; heapLast: number }

/** What is done row by row has its own, smaller backlog. */
export type ApplySettings = { rounds: number; deposits: number; rowsDeposits: number }

type Progress = (text: string) => void

/**
 * Measures all arms in turns, each on a copy of one backlog.
 * @throws where the books are not what they must be after an arm.
 */
export async function measureApply(
  ground: PostgresGround,
  { rounds, deposits, rowsDeposits }: ApplySettings,
  progress: Progress,
): Promise<ApplyRound[]> {
  const backlogs = {
    ours: await makeBacklog(ground, deposits, progress),
    rows: await makeBacklog(ground, rowsDeposits, progress),
  }
  const work = { ours: workOurs, copy: workCopy, rows: workRows }
  // COPY writes what ours wrote. That is not counted, and the program is warm afterwards.
  await backlogs.ours.inCopy(async (place) => {
    await workOurs(place)
    await keepForCopy(place)
  })
  const results: ApplyRound[] = []
  for (let round = 1; round <= rounds; round++) {
    for (const arm of armNames) {
      const { inCopy } = arm === 'rows' ? backlogs.rows : backlogs.ours
      const { inboxRows, seconds } = await inCopy(async (place) => {
        const worked = await work[arm](place)
        await holdIn(place, arm)
        return worked
      })
      const perSecond = inboxRows / seconds
      progress(`B3 round ${round}, ${arm}: ${Math.round(perSecond)} inbox rows/s\n`)
      results.push({ arm, perSecond })
    }
  }
  return results
}

/** Ours alone with ever more deposits. */
export async function measureSizes(
  ground: PostgresGround,
  sizes: readonly number[],
  progress: Progress,
): Promise<Sized[]> {
  const results: Sized[] = []
  for (const deposits of sizes) {
    const { inCopy } = await makeBacklog(ground, deposits, progress)
    const one = await inCopy(async (place) => {
      const { inboxRows, seconds, heap } = await workOurs(place)
      await holdIn(place, 'ours')
      return { deposits, perSecond: inboxRows / seconds, heapFirst: heap[0] ?? 0, heapLast: heap.at(-1) ?? 0 }
    })
    progress(`B3 ${deposits} deposits: ${Math.round(one.perSecond)} inbox rows/s\n`)
    results.push(one)
  }
  return results
}

type Backlog = { inCopy: <Result>(work: (place: Place) => Promise<Result>) => Promise<Result> }

async function makeBacklog(ground: PostgresGround, deposits: number, progress: Progress): Promise<Backlog> {
  const template = `backlog_${deposits}`
  const { db } = await ground.database(template)
  if ((await readPending(db)).oldest === 0) await storeBacklog(db, deposits)
  await db.destroy()
  progress(`B3 ${deposits} deposits are stored\n`)
  return {
    inCopy: (work) => ground.inCopy(template, (copy) => work({ url: copy, folder: ground.folder, deposits })),
  }
}

async function holdIn({ url, deposits }: Place, arm: Arm): Promise<void> {
  await using db = openDatabase<Tables>({ url, poolMax: 1, applicationName: 'bench invariants' })
  await holdInvariants(db, arm, deposits)
}
