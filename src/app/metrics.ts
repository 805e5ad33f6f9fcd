import { type Links, sharedLinks } from '../config/link-settings.ts'
import type { Settings } from '../config/settings.ts'
import { type AlertRules, callsForPeople, causesOf } from '../core/cause.ts'
import type { Queue } from '../jobs/queue/queue.ts'
import type { KnownLabelValues } from '../ops/metrics/label-values.ts'
import { busiest } from '../ops/metrics/scorecard.ts'
import { type ReadingPart, readingParts } from '../ops/metrics/service.ts'
import type { Metrics } from '../ops/metrics.ts'
import type { Observer } from '../ops/observe.ts'
import { createGaugesReader, type GaugesReader } from '../ops/read-gauges.ts'
import type { Live } from '../ops/reading.ts'
import { openDatabase } from '../store/database.ts'
import { readGauges, type StoreGauges } from '../store/gauges.ts'
import { readDayScorecard } from '../store/scorecard.ts'
import type { Tables } from '../store/tables.ts'
import { readTotals } from '../store/totals.ts'
import type { Role } from './daemon.ts'

/** What labels will say for certain: nothing that is sent to us can take the place of these. */
export function knownLabels({ networks, creditAsset, links }: Settings): KnownLabelValues {
  const assets = networks.flatMap((network) => [...network.assets, ...(network.unpinned ?? [])])
  return {
    network: networks.map(({ name }) => name),
    asset: [...assets, creditAsset].map(({ key }) => key),
    url: Object.values(sharedLinks(links)).filter((url) => url !== null),
  }
}

/** Rules read from the metrics where the pages are that their alerts link to. */
export function showLinks({ link }: Metrics, links: Links): void {
  for (const [to, url] of Object.entries(sharedLinks(links))) if (url !== null) link.set({ to, url }, 1)
}

/** Of its own, one for each part that is read, so that whoever scrapes takes no connection from who works. */
const poolMax = 3
/** Who waited for a reading has given it up by then. */
const statementMaxMs = 5000

/** Reads what metrics show beside what this process counts, by connections through which nothing can be written. */
export function composeGauges(
  { databaseUrl: url, alerts }: Settings,
  { queue, observer }: { queue: Queue; observer: Observer },
): { read: GaugesReader } & AsyncDisposable {
  const db = openDatabase<Tables>({
    url,
    poolMax,
    applicationName: 'depositd gauges',
    role: 'depositd_daemon',
    readOnlyWithinMs: statementMaxMs,
    queryTimeoutMs: statementMaxMs + 1000,
  })
  const sources = {
    live: async () => withCauses(await readGauges(db), alerts),
    totals: () => readTotals(db),
    scorecard: async () => busiest(await readDayScorecard(db)),
    queue: () => queue.counts(),
  }
  const read = createGaugesReader(sources, observer.gaugesUnreadable)
  return { read, [Symbol.asyncDispose]: () => db.destroy() }
}

/** What is open or waits, with the open mismatches grouped by cause. */
export function withCauses({ cases, ...gauges }: StoreGauges, alerts: AlertRules): Live {
  const now = new Date()
  const causes = causesOf(cases, alerts.causeWithinMs).map(({ cases: held, ...cause }) => ({
    ...cause,
    count: held.reduce((sum, { count }) => sum + count, 0),
    callsForPeople: callsForPeople({ ...cause, cases: held }, alerts, now),
  }))
  return { ...gauges, causes }
}

/** Sums over what is stored are told by workers alone: where webhooks are taken, scrapes cost next to nothing. */
export function toldBy(roles: readonly Role[]): readonly ReadingPart[] {
  return roles.includes('worker') ? readingParts : ['live', 'queue']
}
