import type { AssetKey, NetworkName } from '../../core/asset.ts'
import type { AssetHolding } from '../../core/balance-proof.ts'
import { recheckDifferences, syncUnexplained } from '../../store/chain/balance-differences.ts'
import { dueHoldings, fillSightings, saveReadings } from '../../store/chain/balance-points.ts'
import type { MismatchChange } from '../../store/mismatches/mismatches.ts'
import { judgeBalances } from './judge-balances.ts'
import { narrowDifferences } from './narrow-differences.ts'
import {
  beginProof,
  type NoProof,
  type ProofRun,
  type ProveDeps,
  type ProvenNetwork,
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
