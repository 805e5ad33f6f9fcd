import type { Holding } from '../core/balance-proof.ts'
import { addDifferences } from '../store/balance-differences.ts'
import {
  isExplained,
  type Opening,
  type Ready,
  readyReadings,
  setOpenings,
  settleReadings,
} from '../store/balance-points.ts'
import { appendMovements } from '../store/movements.ts'
import { type ProofRun, readPast } from './proof-run.ts'

/** Readings judged in one run. */
const readingsMax = 2000

/**
 * Holds what was read against what is stored. Only what that does not explain costs requests: for what scans do not
 * show, and for what was held before the first scan. What is left is stored as a difference.
 */
export async function judgeBalances(run: ProofRun): Promise<void> {
  const unexplained = await settleExplained(run)
  if (unexplained.length === 0) return
  await readMovements(run, unexplained)
  const still = await settleExplained(run)
  await findOpenings(
    run,
    still.filter(({ isFirst }) => isFirst),
  )
  const differing = await settleExplained(run)
  await run.save(async (tx) => {
    await addDifferences(tx, differing)
    await settleReadings(tx, differing)
  })
}

/** @returns those that what is stored does not explain */
async function settleExplained({ db, reader, save }: ProofRun): Promise<Ready[]> {
  const ready = await readyReadings(db, reader.network, readingsMax)
  const explained = ready.filter(isExplained)
  if (explained.length > 0) await save((tx) => settleReadings(tx, explained))
  return ready.filter((one) => !isExplained(one))
}

async function readMovements({ reader, save }: ProofRun, ready: readonly Ready[]): Promise<void> {
  const stretches = Map.groupBy(ready, ({ start, end }) => `${start.height}-${end.height}`)
  for (const same of stretches.values()) {
    const [first] = same
    if (first === undefined || first.end.height === first.start.height) continue
    const addresses = new Set(same.map(({ holding }) => holding.address))
    const stretch = { from: first.start.height + 1n, to: first.end.height }
    const movements = await reader.readMovements({ ...stretch, addresses })
    await save((tx) => appendMovements(tx, movements))
  }
}

/**
 * What was held before the first height that is read. Where it cannot be read, an address that was there when the
 * network was read for the first time held what is left; any other was made for deposits, and held nothing.
 */
async function findOpenings(run: ProofRun, first: readonly Ready[]): Promise<void> {
  for (const [height, same] of Map.groupBy(first, ({ start }) => start.height)) {
    if (height < 0n) continue
    const past = await readPast(run, height, same.map(holdingOf))
    const openings = same.flatMap((one, place): Opening[] => {
      const { holding } = one
      const amount = past.kind === 'read' ? past.amounts[place] : undefined
      if (amount !== undefined) return [{ holding, amount, is: 'read' }]
      const left = one.end.amount - one.known
      return one.isOld && left >= 0n ? [{ holding, amount: left, is: 'left' }] : []
    })
    await run.save((tx) => setOpenings(tx, openings))
  }
}

function holdingOf({ holding }: { holding: Holding }): Holding {
  return holding
}
