import type { OpenCause } from '../core/cause.ts'
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

/** Null if a value is not known. */
export type Scores = { service: string } & Pick<
  ScorecardLine,
  | 'route'
  | 'completeness'
  | 'duplicates_share'
  | 'fee_share'
  | `${'delivery' | 'settle'}_${Percentile}_seconds`
>
type Percentile = 'p50' | 'p95' | 'p99'

/** An age of 0 means that nothing waits, and stays 0. */
function agedBy(seconds: number, live: Live): Live {
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
    events: withOldest(live.events),
    streams: live.streams.map((stream) => ({ ...stream, age: stream.age + seconds })),
  }
}

/** Separately: if the queue does not respond, the database still does. */
type GaugeSources = { [Part in ReadingPart]: () => Promise<GaugeValues[Part]> }

/** Null for a part that could not be read; without the parts that other processes report. */
export type ReportedGauges = { [Part in ReadingPart]?: CachedValue<GaugeValues[Part]> | null }
/** By default, all parts. */
export type GaugesReader = (parts?: readonly ReadingPart[]) => Promise<ReportedGauges>

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

/** `mostMs`: no part is kept for longer. */
export function createGaugesReader(
  sources: GaugeSources,
  unreadable: (part: ReadingPart, error: unknown) => void,
  mostMs = Infinity,
): GaugesReader {
  const keep = <Part extends ReadingPart>(part: Part): (() => Promise<CachedValue<GaugeValues[Part]>>) =>
    cacheRead(sources[part], { timesKept: timesKept[part], keptMaxMs: Math.min(keptMaxMs[part], mostMs) })
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
    Object.fromEntries(await Promise.all(parts.map(orNull))) as ReportedGauges
}
