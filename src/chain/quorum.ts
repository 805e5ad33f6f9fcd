import { Fault, isFault } from '../core/errors.ts'
import { agree, agreedHeight, castVote, type NodeFinding, type QuorumOptions, type Vote } from './agree.ts'
import { allFailed, type NodeFault, type Pool, type PooledNode } from './pool.ts'
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
  const lead = await firstVote(options.pool, able, (node) =>
    scanFinding(() => read(node, { ...request, finalMax })),
  )
  const upTo = lead.result?.cursor.final.height ?? finalMax
  if (lead.result !== null && !movesOn(lead.result, request)) return lead.result
  const { vote, agreeing, dissent } = await agree({
    ...options,
    votes: [lead],
    candidates: able.filter((node) => !lead.tried.has(node)),
    read: (node) => scanFinding(() => scanUpTo((one) => read(node, one), request, upTo)),
  })
  const proved = provedByAll(agreeing.map(({ settle }) => settle()))
  return { ...vote.settle(), proved, dissent }
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

async function firstVote<Node extends PooledNode, Found extends NodeFinding<unknown>>(
  pool: Pool<Node>,
  nodes: readonly Node[],
  read: (node: Node) => Promise<Found>,
): Promise<Found & { node: Node; tried: ReadonlySet<Node> }> {
  const tried = new Set<Node>()
  return pool.onFirst(async (node) => {
    tried.add(node)
    return { ...(await read(node)), node, tried }
  }, nodes)
}

type ScanFinding = NodeFinding<ScanResult> & { result: ScanResult | null }

/** Nodes can agree that history is lost: one alone must not halt a network. */
async function scanFinding(read: () => Promise<ScanResult>): Promise<ScanFinding> {
  try {
    const result = await read()
    const { final } = result.cursor
    const lines = [
      ...transferLines(result.transfers.filter(({ stage }) => stage === 'final')),
      `block ${final.height} as ${final.hash}`,
      ...(result.rewoundTo === null ? [] : [`a different history above ${result.rewoundTo}`]),
    ]
    return { lines, settle: () => result, result }
  } catch (error) {
    if (!isFault(error, 'history_lost')) throw error
    const settle = (): never => {
      throw error
    }
    return { lines: ['a different history below every stored block'], settle, result: null }
  }
}

async function rangeAgreed<Node extends PooledNode>(
  options: QuorumOptions<Node>,
  request: RangeRequest,
  read: NodeQuery<Node, RangeRequest, RangeResult>,
): Promise<RangeResult> {
  const { finalMax, able } = await agreedHeight(options)
  const to = request.to < finalMax ? request.to : finalMax
  if (to < request.from) {
    return { transfers: [], movements: [], proved: [], dissent: [], reached: request.from - 1n }
  }
  const lead = await firstVote(options.pool, able, async (node) => {
    const result = await read(node, { ...request, to })
    return { ...rangeFinding(result), result }
  })
  const { reached } = lead.result
  const { vote, agreeing, dissent } = await agree({
    ...options,
    votes: [lead],
    candidates: able.filter((node) => !lead.tried.has(node)),
    read: async (node) => rangeFinding(await rangeUpTo((one) => read(node, one), request, reached)),
  })
  const proved = provedByAll(agreeing.map(({ settle }) => settle()))
  return { ...vote.settle(), proved, dissent }
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
  return { lines, settle: () => result }
}

/** Completeness on one node is no proof for the others. */
function provedByAll(readings: readonly { proved: readonly HeightRange[] }[]): HeightRange[] {
  const [first, ...others] = readings.map(({ proved }) => proved)
  return others.reduce<readonly HeightRange[]>(common, first ?? []).slice()
}

function common(ranges: readonly HeightRange[], others: readonly HeightRange[]): HeightRange[] {
  return ranges.flatMap((one) =>
    others.flatMap((other) => {
      const from = one.from > other.from ? one.from : other.from
      const to = one.to < other.to ? one.to : other.to
      return from <= to ? [{ from, to }] : []
    }),
  )
}

/** Nodes on which a transaction is not final yet do not contradict the others, but do not count. */
async function agreedTransaction<Node extends PooledNode>(
  options: QuorumOptions<Node>,
  read: (node: Node) => Promise<TransactionReading>,
): Promise<TransactionReading> {
  const { network, pool, quorum } = options
  const votes: Vote<Node, TransactionReading>[] = []
  const faults: NodeFault[] = []
  for (const node of pool.inOrder()) {
    const cast = await castVote(pool, node, async (one) => transactionFinding(await read(one)))
    if (cast instanceof Fault) faults.push(cast)
    else votes.push(cast)
    const decided = votes.filter(({ lines }) => lines.length > 0)
    const sides = Map.groupBy(decided, ({ lines }) => lines.join('\n'))
      .values()
      .toArray()
    if (sides.some((side) => side.length >= quorum)) break
  }
  const [first] = votes
  if (first === undefined) throw allFailed(faults)
  const decided = votes.filter(({ lines }) => lines.length > 0)
  if (decided.length < quorum) return notFinal(votes.map(({ settle }) => settle()))
  const none: readonly Node[] = []
  const { vote } = await agree({ pool, network, quorum, votes: decided, candidates: none, read: refuse })
  return vote.settle()
}

function refuse(): never {
  throw new Error('invariant broken: a node is asked that is no candidate')
}

/** No lines unless something is final. */
function transactionFinding(reading: TransactionReading): NodeFinding<TransactionReading> {
  return { lines: finalLines(reading), settle: () => reading }
}

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
