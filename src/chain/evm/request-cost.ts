import { defaultReading, type ReaderBounds } from '../options.ts'
import type { NetworkSettings } from '../types.ts'

/** The parameters that determine how many requests a network takes. */
export type CostOf = {
  settings: NetworkSettings
  addresses: number
  /** The pause between two scans. */
  scanSeconds: number
  bounds: Pick<ReaderBounds, 'recipientsPerRequest'>
}

/**
 * JSON-RPC calls per day without payments. `least`: logs are queried by contract, in one query. `most`: by address, in
 * queries of up to `recipientsPerRequest` addresses.
 */
export type DailyCalls = { least: number; most: number; blockSeconds: number }

const daySeconds = 86_400

/** By chain id: Ethereum, Base, Arbitrum. Most other rollups make a block every two seconds, as Base does. */
const blockSecondsOf: Readonly<Record<number, number>> = { 1: 12, 8453: 2, 42161: 0.25 }
const blockSecondsOfOthers = 2

/** Ethereum finalises once per epoch, and its rollups become final with it. */
const finalEverySeconds = 384

/** Per scan: the head, the final block, and the block that was read last. */
const callsPerScan = 3

/** Per scan with new blocks: both ends of the range, and the head again. */
const callsPerReading = 3

export function dailyCalls({ settings, addresses, scanSeconds, bounds }: CostOf): DailyCalls {
  const { chainId, assets, reading = defaultReading } = settings
  const blockSeconds = blockSecondsOf[chainId ?? 0] ?? blockSecondsOfOthers
  const scans = daySeconds / scanSeconds
  const readings = Math.min(scans, daySeconds / blockSeconds)
  const finalSeconds = reading.finality.kind === 'tag' ? finalEverySeconds : blockSeconds
  const finalReadings = Math.min(scans, daySeconds / finalSeconds)
  const hasNative = assets.some(({ key }) => key.endsWith('native'))
  const hasAddresses = addresses > 0
  // Whole blocks include the ends of the range. In the final track all of them but the highest are cached.
  const blocks = hasNative && hasAddresses ? daySeconds / blockSeconds + finalReadings : 0
  const perReading = hasNative ? 1 : callsPerReading
  const total = (queries: number) =>
    Math.round(
      reading.quorum *
        (scans * callsPerScan + readings * (perReading + queries) + finalReadings * (2 + queries) + blocks),
    )
  const queriesMost = Math.ceil(addresses / bounds.recipientsPerRequest)
  return { least: total(hasAddresses ? 1 : 0), most: total(queriesMost), blockSeconds }
}
