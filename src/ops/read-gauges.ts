import { beatAgeMaxSeconds } from '../health.ts'
import { type CachedValue, keepReading } from './keep-reading.ts'
import { type ReadingPart, readingParts } from './metrics/service.ts'
import { agedBy, type GaugeValues } from './reading.ts'

/** Reads each part separately: if the queue does not respond, the database still does. */
export type GaugeSources = { [Part in ReadingPart]: () => Promise<GaugeValues[Part]> }

type ReadParts = { [Part in ReadingPart]: CachedValue<GaugeValues[Part]> | null }

/** The value of each part; null if it could not be read. */
export type ReadGauges = () => Promise<ReadParts>

/** The parts that a process reports; parts that other processes report are missing. */
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

/** Creates the reader of the requested parts, or of all. Each part is read no more often than its cost allows. */
export function createGaugesReader(
  sources: GaugeSources,
  unreadable: (part: ReadingPart, error: unknown) => void,
): GaugesReader {
  const keep = <Part extends ReadingPart>(part: Part): (() => Promise<CachedValue<GaugeValues[Part]>>) =>
    keepReading(sources[part], { timesKept: timesKept[part], keptMaxMs: keptMaxMs[part] })
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
