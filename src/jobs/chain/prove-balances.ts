import type { AssetKey, NetworkName } from '../../core/asset.ts'
import type { AssetHolding } from '../../core/balance-proof.ts'
import { addDifferences, recheckDifferences, syncUnexplained } from '../../store/chain/balance-differences.ts'
import {
  dropReadings,
  dueHoldings,
  fillSightings,
  isExplained,
  type OpeningBalance,
  type ReadyBalanceSpan,
  readyReadings,
  saveReadings,
  setOpenings,
  settleReadings,
} from '../../store/chain/balance-points.ts'
import { appendMovements } from '../../store/chain/movements.ts'
import type { MismatchChange } from '../../store/mismatches/mismatches.ts'
import { narrowDifferences } from './narrow-differences.ts'
import {
  beginProof,
  type NoProof,
  type ProofRun,
  type ProveDeps,
  type ProvenNetwork,
  readPast,
  unlessRemote,
} from './proof-run.ts'

/** Balances read in one run; those that were read longest ago come first. */
const holdingsMax = 1000
/** Of so many the answers can be had for one block, also where a slot ends while they are read. */
const holdingsAtOnce = 200

export type BalanceProofResult = {
  network: NetworkName
  /** Balances read. */
  read: number
  /** Transfers found where a balance showed them, and stored. */
  stored: number
  changes: readonly MismatchChange[]
  /** Why some balances could not be read, or what was sent of them. */
  problems: readonly string[]
}

/**
 * Proves what deposit addresses hold: at a final height, each balance must have changed by what is known to have come
 * and gone since it was last proved. What is not explained is an `unexplained_balance` until it is.
 * @param readBefore only balances that were not read since are read; those that wait to be judged are judged anyway
 */
export async function proveBalances(
  deps: ProveDeps,
  network: ProvenNetwork,
  readBefore: Date = deps.now(),
): Promise<BalanceProofResult | NoProof> {
  const run = await beginProof(deps, network)
  if (typeof run === 'string') return run
  try {
    return await prove(run, readBefore)
  } finally {
    await run.end()
  }
}

async function prove(run: ProofRun, readBefore: Date): Promise<BalanceProofResult> {
  await fillSightings(run.db)
  const { read, problems } = await readDue(run, readBefore)
  const unjudged = await judgeBalances(run)
  // What differs is told also where the search for its block fails.
  const [narrowed] = await Promise.allSettled([narrowDifferences(run)])
  const { network } = run.reader
  const assets = run.settings.assets.map(({ key }) => key)
  const changes = await run.save(async (tx) => {
    await recheckDifferences(tx, network, assets)
    return syncUnexplained(tx, network)
  })
  if (narrowed.status === 'rejected') throw narrowed.reason
  return { network, read, stored: narrowed.value, changes, problems: [...problems, ...unjudged] }
}

/** One asset at a time: a contract that does not answer keeps no other asset from being proved. */
async function readDue(
  run: ProofRun,
  readBefore: Date,
): Promise<{ read: number; problems: readonly string[] }> {
  const { db, reader, settings } = run
  const assets = settings.assets.map(({ key }) => key)
  const limit = holdingsMax
  const due = await dueHoldings(db, { network: reader.network, assets, readBefore, limit })
  const problems: string[] = []
  for (const [asset, holdings] of Map.groupBy(due, (holding) => holding.asset)) {
    const problem = await readAsset(run, asset, holdings)
    if (problem !== null) problems.push(`${asset}: ${problem}`)
  }
  return { read: due.length, problems }
}

async function readAsset(
  { reader, position, save, now }: ProofRun,
  asset: AssetKey,
  holdings: readonly AssetHolding[],
): Promise<string | null> {
  for (let first = 0; first < holdings.length; first += holdingsAtOnce) {
    const part = holdings.slice(first, first + holdingsAtOnce)
    const pairs = part.map(({ address }) => ({ address, asset }))
    const reading = await unlessRemote(reader.readBalances({ pairs, at: position.cursor.final }))
    if (typeof reading === 'string') return reading
    const readings = part.flatMap((holding, place) => {
      const amount = reading.balances[place]
      return amount === undefined ? [] : [{ holding, amount }]
    })
    await save((tx) => saveReadings(tx, { height: reading.at.height, at: now() }, readings))
  }
  return null
}

/** Readings judged in one run. */
const readingsMax = 2000

/**
 * Holds what was read against what is known. Scans show all that came in; what the addresses sent is asked for, in one
 * stretch for all of them: else a payment that nobody saw would be hidden by its being sent on. Only what that does not
 * explain costs more: for what was held before the first scan. What is left is stored as a difference.
 * @returns why some could not be judged
 */
async function judgeBalances(run: ProofRun): Promise<readonly string[]> {
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
