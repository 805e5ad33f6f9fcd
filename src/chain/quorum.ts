import { Fault, isFault } from '../core/errors.ts'
import { agreedHeight, hold, type NodeFinding, type QuorumOptions, undecided, type Vote } from './agree.ts'
import { highest, lowest, nothingRead } from './heights.ts'
import { allFailed, type Pool, type PooledNode } from './pool.ts'
import type {
  ChainTransfer,
  HeightRange,
  RangeRequest,
  RangeResult,
  ScanRequest,
  ScanResult,
  TransactionReading,
} from './types.ts'

type NodeQuery<Node, Request, Result> = (node: Node, request: Request) => Promise<Result>

/**
 * Reads everything that will be booked, on as many nodes as must agree.
 * @throws Fault `rpc_disagreement` from each of its readers if too few nodes agree
 */
export class Quorum<Node extends PooledNode> {
  readonly #options: QuorumOptions<Node>

  constructor(options: QuorumOptions<Node>) {
    this.#options = options
  }

  scan(request: ScanRequest, read: NodeQuery<Node, ScanRequest, ScanResult>): Promise<ScanResult> {
    const { pool, quorum } = this.#options
    const identifying = identifyingAgain(pool, read)
    return quorum === 1
      ? pool.onFirst((node) => identifying(node, request))
      : scanAgreed(this.#options, request, identifying)
  }

  readRange(request: RangeRequest, read: NodeQuery<Node, RangeRequest, RangeResult>): Promise<RangeResult> {
    const { pool, quorum } = this.#options
    return quorum === 1
      ? pool.onFirst((node) => read(node, request))
      : rangeAgreed(this.#options, request, read)
  }

  readTransaction(read: (node: Node) => Promise<TransactionReading>): Promise<TransactionReading> {
    const { pool, quorum } = this.#options
    return quorum === 1 ? pool.onFirst(read) : agreedTransaction(this.#options, read)
  }
}

const lackingMax = 2

/** At most two hosts; none if any node asked knows the transaction. */
export async function nodesWithout<Node extends PooledNode>(
  pool: Pool<Node>,
  read: (node: Node) => Promise<TransactionReading>,
): Promise<string[]> {
  const lacking = new Set<string>()
  for (const node of pool.inOrder()) {
    const reading = await pool.attempt(node, read)
    if (reading instanceof Fault) continue
    if (reading.kind !== 'unknown') return []
    lacking.add(node.host)
    if (lacking.size === lackingMax) break
  }
  return [...lacking]
}

/** Another history may mean that the address leads to another node by now. */
function identifyingAgain<Node extends PooledNode>(
  pool: Pool<Node>,
  read: NodeQuery<Node, ScanRequest, ScanResult>,
): NodeQuery<Node, ScanRequest, ScanResult> {
  return async (node, request) => {
    const result = await read(node, request).catch(async (error: unknown) => {
      if (isFault(error, 'history_lost')) await pool.identify(node)
      throw error
    })
    if (result.rewoundTo !== null) await pool.identify(node)
    return result
  }
}

/**
 * The others read as final what the leader has read. Enough nodes call that height final, so a node that is behind only
 * causes a wait.
 */
async function scanAgreed<Node extends PooledNode>(
  options: QuorumOptions<Node>,
  request: ScanRequest,
  read: NodeQuery<Node, ScanRequest, ScanResult>,
): Promise<ScanResult> {
  const { finalMax, able } = await agreedHeight(options)
  return agreed(options, able, {
    lead: (node) => scanFinding(() => read(node, { ...request, finalMax })),
    isComplete: (result) => !movesOn(result, request),
    follow: (node, lead) => {
      const upTo = lead instanceof Fault ? finalMax : lead.cursor.final.height
      return scanFinding(() => scanUpTo((one) => read(node, one), request, upTo))
    },
  })
}

type AgreedReading<Node, Result> = {
  lead: (node: Node) => Promise<NodeFinding<Result>>
  /** The leader's result needs no agreement. */
  isComplete: (result: Result) => boolean
  follow: (node: Node, lead: Result | Fault) => Promise<NodeFinding<Result>>
}

async function agreed<Node extends PooledNode, Result extends Pick<RangeResult, 'proved' | 'dissent'>>(
  options: QuorumOptions<Node>,
  able: readonly Node[],
  { lead, isComplete, follow }: AgreedReading<Node, Result>,
): Promise<Result> {
  const tried = new Set<Node>()
  const first = await options.pool.onFirst(async (node) => {
    tried.add(node)
    return { node, ...(await lead(node)) }
  }, able)
  if (!(first.result instanceof Fault) && isComplete(first.result)) return first.result
  const outcome = await hold({
    ...options,
    votes: [first],
    candidates: able.filter((node) => !tried.has(node)),
    read: (node) => follow(node, first.result),
  })
  const [vote, ...others] = outcome.agreeing
  if (vote === undefined) throw undecided(options, outcome)
  const proved = provedByAll([vote, ...others].map(settled))
  return { ...settled(vote), proved, dissent: outcome.dissent }
}

/** @throws the fault on which the nodes agree */
function settled<Result>({ result }: Pick<Vote<unknown, Result>, 'result'>): Result {
  if (result instanceof Fault) throw result
  return result
}

function movesOn({ transfers, cursor, rewoundTo }: ScanResult, request: ScanRequest): boolean {
  const stands = request.cursor !== null && request.cursor.final.height === cursor.final.height
  return !stands || rewoundTo !== null || transfers.some(({ stage }) => stage === 'final')
}

async function scanUpTo(
  read: (request: ScanRequest) => Promise<ScanResult>,
  request: ScanRequest,
  upTo: bigint,
): Promise<ScanResult> {
  let whole = await read({ ...request, finalMax: upTo, finalOnly: true })
  while (whole.rewoundTo === null && whole.more && whole.cursor.final.height < upTo) {
    const next = await read({ ...request, cursor: whole.cursor, finalMax: upTo, finalOnly: true })
    whole = joined(whole, next)
  }
  return { ...whole, more: true }
}

function joined<Reading extends Pick<RangeResult, 'transfers' | 'movements' | 'proved'>>(
  first: Reading,
  next: Reading,
): Reading {
  return {
    ...next,
    transfers: [...first.transfers, ...next.transfers],
    movements: [...first.movements, ...next.movements],
    proved: [...first.proved, ...next.proved],
  }
}

/** Nodes can agree that history is lost: one alone must not halt a network. */
async function scanFinding(read: () => Promise<ScanResult>): Promise<NodeFinding<ScanResult>> {
  try {
    const result = await read()
    const { final } = result.cursor
    const lines = [
      ...transferLines(result.transfers.filter(({ stage }) => stage === 'final')),
      `block ${final.height} as ${final.hash}`,
      ...(result.rewoundTo === null ? [] : [`a different history above ${result.rewoundTo}`]),
    ]
    return { lines, result }
  } catch (error) {
    if (!isFault(error, 'history_lost')) throw error
    return { lines: ['a different history below every stored block'], result: error }
  }
}

async function rangeAgreed<Node extends PooledNode>(
  options: QuorumOptions<Node>,
  request: RangeRequest,
  read: NodeQuery<Node, RangeRequest, RangeResult>,
): Promise<RangeResult> {
  const { finalMax, able } = await agreedHeight(options)
  const to = lowest(request.to, finalMax)
  if (to < request.from) return nothingRead(request.from)
  return agreed(options, able, {
    lead: async (node) => rangeFinding(await read(node, { ...request, to })),
    isComplete: () => false,
    follow: async (node, lead) => {
      const upTo = lead instanceof Fault ? to : lead.reached
      return rangeFinding(await rangeUpTo((one) => read(node, one), request, upTo))
    },
  })
}

async function rangeUpTo(
  read: (request: RangeRequest) => Promise<RangeResult>,
  request: RangeRequest,
  upTo: bigint,
): Promise<RangeResult> {
  let whole = await read({ ...request, to: upTo })
  while (whole.reached < upTo) {
    const next = await read({ ...request, from: whole.reached + 1n, to: upTo })
    if (next.reached <= whole.reached) return whole
    whole = joined(whole, next)
  }
  return whole
}

function rangeFinding(result: RangeResult): NodeFinding<RangeResult> {
  const { reached, reachedHash = 'no block hash' } = result
  const lines = [...transferLines(result.transfers), `everything up to ${reached} (${reachedHash})`]
  return { lines, result }
}

/** Completeness on one node is no proof for the others. */
function provedByAll(readings: readonly { proved: readonly HeightRange[] }[]): HeightRange[] {
  const [first, ...others] = readings.map(({ proved }) => proved)
  return others.reduce<readonly HeightRange[]>(common, first ?? []).slice()
}

function common(ranges: readonly HeightRange[], others: readonly HeightRange[]): HeightRange[] {
  return ranges
    .flatMap((one) =>
      others.map((other) => ({ from: highest(one.from, other.from), to: lowest(one.to, other.to) })),
    )
    .filter(({ from, to }) => from <= to)
}

/** Nodes on which a transaction is not final yet do not contradict the others, but do not count. */
async function agreedTransaction<Node extends PooledNode>(
  options: QuorumOptions<Node>,
  read: (node: Node) => Promise<TransactionReading>,
): Promise<TransactionReading> {
  const outcome = await hold({
    ...options,
    votes: [],
    candidates: options.pool.inOrder(),
    read: async (node) => {
      const result = await read(node)
      return { lines: finalLines(result), result }
    },
  })
  const [vote] = outcome.agreeing
  if (vote !== undefined) return settled(vote)
  if (outcome.votes.length === 0) throw allFailed(outcome.faults)
  const decided = outcome.votes.filter(({ lines }) => lines.length > 0)
  if (decided.length < options.quorum) return notFinal(outcome.votes.map(settled))
  throw undecided(options, { ...outcome, votes: decided })
}

/** No lines unless something is final. */
function finalLines(reading: TransactionReading): readonly string[] {
  if (reading.kind === 'failed') return [`a failure in block ${reading.height}`]
  const isFinal = reading.kind === 'read' && reading.transfers.every(({ stage }) => stage === 'final')
  return isFinal ? ['the transaction as final', ...transferLines(reading.transfers)] : []
}

function notFinal(readings: readonly TransactionReading[]): TransactionReading {
  const read = readings.find((reading) => reading.kind === 'read')
  if (read === undefined) return { kind: 'unknown' }
  return { kind: 'read', transfers: read.transfers.map((transfer) => ({ ...transfer, stage: 'seen' })) }
}

/** Without duplicates: a late transfer may be read twice. */
function transferLines(transfers: readonly ChainTransfer[]): string[] {
  const lines = transfers.map(
    ({ tx, index, asset, from, to, amount, height, blockHash }) =>
      `${tx}/${index}: ${amount} of ${asset} from ${from ?? 'several senders'} to ${to} in block ${height} (${blockHash})`,
  )
  return [...new Set(lines)].toSorted()
}
