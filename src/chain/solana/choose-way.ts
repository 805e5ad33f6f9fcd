/** Reading each owner's history, or reading every block and picking out the owners. */
export type SolanaReadStrategy = 'by_owner' | 'by_block'

/** Milliseconds that one owner's history, or one block, costs on one node, with requests under way at once. */
export type Costs = Record<SolanaReadStrategy, Cost | null> & {
  /** Counts the scans for which a way was chosen. */
  choices: number
}

type Cost = { ms: number; measuredAt: number }

export type Workload = {
  owners: number
  /** Requests that listing one owner's history takes at least. */
  requestsPerOwner: number
  slots: number
}

/** What is still unknown has to be tried: blocks by reading a few of them, owners by listing a few. */
export type StrategyChoice = { way: SolanaReadStrategy; trial: boolean } | { way: 'measure_owners' }

/** As long as listing owners takes so few requests, blocks, which may be large, are not even tried. */
const fewRequests = 16

/** A node's load and the chain's change: the way not taken is tried again after so many scans. */
const choicesPerTrial = 64

export function noCosts(): Costs {
  return { by_owner: null, by_block: null, choices: 0 }
}

/** Chooses the way that costs less. A request for one history is never dearer than one for a whole block. */
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
 * The way for nodes whose answers are compared: it must be the same for all of them, because reading by owner tells
 * again what came shortly before.
 */
export function commonWay({ owners, requestsPerOwner }: Omit<Workload, 'slots'>): SolanaReadStrategy {
  return owners * requestsPerOwner <= fewRequests ? 'by_owner' : 'by_block'
}

/** A single slow answer changes little. */
const newestWeight = 0.3

export function noteCost(costs: Costs, way: SolanaReadStrategy, ms: number): void {
  const known = fresh(costs, way)
  const usual = known === null || known === Infinity ? ms : known
  costs[way] = { ms: usual + (ms - usual) * newestWeight, measuredAt: costs.choices }
}

/** A way that failed may be one that the node does not offer: for a few scans the other is taken. */
export function noteFailure(costs: Costs, way: SolanaReadStrategy): void {
  costs[way] = { ms: Infinity, measuredAt: costs.choices - choicesPerTrial + choicesPerFailure }
}

const choicesPerFailure = 4

function fresh({ choices, ...costs }: Costs, way: SolanaReadStrategy): number | null {
  const cost = costs[way]
  return cost === null || choices - cost.measuredAt > choicesPerTrial ? null : cost.ms
}
