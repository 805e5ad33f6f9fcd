import {
  type Address,
  type AssetKey,
  assetCode,
  type NetworkName,
  type NetworkReading,
} from '../core/asset.ts'
import { Fault } from '../core/errors.ts'
import { type NodeHealth, newHealth } from './pool.ts'
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

export type ReaderBounds = {
  /** For one complete answer. */
  timeoutMs: number
  bodyBytesMax: number
  /** Per node; fewer while the node asks to slow down. */
  requestsAtOnce: number
  /** EVM, for nodes that accept batches. */
  requestsPerBatch: number
  /** How long a request waits for a node that asks to slow down. */
  quotaWaitMs: number
  pauseMaxMs: number
  triesMax: number
  /** A failed node is asked last for this long; ten times as long if it always fails. */
  restMs: number
  /** EVM: per track and scan, if whole blocks are read. */
  blocksPerScan: bigint
  /** EVM: per track and scan, if only logs are read. */
  logBlocksPerScan: bigint
  /** EVM: a track stops after this many transfers, or this much time. */
  transfersPerScan: number
  scanMs: number
  /** EVM, per log filter; providers refuse long ones. */
  recipientsPerRequest: number
  /** EVM; providers limit the gas of such a call. */
  balancesPerRequest: number
  tracesPerReading: bigint
  /** EVM: a longer answer may be truncated and is requested again in halves. */
  logsPerAnswerMax: number
  /** Solana: about one slot, before a node that is behind is asked again. */
  slotMs: number
  /** Solana; the protocol allows 1,000. */
  signaturesPerPage: number
  /** Solana: walked back before a scan gives up. */
  pagesPerAddress: number
  /** Solana: per scan, rounded up to whole slots. */
  transactionsPerScan: number
  /** Solana: whole blocks per scan. */
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
