import {
  type Address,
  type AssetKey,
  assetCode,
  type NetworkName,
  type NetworkReading,
} from '../core/asset.ts'
import { Fault } from '../core/errors.ts'
import { type NodeHealth, newHealth, type PooledNode } from './pool.ts'
import type { NetworkSettings, NodeObserver, OddLogObserver, RpcObserver, UnreadObserver } from './types.ts'

export type ReaderOptions = {
  observe?: RpcObserver
  observeNode?: NodeObserver
  /** EVM: a log ignored because of its form. */
  observeOddLog?: OddLogObserver
  /** Solana. */
  observeUnread?: UnreadObserver
  bounds?: Partial<ReaderBounds>
  /** Solana. By default the cheaper one is chosen. */
  solanaStrategy?: 'by_owner' | 'by_block'
}

export const defaultBounds = {
  /** For one complete answer. */
  timeoutMs: 15_000,
  bodyBytesMax: 32 * 1024 * 1024,
  /** Per node; fewer while the node asks to slow down. */
  requestsAtOnce: 8,
  /** Per node: JSON-RPC calls of background work, such as reading history. */
  backgroundPerSecond: Number.POSITIVE_INFINITY,
  /** EVM, for nodes that accept batches. */
  requestsPerBatch: 20,
  /** How long a request waits for a node that asks to slow down. */
  quotaWaitMs: 12_000,
  pauseMaxMs: 300_000,
  triesMax: 6,
  /** A failed node is asked last for this long; ten times as long if it always fails. */
  restMs: 30_000,
  /** EVM: per track and scan, if whole blocks are read. */
  blocksPerScan: 500n,
  /** EVM: per track and scan, if only logs are read. */
  logBlocksPerScan: 100_000n,
  /** EVM: a track stops after this many transfers, or this much time. */
  transfersPerScan: 20_000,
  scanMs: 6_000,
  /** EVM, per log filter; providers refuse long ones. */
  recipientsPerRequest: 500,
  /** EVM; providers limit the gas of such a call. */
  balancesPerRequest: 250,
  tracesPerReading: 50n,
  /** EVM: a longer answer may be truncated and is requested again in halves. */
  logsPerAnswerMax: 10_000,
  /** Solana: about one slot, before a node that is behind is asked again. */
  slotMs: 400,
  /** Solana; the protocol allows 1,000. */
  signaturesPerPage: 1000,
  /** Solana: walked back before a scan gives up. */
  pagesPerAddress: 200,
  /** Solana: per scan, rounded up to whole slots. */
  transactionsPerScan: 1000,
  /** Solana: whole blocks per scan. */
  slotsPerScan: 500,
}

export type ReaderBounds = typeof defaultBounds

export const defaultReading: NetworkReading = {
  quorum: 1,
  finality: { kind: 'tag', tag: 'finalized' },
  traces: 'on_difference',
}

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
 * In order of preference.
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

/** `native` is null if it is not among the assets. */
export function watchedAssets({ assets }: NetworkSettings): {
  tokens: ReadonlyMap<Address, AssetKey>
  native: AssetKey | null
} {
  const codes = new Map(assets.map(({ key }) => [assetCode(key), key]))
  const native = codes.get('native') ?? null
  codes.delete('native')
  return { tokens: codes as ReadonlyMap<Address, AssetKey>, native }
}

export function rpcSetting(network: NetworkName): string {
  return `RPC_${network.toUpperCase()}`
}

/** The rest of the URL may contain a key. */
export function pooledNode({ network, url, health }: NodeConnection): PooledNode {
  return { name: `${network} node ${url.host}`, host: url.host, health }
}

function parseRpcUrl(setting: string, text: string, index: number): URL {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new Fault('settings_bad', { faults: [`${setting}: URL ${index + 1} is not an http(s) URL`] })
  }
  return url
}
