import { type Kept, keepReading } from './keep-reading.ts'
import type { ReadingPart } from './metrics/service.ts'
import type { Reading } from './reading.ts'

/** How each part is read, on its own: where the queue does not answer, the database still does. */
export type Sources = { [Part in ReadingPart]: () => Promise<Reading[Part]> }

/** What was read of each part; null of what could not be read. */
export type ReadGauges = () => Promise<{ [Part in ReadingPart]: Kept<Reading[Part]> | null }>

/** Ages and what is open are read at almost every scrape; sums over all that is stored are not. */
const timesKept: Record<ReadingPart, number> = { live: 100, totals: 300, scorecard: 300, queue: 100 }

/** Makes what reads every part, each no more often than it is worth. */
export function createGaugesReader(
  sources: Sources,
  unreadable: (part: ReadingPart, error: unknown) => void,
): ReadGauges {
  const live = keepReading(sources.live, { timesKept: timesKept.live })
  const totals = keepReading(sources.totals, { timesKept: timesKept.totals })
  const scorecard = keepReading(sources.scorecard, { timesKept: timesKept.scorecard })
  const queue = keepReading(sources.queue, { timesKept: timesKept.queue })
  const orNull = async <Value>(part: ReadingPart, read: () => Promise<Kept<Value>>) => {
    try {
      return await read()
    } catch (error) {
      unreadable(part, error)
      return null
    }
  }
  return async () => {
    const [ofLive, ofTotals, ofScorecard, ofQueue] = await Promise.all([
      orNull('live', live),
      orNull('totals', totals),
      orNull('scorecard', scorecard),
      orNull('queue', queue),
    ])
    return { live: ofLive, totals: ofTotals, scorecard: ofScorecard, queue: ofQueue }
  }
}
