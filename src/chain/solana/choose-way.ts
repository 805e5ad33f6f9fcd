/** Reads each owner's history, or reads every block and selects the owners. */
export type SolanaReadStrategy = 'by_owner' | 'by_block'

/** Milliseconds that one owner's history, or one block, costs on one node, with parallel requests. */
export type Costs = Record<SolanaReadStrategy, Cost | null> & {
  /** The number of scans for which a strategy was chosen. */
  choices: number
}

type Cost = { ms: number; measuredAt: number }

export type Workload = {
  owners: number
  /** The minimum of requests for listing one owner's history. */
  requestsPerOwner: number
  slots: number
}

/** A strategy with an unknown cost is tried first: blocks by reading a few, owners by listing a few. */
export type StrategyChoice = { way: SolanaReadStrategy; trial: boolean } | { way: 'measure_owners' }

/** Up to this many requests for owners, blocks are not even tried, because they may be large. */
const fewRequests = 16

/** The load of a node and the chain change, so the other strategy is tried again after this many scans. */
const choicesPerTrial = 64

export function noCosts(): Costs {
  return { by_owner: null, by_block: null, choices: 0 }
}

/** Chooses the cheaper strategy. A request for one history never costs more than one for a whole block. */
export function chooseWay(costs: Costs, { owners, requestsPerOwner, slots }: Workload): StrategyChoice {
  costs.choices += 1
  const requests = owners * requestsPerOwner
  if (requests <= fewRequests || requests <= slots) return { way: 'by_owner', trial: false }
  const [ownerMs, blockMs] = [fresh(costs, 'by_owner'), fresh(costs, 'by_block')]
  if (blockMs === null) return { way: 'by_block', trial: true }
  if (ownerMs === null) return { way: 'measure_owners' }
  return { way: owners * ownerMs <= slots * blockMs ? 'by_owner' : 'by_block', trial: false }
}

/**
 * The strategy for nodes whose answers are compared. It must be the same on all of them, because reading by owner
 * repeats findings from shortly before the range.
 */
export function commonWay({ owners, requestsPerOwner }: Omit<Workload, 'slots'>): SolanaReadStrategy {
  return owners * requestsPerOwner <= fewRequests ? 'by_owner' : 'by_block'
}

/** Low, so that a single slow answer changes little. */
const newestWeight = 0.3

export function noteCost(costs: Costs, way: SolanaReadStrategy, ms: number): void {
  const known = fresh(costs, way)
  const usual = known === null || known === Infinity ? ms : known
  costs[way] = { ms: usual + (ms - usual) * newestWeight, measuredAt: costs.choices }
}

/** The node may not support a strategy that failed: for a few scans the other one is used. */
export function noteFailure(costs: Costs, way: SolanaReadStrategy): void {
  costs[way] = { ms: Infinity, measuredAt: costs.choices - choicesPerTrial + choicesPerFailure }
}

const choicesPerFailure = 4

function fresh({ choices, ...costs }: Costs, way: SolanaReadStrategy): number | null {
  const cost = costs[way]
  return cost === null || choices - cost.measuredAt > choicesPerTrial ? null : cost.ms
}
