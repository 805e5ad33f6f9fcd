import type { AssetKey, NetworkName } from '../../core/asset.ts'
import type { AssetHolding } from '../../core/balance-proof.ts'
import { addDifferences, recheckDifferences, syncUnexplained } from '../../store/chain/balance-differences.ts'
import {
  dropReadings,
  dueHoldings,
  isExplained,
  type OpeningBalance,
  type ReadyBalanceSpan,
  readyReadings,
  saveReadings,
  setOpenings,
  settleReadings,
} from '../../store/chain/balance-points.ts'
import { appendMovements, syncOutflows } from '../../store/chain/chain-transfers.ts'
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

/** Balances read in one run, least recently read first. */
const holdingsMax = 1000
/** Few enough to be read at a single block, even if a slot ends during the request. */
const holdingsAtOnce = 200

export type BalanceProofResult = {
  network: NetworkName
  read: number
  stored: number
  changes: readonly MismatchChange[]
  problems: readonly string[]
}

/**
 * Since its last proof, each balance must have changed by the sum of the known transfers. A difference is an open
 * `unexplained_balance` until it is explained.
 * @param readBefore reads only balances last read before this time; pending readings are judged in any case
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
  const { read, problems } = await readDue(run, readBefore)
  const unjudged = await judgeBalances(run)
  // Differences are reported even if the search fails.
  const [narrowed] = await Promise.allSettled([narrowDifferences(run)])
  const { network } = run.reader
  const assets = run.settings.assets.map(({ key }) => key)
  const changes = await run.save(async (tx) => {
    await recheckDifferences(tx, network, assets)
    return [...(await syncUnexplained(tx, network)), ...(await syncOutflows(tx, network))]
  })
  if (narrowed.status === 'rejected') throw narrowed.reason
  return { network, read, stored: narrowed.value, changes, problems: [...problems, ...unjudged] }
}

/** Reads one asset at a time: a contract that does not answer must not block the others. */
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
    const batch = holdings.slice(first, first + holdingsAtOnce)
    const pairs = batch.map(({ address }) => ({ address, asset }))
    const reading = await unlessRemote(reader.readBalances({ pairs, at: position.cursor.final }))
    if (typeof reading === 'string') return reading
    const readings = batch.flatMap((holding, index) => {
      const amount = reading.balances[index]
      return amount === undefined ? [] : [{ holding, amount }]
    })
    await save((tx) => saveReadings(tx, { height: reading.at.height, at: now() }, readings))
  }
  return null
}

/** Readings judged in one run. */
const readingsMax = 2000

/**
 * Outgoing transfers, which scans do not find, are requested here, one range for all addresses: without them, a missed
 * payment that was already sent on would stay hidden. Only a remaining difference needs the balance before the first
 * scan.
 * @returns why some readings could not be judged
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

/** @returns those that stored transfers do not explain */
async function settleExplained(
  { db, reader, save }: ProofRun,
  judged: readonly ReadyBalanceSpan[],
): Promise<ReadyBalanceSpan[]> {
  const names = new Set(judged.map(nameOf))
  const ready = (await readyReadings(db, reader.network, readingsMax)).filter((one) => names.has(nameOf(one)))
  const explained = ready.filter(isExplained)
  if (explained.length > 0) await save((tx) => settleReadings(tx, explained))
  return ready.filter((one) => !isExplained(one))
}

function nameOf({ holding: { address, asset } }: ReadyBalanceSpan): string {
  return `${address} ${asset}`
}

type MovementReadResult = { judged: readonly ReadyBalanceSpan[]; problems: readonly string[] }

/**
 * A range that no node can serve, for example because of its age, does not block the others. Its readings are dropped,
 * and its balances are read again in turn.
 */
async function readMovements(
  { reader, save }: ProofRun,
  ready: readonly ReadyBalanceSpan[],
): Promise<MovementReadResult> {
  const judged: ReadyBalanceSpan[] = []
  const problems: string[] = []
  const ranges = Map.groupBy(ready, ({ start, end }) => `${start.height}-${end.height}`)
  for (const same of ranges.values()) {
    const [first] = same
    if (first === undefined) continue
    const addresses = new Set(same.map(({ holding }) => holding.address))
    const range = { from: first.start.height + 1n, to: first.end.height }
    const movements = await unlessRemote(reader.readMovements({ ...range, addresses }))
    if (typeof movements === 'string') {
      problems.push(`outgoing transfers from ${range.from} to ${range.to}: ${movements}`)
      await save((tx) => dropReadings(tx, same))
      continue
    }
    await save((tx) => appendMovements(tx, movements))
    judged.push(...same)
  }
  return { judged, problems }
}

/**
 * If the opening balance cannot be read, it is assumed to be the unexplained rest, for an address that existed before
 * the network was read. Any other address started at zero.
 */
async function findOpenings(run: ProofRun, first: readonly ReadyBalanceSpan[]): Promise<void> {
  for (const [height, same] of Map.groupBy(first, ({ start }) => start.height)) {
    if (height < 0n) continue
    const past = await readPast(run, height, same.map(holdingOf))
    const openings = same.flatMap((one, index): OpeningBalance[] => {
      const { holding } = one
      const amount = past.kind === 'read' ? past.amounts[index] : undefined
      if (amount !== undefined) return [{ holding, amount, is: 'read' }]
      const left = one.end.amount - one.known
      return (one.isOld || isCut(run, height)) && left >= 0n ? [{ holding, amount: left, is: 'left' }] : []
    })
    await run.save((tx) => setOpenings(tx, openings))
  }
}

/** An address older than the configured start height is treated like those of the first scan. */
function isCut({ startHeight = null }: ProofRun, below: bigint): boolean {
  return startHeight !== null && below < startHeight
}

function holdingOf({ holding }: { holding: AssetHolding }): AssetHolding {
  return holding
}
