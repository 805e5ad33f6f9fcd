import type { Settings } from './config/settings.ts'
import type { Queue } from './jobs/queue/queue.ts'
import type { Known } from './ops/metrics/label-values.ts'
import type { Observer } from './ops/observe.ts'
import { createGaugesReader, type ReadGauges } from './ops/read-gauges.ts'
import type { Database } from './store/database.ts'
import { readGauges } from './store/gauges.ts'
import { readDayScorecard } from './store/scorecard.ts'
import type { Tables } from './store/tables.ts'
import { readTotals } from './store/totals.ts'

/** What labels will say for certain: nothing that is sent to us can take the place of these. */
export function knownLabels({ networks, creditAsset }: Settings): Known {
  const assets = networks.flatMap((network) => [...network.assets, ...(network.unpinned ?? [])])
  return {
    network: networks.map(({ name }) => name),
    asset: [...assets, creditAsset].map(({ key }) => key),
  }
}

/** Reads what metrics show beside what this process counts. */
export function composeGauges({
  db,
  queue,
  observer,
}: {
  db: Database<Tables>
  queue: Queue
  observer: Observer
}): ReadGauges {
  const sources = {
    live: () => readGauges(db),
    totals: () => readTotals(db),
    scorecard: () => readDayScorecard(db),
    queue: () => queue.counts(),
  }
  return createGaugesReader(sources, observer.gaugesUnreadable)
}
