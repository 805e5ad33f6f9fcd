import { mapBounded } from '../map-bounded.ts'
import { accountsOf } from './accounts.ts'
import { readByBlock } from './by-block.ts'
import { readByOwner } from './by-owner.ts'
import type { SlotRange, SlotRangeReading } from './findings.ts'
import { listSignatures } from './signatures.ts'
import type { Costs, SolanaReadStrategy, SolanaScan, SolanaWatch } from './watch.ts'

export type SlotRangeRequest = Omit<SlotRange, 'blocksMax'>

/** A few owners one by one, many by selecting them from every block. */
export async function readSlotRange(scan: SolanaScan, range: SlotRangeRequest): Promise<SlotRangeReading> {
  const { costs } = scan.memory
  const { strategy, isTrial } = await strategyFor(scan, range)
  const startedMs = performance.now()
  const blocksMax = isTrial ? scan.bounds.requestsAtOnce : scan.bounds.slotsPerScan
  const read = strategy === 'by_owner' ? readByOwner : readByBlock
  const reading = await read(scan, { ...range, blocksMax }).catch((error: unknown) => {
    noteFailure(costs, strategy)
    throw error
  })
  const units = strategy === 'by_owner' ? scan.watch.owners.size : Number(reading.reached - range.from) + 1
  if (units > 0) noteCost(costs, strategy, (performance.now() - startedMs) / units)
  return reading
}

type Trial = { strategy: SolanaReadStrategy; isTrial: boolean }

async function strategyFor(scan: SolanaScan, range: SlotRangeRequest): Promise<Trial> {
  const { strategy, watch, memory } = scan
  if (strategy !== null) return { strategy, isTrial: false }
  const slots = Number(range.to - range.from) + 1
  const choice = chooseStrategy(memory.costs, { ...ownersOf(watch), slots })
  if (choice.strategy !== 'measure_owners') return choice
  await measureOwners(scan, range)
  return { strategy: 'by_block', isTrial: true }
}

/** Requests for one owner: its history and, for each mint, its accounts and the history of one. */
export function ownersOf({ owners, mints }: Pick<SolanaWatch, 'owners' | 'mints'>) {
  return { owners: owners.size, requestsPerOwner: 1 + 2 * mints.size }
}

async function measureOwners(scan: SolanaScan, { from, to }: SlotRangeRequest): Promise<void> {
  const { requestsAtOnce } = scan.bounds
  const some = [...scan.watch.owners].slice(0, requestsAtOnce)
  const startedMs = performance.now()
  await mapBounded(some, requestsAtOnce, async (owner) => {
    for (const account of await accountsOf(scan, owner, to)) {
      await listSignatures(scan, { account, floor: from, slot: to })
    }
  })
  noteCost(scan.memory.costs, 'by_owner', (performance.now() - startedMs) / some.length)
}

type Workload = {
  owners: number
  requestsPerOwner: number
  slots: number
}

/** A strategy of unknown cost is tried first on a little. */
type StrategyChoice = Trial | { strategy: 'measure_owners' }

/** Up to this many, blocks are not even tried, because they may be large. */
const fewRequests = 16

/** The load of a node and the chain change, so the other strategy is tried again. */
const choicesPerTrial = 64

/** One history never costs more than one whole block. */
export function chooseStrategy(costs: Costs, { owners, requestsPerOwner, slots }: Workload): StrategyChoice {
  costs.choices += 1
  const requests = owners * requestsPerOwner
  if (requests <= fewRequests || requests <= slots) return { strategy: 'by_owner', isTrial: false }
  const [ownerMs, blockMs] = [fresh(costs, 'by_owner'), fresh(costs, 'by_block')]
  if (blockMs === null) return { strategy: 'by_block', isTrial: true }
  if (ownerMs === null) return { strategy: 'measure_owners' }
  return { strategy: owners * ownerMs <= slots * blockMs ? 'by_owner' : 'by_block', isTrial: false }
}

/** Used for nodes whose answers are compared: reading by owner repeats findings from before the range. */
export function commonStrategy({ owners, requestsPerOwner }: Omit<Workload, 'slots'>): SolanaReadStrategy {
  return owners * requestsPerOwner <= fewRequests ? 'by_owner' : 'by_block'
}

const newestWeight = 0.3

export function noteCost(costs: Costs, strategy: SolanaReadStrategy, ms: number): void {
  const known = fresh(costs, strategy)
  const usual = known === null || known === Infinity ? ms : known
  costs[strategy] = { ms: usual + (ms - usual) * newestWeight, measuredAt: costs.choices }
}

/** The node may not support the strategy, so the other one is used for a few scans. */
export function noteFailure(costs: Costs, strategy: SolanaReadStrategy): void {
  costs[strategy] = { ms: Infinity, measuredAt: costs.choices - choicesPerTrial + choicesPerFailure }
}

const choicesPerFailure = 4

function fresh({ choices, ...costs }: Costs, strategy: SolanaReadStrategy): number | null {
  const cost = costs[strategy]
  return cost === null || choices - cost.measuredAt > choicesPerTrial ? null : cost.ms
}
