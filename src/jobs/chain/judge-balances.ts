import type { AssetHolding } from '../../core/balance-proof.ts'
import { addDifferences } from '../../store/chain/balance-differences.ts'
import {
  dropReadings,
  isExplained,
  type OpeningBalance,
  type ReadyBalanceSpan,
  readyReadings,
  setOpenings,
  settleReadings,
} from '../../store/chain/balance-points.ts'
import { appendMovements } from '../../store/chain/movements.ts'
import { type ProofRun, readPast, unlessRemote } from './proof-run.ts'

/** Readings judged in one run. */
const readingsMax = 2000

/**
 * Holds what was read against what is known. Scans show all that came in; what the addresses sent is asked for, in one
 * stretch for all of them: else a payment that nobody saw would be hidden by its being sent on. Only what that does not
 * explain costs more: for what was held before the first scan. What is left is stored as a difference.
 * @returns why some could not be judged
 */
export async function judgeBalances(run: ProofRun): Promise<readonly string[]> {
  const { judged, problems } = await readMovements(
    run,
    await readyReadings(run.db, run.reader.network, readingsMax),
  )
  const unexplained = await settleExplained(run, judged)
  if (unexplained.length > 0) await storeDifferences(run, unexplained)
  return problems
}

async function storeDifferences(run: ProofRun, unexplained: readonly ReadyBalanceSpan[]): Promise<void> {
  await findOpenings(
    run,
    unexplained.filter(({ isFirst }) => isFirst),
  )
  const differing = await settleExplained(run, unexplained)
  await run.save(async (tx) => {
    await addDifferences(tx, differing)
    await settleReadings(tx, differing)
  })
}

/** @returns those that are not explained by what is stored now */
async function settleExplained(
  { db, reader, save }: ProofRun,
  judged: readonly ReadyBalanceSpan[],
): Promise<ReadyBalanceSpan[]> {
  const wanted = new Set(judged.map(nameOf))
  const ready = (await readyReadings(db, reader.network, readingsMax)).filter((one) =>
    wanted.has(nameOf(one)),
  )
  const explained = ready.filter(isExplained)
  if (explained.length > 0) await save((tx) => settleReadings(tx, explained))
  return ready.filter((one) => !isExplained(one))
}

function nameOf({ holding: { address, asset } }: ReadyBalanceSpan): string {
  return `${address} ${asset}`
}

type MovementReadResult = { judged: readonly ReadyBalanceSpan[]; problems: readonly string[] }

/**
 * A stretch that no node tells of, as where it is older than the logs they keep, keeps none of the others from being
 * judged. Its readings are dropped: the balances are read again in their turn.
 */
async function readMovements(
  { reader, save }: ProofRun,
  ready: readonly ReadyBalanceSpan[],
): Promise<MovementReadResult> {
  const judged: ReadyBalanceSpan[] = []
  const problems: string[] = []
  const stretches = Map.groupBy(ready, ({ start, end }) => `${start.height}-${end.height}`)
  for (const same of stretches.values()) {
    const [first] = same
    if (first === undefined) continue
    const addresses = new Set(same.map(({ holding }) => holding.address))
    const stretch = { from: first.start.height + 1n, to: first.end.height }
    const movements = await unlessRemote(reader.readMovements({ ...stretch, addresses }))
    if (typeof movements === 'string') {
      problems.push(`what was sent from ${stretch.from} to ${stretch.to}: ${movements}`)
      await save((tx) => dropReadings(tx, same))
      continue
    }
    await save((tx) => appendMovements(tx, movements))
    judged.push(...same)
  }
  return { judged, problems }
}

/**
 * What was held before the first height that is read. Where it cannot be read, an address that was there before the
 * network was read held what is left; any other was made for deposits, and held nothing.
 */
async function findOpenings(run: ProofRun, first: readonly ReadyBalanceSpan[]): Promise<void> {
  for (const [height, same] of Map.groupBy(first, ({ start }) => start.height)) {
    if (height < 0n) continue
    const past = await readPast(run, height, same.map(holdingOf))
    const openings = same.flatMap((one, place): OpeningBalance[] => {
      const { holding } = one
      const amount = past.kind === 'read' ? past.amounts[place] : undefined
      if (amount !== undefined) return [{ holding, amount, is: 'read' }]
      const left = one.end.amount - one.known
      return (one.isOld || isCut(run, height)) && left >= 0n ? [{ holding, amount: left, is: 'left' }] : []
    })
    await run.save((tx) => setOpenings(tx, openings))
  }
}

/** An address that is older than what the settings have read at all is read from there on, as those of the first scan are. */
function isCut({ startHeight = null }: ProofRun, below: bigint): boolean {
  return startHeight !== null && below < startHeight
}

function holdingOf({ holding }: { holding: AssetHolding }): AssetHolding {
  return holding
}
