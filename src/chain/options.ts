import type { NetworkName, NetworkReading } from '../core/asset.ts'
import { Fault } from '../core/errors.ts'
import { type NodeHealth, newHealth } from './pool.ts'
import type { NetworkSettings, NodeObserver, OddLogObserver, RpcObserver, UnreadObserver } from './types.ts'

export type ReaderOptions = {
  /** Called for every request. */
  observe?: RpcObserver
  /** Called with the score of each node that is used. */
  observeNode?: NodeObserver
  /** EVM: called for each log that is ignored because of its form. */
  observeOddLog?: OddLogObserver
  /** Solana: called for each transaction that cannot be read. */
  observeUnread?: UnreadObserver
  /** Overrides of `defaultBounds`. */
  bounds?: Partial<ReaderBounds>
  /** Solana: forces this reading strategy, even if it costs more. By default the cheaper one is chosen. */
  solanaStrategy?: 'by_owner' | 'by_block'
}

export type ReaderBounds = {
  /** The longest wait for one complete answer. */
  timeoutMs: number
  /** The largest answer that is read. */
  bodyBytesMax: number
  /** Requests in flight per node; fewer while the node asks to slow down. */
  requestsAtOnce: number
  /** EVM: requests per batch, for nodes that accept batches. */
  requestsPerBatch: number
  /** How long one request waits for a node that asks to slow down. */
  quotaWaitMs: number
  /** The longest pause that a node can ask for. */
  pauseMaxMs: number
  /** How often one request is sent to a node before the node counts as failed. */
  triesMax: number
  /** How long a node is asked only after the others once it failed; ten times as long if it always fails. */
  restMs: number
  /** EVM: blocks per track and scan if whole blocks are read. */
  blocksPerScan: bigint
  /** EVM: blocks per track and scan if only logs are read. */
  logBlocksPerScan: bigint
  /** EVM: a track stops after this many transfers, or after this much time. */
  transfersPerScan: number
  scanMs: number
  /** EVM: recipients in one log filter; providers refuse long ones. */
  recipientsPerRequest: number
  /** EVM: balances read in one request if the chain has a contract for that; providers limit its gas. */
  balancesPerRequest: number
  /** EVM: blocks traced in one reading of a block range. */
  tracesPerReading: bigint
  /** EVM: an answer with this many logs may be truncated and is requested again in halves. */
  logsPerAnswerMax: number
  /** Solana: the pause, about one slot, before a node that is behind is asked again. */
  slotMs: number
  /** Solana: signatures per page; the protocol allows 1,000. */
  signaturesPerPage: number
  /** Solana: pages walked back for one address before a scan gives up. */
  pagesPerAddress: number
  /** Solana: transactions above the cursor read in one scan, rounded up to whole slots. */
  transactionsPerScan: number
  /** Solana: whole blocks read in one scan. */
  slotsPerScan: number
}

export const defaultBounds: ReaderBounds = {
  timeoutMs: 15_000,
  bodyBytesMax: 32 * 1024 * 1024,
  requestsAtOnce: 8,
  requestsPerBatch: 20,
  quotaWaitMs: 12_000,
  pauseMaxMs: 300_000,
  triesMax: 6,
  restMs: 30_000,
  blocksPerScan: 500n,
  logBlocksPerScan: 100_000n,
  transfersPerScan: 20_000,
  scanMs: 6_000,
  recipientsPerRequest: 500,
  balancesPerRequest: 250,
  tracesPerReading: 50n,
  logsPerAnswerMax: 10_000,
  slotMs: 400,
  signaturesPerPage: 1000,
  pagesPerAddress: 200,
  transactionsPerScan: 1000,
  slotsPerScan: 500,
}

/** How a network is read by default. */
export const defaultReading: NetworkReading = {
  quorum: 1,
  finality: { kind: 'tag', tag: 'finalized' },
  traces: 'on_difference',
}

/** The parameters of a connection to one node, and the health of that node. */
export type NodeConnection = {
  network: NetworkName
  url: URL
  observe: RpcObserver
  observeOddLog: OddLogObserver
  observeUnread: UnreadObserver
  bounds: ReaderBounds
  health: NodeHealth
}

/**
 * One connection per URL, in order of preference.
 * @throws Fault `settings_bad` if there is no URL (a library would fall back to a public endpoint), an invalid URL, or
 * fewer URLs than the quorum
 */
export function connections(settings: NetworkSettings, options: ReaderOptions): NodeConnection[] {
  const setting = rpcSetting(settings.name)
  const { quorum } = settings.reading ?? defaultReading
  const named = settings.rpcUrls.length
  if (named === 0) throw new Fault('settings_bad', { faults: [`${setting} has no URL`] })
  if (named < quorum) {
    throw new Fault('settings_bad', {
      faults: [`${setting} has fewer URLs (${named}) than the quorum (${quorum})`],
    })
  }
  return settings.rpcUrls.map((text, index) => ({
    network: settings.name,
    url: parseRpcUrl(setting, text, index),
    observe: options.observe ?? (() => undefined),
    observeOddLog: options.observeOddLog ?? (() => undefined),
    observeUnread: options.observeUnread ?? (() => undefined),
    bounds: { ...defaultBounds, ...options.bounds },
    health: newHealth(),
  }))
}

/** The name of the setting that lists a network's nodes. */
export function rpcSetting(network: NetworkName): string {
  return `RPC_${network.toUpperCase()}`
}

/** The name of a node in messages. The rest of its URL may contain a key. */
export function nodeName({ network, url }: NodeConnection): string {
  return `${network} node ${url.host}`
}

function parseRpcUrl(setting: string, text: string, index: number): URL {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new Fault('settings_bad', { faults: [`${setting}: URL ${index + 1} is not an http(s) URL`] })
  }
  return url
}
