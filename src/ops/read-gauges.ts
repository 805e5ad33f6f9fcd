import { beatAgeMaxSeconds } from '../core/health.ts'
import { type Kept, keepReading } from './keep-reading.ts'
import { type ReadingPart, readingParts } from './metrics/service.ts'
import { agedBy, type Reading } from './reading.ts'

/** How each part is read, on its own: where the queue does not answer, the database still does. */
export type Sources = { [Part in ReadingPart]: () => Promise<Reading[Part]> }

type ReadParts = { [Part in ReadingPart]: Kept<Reading[Part]> | null }

/** What was read of each part; null of what could not be read. */
export type ReadGauges = () => Promise<ReadParts>

/** What a process tells of each part; it has nothing of what others tell. */
export type ToldGauges = Partial<ReadParts>
export type TellGauges = () => Promise<ToldGauges>

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

export type GaugesReader = ReadGauges & ((parts: readonly ReadingPart[]) => Promise<ToldGauges>)

/** Makes what reads the parts asked for, or all, each no more often than it is worth. */
export function createGaugesReader(
  sources: Sources,
  unreadable: (part: ReadingPart, error: unknown) => void,
): GaugesReader {
  const keep = <Part extends ReadingPart>(part: Part): (() => Promise<Kept<Reading[Part]>>) =>
    keepReading(sources[part], { timesKept: timesKept[part], keptMaxMs: keptMaxMs[part] })
  const live = keep('live')
  const reads: { [Part in ReadingPart]: () => Promise<Kept<Reading[Part]>> } = {
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
