import { beatAgeMaxSeconds } from '../health.ts'
import { type CachedValue, cacheRead } from './cached-read.ts'
import { type ReadingPart, readingParts } from './metrics/daemon.ts'
/** Ages are in seconds. */
export type GaugeValues = {
  live: Live
  totals: MetricTotals
  scorecard: readonly Scores[]
  queue: Readonly<Record<string, number>>
}

export type Live = {
  inbox: { pending: number; oldest: number }
  quarantine: number
  /** `unnamed` is the age of the oldest item without an open mismatch; null if there is none. */
  stages: readonly { stage: string; network: string; oldest: number; unnamed: number | null }[]
  mismatches: readonly {
    kind: string
    severity: string
    network: string
    age: string
    count: number
    oldest: number
  }[]
  atRisk: readonly { asset: string; severity: string; units: number }[]
  causes: readonly OpenCause[]
  sealAge: number
  untied: readonly { control: string; asset: string; units: number }[]
  unexplained: readonly { network: string; asset: string; units: number }[]
  streams: readonly { name: string; age: number; progress: Readonly<Record<string, number>> }[]
}

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

/** An age of 0 means that nothing waits, and stays 0. */
export function agedBy(seconds: number, live: Live): Live {
  const later = (age: number) => (age === 0 ? 0 : age + seconds)
  const withOldest = <Row extends { oldest: number }>(row: Row): Row => ({
    ...row,
    oldest: later(row.oldest),
  })
  return {
    ...live,
    inbox: withOldest(live.inbox),
    stages: live.stages.map(({ unnamed, ...stage }) => ({
      ...withOldest(stage),
      unnamed: unnamed === null ? null : later(unnamed),
    })),
    mismatches: live.mismatches.map(withOldest),
    sealAge: later(live.sealAge),
    streams: live.streams.map((stream) => ({ ...stream, age: stream.age + seconds })),
  }
}

/** Over all stored rows. */
export type MetricTotals = {
  deposits: readonly { state: string; network: string; count: number }[]
  matrix: readonly { leg: string; source: string; cell: string; count: number }[]
  assets: readonly { asset: string; network: string; symbol: string }[]
  balances: readonly { account: string; network: string; asset: string; units: number }[]
  imbalances: readonly { asset: string; units: number }[]
  coverageGaps: readonly { network: string; ranges: number }[]
}

/** Null if a value is not known. */
export type Scores = {
  route: string
  completeness: string | null
  duplicates: bigint
  delivery_p50_seconds: number | null
  delivery_p95_seconds: number | null
  delivery_p99_seconds: number | null
  settle_p50_seconds: number | null
  settle_p95_seconds: number | null
  settle_p99_seconds: number | null
  fee_share: string | null
}

/** Separately: if the queue does not respond, the database still does. */
type GaugeSources = { [Part in ReadingPart]: () => Promise<GaugeValues[Part]> }

type ReadParts = { [Part in ReadingPart]: CachedValue<GaugeValues[Part]> | null }

/** Null for a part that could not be read. */
export type ReadGauges = () => Promise<ReadParts>

/** Without the parts that other processes report. */
export type ReportedGauges = Partial<ReadParts>
export type ReportGauges = () => Promise<ReportedGauges>

/**
 * Limits the share of one processor that a costly part takes: one four-hundredth, and one six-hundredth for each part
 * that adds up stored rows.
 */
const timesKept: Record<ReadingPart, number> = { live: 400, totals: 600, scorecard: 600, queue: 400 }
/** A slow moment of the machine must not keep old values for long. */
const keptMaxMs: Record<ReadingPart, number> = {
  // A sign of life must not look overdue because it was read long ago.
  live: (beatAgeMaxSeconds * 1000) / 2,
  totals: 120_000,
  scorecard: 120_000,
  queue: 60_000,
}

export type GaugesReader = ReadGauges & ((parts: readonly ReadingPart[]) => Promise<ReportedGauges>)

export function createGaugesReader(
  sources: GaugeSources,
  unreadable: (part: ReadingPart, error: unknown) => void,
): GaugesReader {
  const keep = <Part extends ReadingPart>(part: Part): (() => Promise<CachedValue<GaugeValues[Part]>>) =>
    cacheRead(sources[part], { timesKept: timesKept[part], keptMaxMs: keptMaxMs[part] })
  const live = keep('live')
  const reads: { [Part in ReadingPart]: () => Promise<CachedValue<GaugeValues[Part]>> } = {
    live: async () => {
      const { value, ageSeconds } = await live()
      return { value: agedBy(ageSeconds, value), ageSeconds }
    },
    totals: keep('totals'),
    scorecard: keep('scorecard'),
    queue: keep('queue'),
  }
  const orNull = async (part: ReadingPart) => {
    try {
      return [part, await reads[part]()] as const
    } catch (error) {
      unreadable(part, error)
      return [part, null] as const
    }
  }
  return async (parts: readonly ReadingPart[] = readingParts) =>
    Object.fromEntries(await Promise.all(parts.map(orNull))) as ReadParts
}
