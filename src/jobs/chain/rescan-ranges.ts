import type { Transaction } from 'kysely'
import type { BalanceMovement, ChainTransfer, HeightRange } from '../../chain/port.ts'
import type { Address } from '../../core/asset.ts'
import { type BalanceSpan, isNarrow } from '../../core/balance-proof.ts'
import type { DifferenceSearchResult } from '../../store/chain/balance-differences.ts'
import { appendChainTransfers } from '../../store/chain/chain-transfers.ts'
import { readWatchList } from '../../store/chain/chain-watch.ts'
import { appendMovements } from '../../store/chain/movements.ts'
import type { Tables } from '../../store/tables.ts'
import { foundChainTransfers } from './found-transfers.ts'
import { type ProofRun, unlessRemote } from './proof-run.ts'

/** Maximum readings of one range longer than a block. */
const readingsMax = 10
/**
 * Budget of full blocks per run. A longer range is read through address histories. Solana blocks are megabytes in size.
 */
const blocksMax = 1000n

type RereadResult = { transfers: ChainTransfer[]; movements: BalanceMovement[]; problem: string | null }

/**
 * Reads block ranges again for the addresses whose balances changed in them, and stores what it finds. If a range
 * cannot be read, the reason becomes the problem of its searches.
 */
export async function rereadRanges(
  run: ProofRun,
  searched: readonly DifferenceSearchResult[],
): Promise<{ stored: number; searched: DifferenceSearchResult[] }> {
  let stored = 0
  let blocksLeft = blocksMax
  const reported: DifferenceSearchResult[] = []
  const ranges = Map.groupBy(searched, ({ found }) => `${found.start.height}-${found.end.height}`)
  for (const same of ranges.values()) {
    const [first] = same
    if (first === undefined) continue
    const watched = new Set(same.map(({ difference }) => difference.holding.address))
    const blocks = first.found.end.height - first.found.start.height
    const byBlock = run.settings.family === 'solana' && blocks <= blocksLeft
    if (byBlock) blocksLeft -= blocks
    const { problem, ...found } = await reread(run, first.found, { watched, byBlock })
    stored += await run.save((tx) => store(tx, run, found))
    reported.push(...same.map((one) => ({ ...one, problem: one.problem ?? problem })))
  }
  return { stored, searched: reported }
}

type RereadOptions = { watched: ReadonlySet<Address>; byBlock: boolean }

async function reread(
  run: ProofRun,
  found: BalanceSpan,
  { watched, byBlock }: RereadOptions,
): Promise<RereadResult> {
  const { reader, settings } = run
  // A trace costs the node far more than a block, so it is requested only once the range is a single block.
  const traced = isNarrow(found) && settings.reading?.traces !== 'never'
  const all: RereadResult = { transfers: [], movements: [], problem: null }
  let { from, to }: HeightRange = { from: found.start.height + 1n, to: found.end.height }
  for (let readings = 0; from <= to && readings < readingsMax; readings++) {
    const result = await unlessRemote(reader.readRange({ from, to, watched, traced, byBlock }))
    if (typeof result === 'string') {
      // Falls back to address histories, which may be incomplete.
      const rest = byBlock ? await reread(run, found, { watched, byBlock: false }) : all
      return { ...rest, problem: result }
    }
    all.transfers.push(...result.transfers)
    all.movements.push(...result.movements)
    if (result.reached < from) break
    from = result.reached + 1n
  }
  return all
}

async function store(
  tx: Transaction<Tables>,
  { reader, position, now }: ProofRun,
  { transfers, movements }: Pick<RereadResult, 'transfers' | 'movements'>,
): Promise<number> {
  await appendMovements(tx, movements)
  const book = await readWatchList(tx, reader.network)
  const final = transfers.map((transfer) => ({ ...transfer, stage: 'final' as const }))
  return appendChainTransfers(
    tx,
    foundChainTransfers({ transfers: final, book, epoch: position.epoch, now: now() }),
  )
}
