import { defaultBounds, defaultReading } from '../../chain/options.ts'
import type { NetworkSettings } from '../../chain/types.ts'
import type { Settings } from '../../config/settings.ts'
import type { NetworkName } from '../../core/asset.ts'
import { openExaminedDatabase } from '../../doctor/finding.ts'
import { longestPause } from '../../jobs/schedule.ts'
import { readWatchList } from '../../store/chain/chain-watch.ts'
import { attachedSettings, type Context } from '../context.ts'
import { type News, print, type TableColumn, table } from '../print.ts'

type RpcCostRow = { network: NetworkName; addresses: number; isCurrent: boolean; least: number; most: number }

const examples = [10, 1000, 10_000]

/** JSON-RPC calls a day that scanning sends to the nodes of each EVM network. */
export async function costReport(context: Context): Promise<News> {
  const settings = attachedSettings(context)
  const watched = await watchedAddresses(settings)
  const rows = settings.networks
    .filter(({ family, rpcUrls }) => family === 'evm' && rpcUrls.length > 0)
    .flatMap((network) => {
      const current = watched.get(network.name) ?? null
      const scanSeconds = longestPause(settings.schedule.scan)
      return [...(current === null ? [] : [current]), ...examples].map((addresses, place): RpcCostRow => {
        const { least, most } = dailyCalls(network, addresses, scanSeconds)
        return { network: network.name, addresses, isCurrent: current !== null && place === 0, least, most }
      })
    })
  print(context, { items: rows }, `${table(rows, columns)}${explanation}`)
  return 'good'
}

async function watchedAddresses({ databaseUrl, networks }: Settings): Promise<Map<NetworkName, number>> {
  await using db = openExaminedDatabase(databaseUrl)
  const counts = new Map<NetworkName, number>()
  for (const { name } of networks) {
    const list = await readWatchList(db, name)
    counts.set(name, new Set(list.map(({ address }) => address)).size)
  }
  return counts
}

const thousands = (number: number) => number.toLocaleString('en-US')

const columns: TableColumn<RpcCostRow>[] = [
  { title: 'NETWORK', value: ({ network }) => network },
  {
    title: 'ADDRESSES',
    value: ({ addresses, isCurrent }) => `${thousands(addresses)}${isCurrent ? ' (now)' : ''}`,
  },
  { title: 'CALLS PER DAY', value: ({ least }) => thousands(least) },
  { title: 'AT MOST', value: ({ most }) => thousands(most) },
]

const explanation = `
JSON-RPC calls of scanning to all nodes of a network together, while nothing is paid. At most: if every query for logs
names addresses, ${defaultBounds.recipientsPerRequest} in each. Each payment adds two or three calls; see docs/chains.md.
`

/**
 * Calls per day without payments. `least`: logs queried by contract. `most`: by address, up to
 * `recipientsPerRequest` per query.
 */
export type CallEstimate = { least: number; most: number }

const daySeconds = 86_400

/** Ethereum, Base, Arbitrum. Most other rollups make a block every two seconds, as Base does. */
const blockSecondsOf: Readonly<Record<number, number>> = { 1: 12, 8453: 2, 42161: 0.25 }
const blockSecondsOfOthers = 2

/** Ethereum finalises once per epoch, and its rollups with it. */
const finalEverySeconds = 384

/** The head, the final block, and the block that was read last. */
const callsPerScan = 3

/** Both ends of the range, and the head again. */
const callsPerReading = 3

export function dailyCalls(
  { chainId, assets, reading = defaultReading }: NetworkSettings,
  addresses: number,
  scanSeconds: number,
): CallEstimate {
  const blockSeconds = blockSecondsOf[chainId ?? 0] ?? blockSecondsOfOthers
  const scans = daySeconds / scanSeconds
  const readings = Math.min(scans, daySeconds / blockSeconds)
  const finalSeconds = reading.finality.kind === 'tag' ? finalEverySeconds : blockSeconds
  const finalReadings = Math.min(scans, daySeconds / finalSeconds)
  const hasNative = assets.some(({ key }) => key.endsWith('native'))
  const hasAddresses = addresses > 0
  // Whole blocks include the ends of the range; in the final track all but the highest are cached.
  const blocks = hasNative && hasAddresses ? daySeconds / blockSeconds + finalReadings : 0
  const perReading = hasNative ? 1 : callsPerReading
  const total = (queries: number) =>
    Math.round(
      reading.quorum *
        (scans * callsPerScan + readings * (perReading + queries) + finalReadings * (2 + queries) + blocks),
    )
  const queriesMost = queriesPerRange(addresses)
  return { least: total(hasAddresses ? 1 : 0), most: total(queriesMost) }
}

function queriesPerRange(addresses: number): number {
  return Math.ceil(addresses / defaultBounds.recipientsPerRequest)
}

/** Both ends included. `payments`: to the addresses, in these heights. */
export type HistorySpan = { from: bigint; to: bigint; addresses: number; payments: number }

/** Most nodes accept queries this wide. */
const blocksPerQuery = 10_000

/** To read the past once, from all nodes together. On EVM networks `least` and `most` are as for a day. */
export function historyCalls(network: NetworkSettings, span: HistorySpan): CallEstimate {
  const { quorum } = network.reading ?? defaultReading
  const { least, most } = (network.family === 'evm' ? evmHistory : solanaHistory)(network, span)
  return { least: Math.round(quorum * least), most: Math.round(quorum * most) }
}

function evmHistory(
  { assets }: NetworkSettings,
  { from, to, addresses, payments }: HistorySpan,
): CallEstimate {
  const hasNative = assets.some(({ key }) => key.endsWith('native'))
  const heights = Number(to - from) + 1
  const { blocksPerScan, logBlocksPerScan } = defaultBounds
  const perReading = Number(hasNative ? blocksPerScan : logBlocksPerScan)
  const readings = Math.ceil(heights / perReading)
  const queries = Math.ceil(heights / Math.min(perReading, blocksPerQuery))
  // The final block, and then those of a scan; whole blocks include the ends of the range.
  const blocks = readings * (hasNative ? 2 : 1 + callsPerReading) + (hasNative ? heights : 0)
  // The block of a payment, unless all are read, and its receipts.
  const perPayment = hasNative ? { least: 0, most: 2 } : { least: 1, most: 3 }
  return {
    least: blocks + queries + payments * perPayment.least,
    most: blocks + queries * queriesPerRange(addresses) + payments * perPayment.most,
  }
}

/** By owner: a few histories for each address, then each transaction and its block. Payments are forwarded once. */
function solanaHistory({ assets }: NetworkSettings, { addresses, payments }: HistorySpan): CallEstimate {
  const mints = assets.filter(({ key }) => !key.endsWith('native')).length
  const listings = addresses * (1 + 2 * mints)
  return { least: listings + 2 * payments, most: listings + 4 * payments }
}
