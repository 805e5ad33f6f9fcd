import { beatAgeMaxSeconds } from '../health.ts'
import type { StoreGauges, StoreTotals } from '../store/gauges.ts'
import type { ScorecardLine } from '../store/scorecard.ts'
import { type CachedValue, cacheRead } from './cached-read.ts'
import { type ReadingPart, readingParts } from './metrics/daemon.ts'

export type GaugeValues = {
  live: Live
  totals: StoreTotals
  scorecard: readonly Scores[]
  queue: Readonly<Record<string, number>>
}

export type Live = Omit<StoreGauges, 'cases'> & { causes: readonly OpenCause[] }

export type OpenCause = {
  kind: string
  service: string
  network: string
  side: string
  severity: string
  since: Date
  count: number
  callsForPeople: boolean
}

/** Null if a value is not known. */
export type Scores = Pick<
  ScorecardLine,
  'route' | 'completeness' | 'duplicates' | 'fee_share' | `${'delivery' | 'settle'}_${Percentile}_seconds`
>
type Percentile = 'p50' | 'p95' | 'p99'

/** Separately: if the queue does not respond, the database still does. */
type GaugeSources = { [Part in ReadingPart]: () => Promise<GaugeValues[Part]> }

/** Null for a part that could not be read; without the parts that other processes report. */
export type ReportedGauges = { [Part in ReadingPart]?: CachedValue<GaugeValues[Part]> | null }
/** By default, all parts. */
export type GaugesReader = (parts?: readonly ReadingPart[]) => Promise<ReportedGauges>

/** Limits the share of one processor that a costly part takes to one six-hundredth. */
const timesKept = 600
/** A slow moment of the machine must not keep old values for long. */
const keptMaxMs: Record<ReadingPart, number> = {
  // A sign of life must not look young because it was read long ago.
  live: (beatAgeMaxSeconds * 1000) / 2,
  totals: 120_000,
  scorecard: 120_000,
  queue: 60_000,
}

export function createGaugesReader(
  sources: GaugeSources,
  unreadable: (part: ReadingPart, error: unknown) => void,
): GaugesReader {
  const readOf = (part: ReadingPart) =>
    cacheRead<GaugeValues[ReadingPart]>(sources[part], { timesKept, keptMaxMs: keptMaxMs[part] })
  const reads = new Map(readingParts.map((part) => [part, readOf(part)]))
  const orNull = async (part: ReadingPart) => {
    try {
      return [part, await reads.get(part)?.()] as const
    } catch (error) {
      unreadable(part, error)
      return [part, null] as const
    }
  }
  return async (parts: readonly ReadingPart[] = readingParts) =>
    Object.fromEntries(await Promise.all(parts.map(orNull))) as ReportedGauges
}
