import type { GaugeValues, Live } from '../../src/ops/gauges.ts'
import type { StoreTotals } from '../../src/store/gauges.ts'
import { emptyReading } from './ops-server.ts'

type Changes = Partial<Live & StoreTotals & Pick<GaugeValues, 'scorecard' | 'queue'>>

/** What a scrape reads: nothing, with these changes. */
export function readingOf(changes: Changes = {}) {
  const { live, totals, scorecard, queue } = emptyReading
  return {
    live: kept({ ...live, ...pick(live, changes) }),
    totals: kept({ ...totals, ...pick(totals, changes) }),
    scorecard: kept(changes.scorecard ?? scorecard),
    queue: kept(changes.queue ?? queue),
  }
}

function kept<Value>(value: Value) {
  return { value, ageSeconds: 0 }
}

function pick<Part extends object>(part: Part, changes: object): Partial<Part> {
  return Object.fromEntries(Object.entries(changes).filter(([name]) => name in part)) as Partial<Part>
}
