import { beatAgeMaxSeconds } from '../core/health.ts'
import { type CachedValue, keepReading } from './keep-reading.ts'
import { type ReadingPart, readingParts } from './metrics/service.ts'
import { agedBy, type GaugeValues } from './reading.ts'

/** How each part is read, on its own: where the queue does not answer, the database still does. */
export type GaugeSources = { [Part in ReadingPart]: () => Promise<GaugeValues[Part]> }

type ReadParts = { [Part in ReadingPart]: CachedValue<GaugeValues[Part]> | null }

/** What was read of each part; null of what could not be read. */
export type ReadGauges = () => Promise<ReadParts>

/** What a process tells of each part; it has nothing of what others tell. */
export type ReportedGauges = Partial<ReadParts>
export type TellGauges = () => Promise<ReportedGauges>

/**
 * By this a part that is dear to read takes a share of one processor and no more: a four hundredth, or of the sums over
 * what is stored a six hundredth each.
 */
const timesKept: Record<ReadingPart, number> = { live: 400, totals: 600, scorecard: 600, queue: 400 }
/** A slow moment of the machine must not make figures old for long. */
const keptMaxMs: Record<ReadingPart, number> = {
  // A sign of life must not look overdue because it was read long ago.
  live: (beatAgeMaxSeconds * 1000) / 2,
  totals: 120_000,
  scorecard: 120_000,
  queue: 60_000,
}

export type GaugesReader = ReadGauges & ((parts: readonly ReadingPart[]) => Promise<ReportedGauges>)

/** Makes what reads the parts asked for, or all, each no more often than it is worth. */
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
