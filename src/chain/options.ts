import type { NetworkName, NetworkReading } from '../core/asset.ts'
import { Fault } from '../core/errors.ts'
import { type NodeHealth, newHealth } from './health.ts'
import type { NetworkSettings, NodeObserver, OddLogObserver, RpcObserver, UnreadObserver } from './port.ts'

export type ReaderOptions = {
  /** Told of every request. */
  observe?: RpcObserver
  /** Told of the score of each node that is used. */
  observeNode?: NodeObserver
  /** EVM: told of each log that counts for nothing, because of its form. */
  observeOddLog?: OddLogObserver
  /** Solana: told of each transaction that cannot be read. */
  observeUnread?: UnreadObserver
  /** The bounds that differ from `defaultBounds`. */
  bounds?: Partial<ReaderBounds>
  /** Solana: reads in this way, whatever it costs. Without it the cheaper one is chosen. */
  solanaWay?: 'by_owner' | 'by_block'
}

export type ReaderBounds = {
  /** The longest wait for one whole answer. */
  timeoutMs: number
  /** The longest answer that is read. */
  bodyBytesMax: number
  /** Requests under way at once, per node. Fewer while it asks to slow down. */
  requestsAtOnce: number
  /** EVM: requests sent together, to a node that takes that. */
  requestsPerBatch: number
  /** How long one request is kept for a node that asks to slow down. */
  quotaWaitMs: number
  /** The longest time for which a node is left alone because it asks for it. */
  pauseMaxMs: number
  /** How often one request is sent to one node before the node has failed. */
  triesMax: number
  /** For how long a node that failed once is asked only after the others; ten times as long where it always fails. */
  restMs: number
  /** EVM: blocks per track and scan where they are read whole. */
  blocksPerScan: bigint
  /** EVM: blocks per track and scan where only logs are read. */
  logBlocksPerScan: bigint
  /** EVM: once so many transfers were found, or so much time has passed, a track reads no further. */
  transfersPerScan: number
  scanMs: number
  /** EVM: recipients in one log filter; providers refuse long ones. */
  recipientsPerRequest: number
  /** EVM: balances read in one request where the chain has a contract for that; providers bound its gas. */
  balancesPerRequest: number
  /** EVM: blocks traced in one reading of a stretch. */
  tracesPerReading: bigint
  /** EVM: an answer with this many logs may have been cut off and is asked for in halves. */
  logsPerAnswerMax: number
  /** Solana: the pause, of about one slot, before a node that has not come so far yet is asked again. */
  slotMs: number
  /** Solana: signatures asked for in one page; the protocol allows 1,000. */
  signaturesPerPage: number
  /** Solana: pages walked back for one address before a scan gives up. */
  pagesPerAddress: number
  /** Solana: transactions above the cursor read in one scan, rounded up to whole slots. */
  transactionsPerScan: number
  /** Solana: blocks read whole in one scan. */
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

/** How a network is read where its settings do not say it. */
export const defaultReading: NetworkReading = {
  quorum: 1,
  finality: { kind: 'tag', tag: 'finalized' },
  traces: 'on_difference',
}

/** What one connection to one node is made with, and how that node does. */
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
 * @throws Fault `settings_bad` where there is no URL (a library would fall back to a public endpoint), a bad one, or
 * fewer than must agree
 */
export function connections(settings: NetworkSettings, options: ReaderOptions): NodeConnection[] {
  const setting = rpcSetting(settings.name)
  const { quorum } = settings.reading ?? defaultReading
  const named = settings.rpcUrls.length
  if (named === 0) throw new Fault('settings_bad', { faults: [`${setting} names no URL`] })
  if (named < quorum) {
    throw new Fault('settings_bad', {
      faults: [`${setting} names ${named} of the ${quorum} nodes of the quorum`],
    })
  }
  return settings.rpcUrls.map((text, place) => ({
    network: settings.name,
    url: parseRpcUrl(setting, text, place),
    observe: options.observe ?? (() => undefined),
    observeOddLog: options.observeOddLog ?? (() => undefined),
    observeUnread: options.observeUnread ?? (() => undefined),
    bounds: { ...defaultBounds, ...options.bounds },
    health: newHealth(),
  }))
}

/** The setting that names a network's nodes. */
export function rpcSetting(network: NetworkName): string {
  return `RPC_${network.toUpperCase()}`
}

/** How a node is called in messages. The rest of its URL may be a key. */
export function nodeName({ network, url }: NodeConnection): string {
  return `${network} node ${url.host}`
}

function parseRpcUrl(setting: string, text: string, place: number): URL {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new Fault('settings_bad', { faults: [`${setting} has no http(s) URL at place ${place + 1}`] })
  }
  return url
}
