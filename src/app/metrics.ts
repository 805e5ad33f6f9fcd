import { readRoutes } from '../api/routes.ts'
import { callOf } from '../api/server.ts'
import { type Links, sharedLinks } from '../config/environment-settings.ts'
import type { Settings } from '../config/settings.ts'
import { type AlertRules, openCauses } from '../core/cause.ts'
import type { Role } from '../health.ts'
import type { Queue } from '../jobs/queue/queue.ts'
import type { NodeLine } from '../ops/console/reader.ts'
import { createGaugesReader, type GaugesReader, type Live } from '../ops/gauges.ts'
import { type ReadingPart, readingParts } from '../ops/metrics/daemon.ts'
import type { KnownLabelValues } from '../ops/metrics/declare.ts'
import { busiest } from '../ops/metrics/deposits.ts'
import type { Metrics } from '../ops/metrics.ts'
import type { Observer } from '../ops/observe.ts'
import { openDatabase } from '../store/database.ts'
import { readGauges, readTotals, type StoreGauges } from '../store/gauges.ts'
import { readDayScorecard } from '../store/scorecard.ts'
import type { Tables } from '../store/tables.ts'

/** Values in deliveries cannot displace these. */
export function knownLabels({
  services,
  networks,
  creditAsset,
  links,
  notifications,
}: Settings): KnownLabelValues {
  const assets = networks.flatMap((network) => [...network.assets, ...(network.unpinned ?? [])])
  return {
    service: services.map(({ name }) => name),
    network: networks.map(({ name }) => name),
    asset: [...assets, creditAsset].map(({ key }) => key),
    call: readRoutes.map(callOf),
    channel: ['people', ...(notifications?.channels ?? []).map(({ name }) => name)],
    url: Object.values(sharedLinks(links)).filter((url) => url !== null),
  }
}

/** Alert rules read the URLs of their pages from this metric. */
export function showLinks({ link }: Metrics, links: Links): void {
  for (const [to, url] of Object.entries(sharedLinks(links))) if (url !== null) link.set({ to, url }, 1)
}

/** Scrapes take no connections from workers. */
const poolMax = 3
const statementMaxMs = 5000

/** Through read-only connections. */
type GaugesDeps = { queue: Queue; observer: Observer; metrics: Metrics; gaugesKeptMaxMs?: number }

export function composeGauges(
  { databaseUrl: url, alerts }: Settings,
  { queue, observer, metrics, gaugesKeptMaxMs }: GaugesDeps,
): { read: GaugesReader; nodes: () => Promise<NodeLine[]> } & AsyncDisposable {
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
  const read = createGaugesReader(sources, observer.gaugesUnreadable, gaugesKeptMaxMs)
  return { read, nodes: () => readNodes(metrics), [Symbol.asyncDispose]: () => db.destroy() }
}

export function withCauses({ cases, ...gauges }: StoreGauges, alerts: AlertRules): Live {
  return { ...gauges, causes: openCauses(cases, alerts, new Date()) }
}

/** Only workers report sums over stored rows, so scraping a process that only takes webhooks costs almost nothing. */
export function reportedBy(roles: readonly Role[]): readonly ReadingPart[] {
  return roles.includes('worker') ? readingParts : ['live', 'queue']
}

/** As this process sees them. */
async function readNodes({ rpcNodeScore, rpcNodeRequests }: Metrics): Promise<NodeLine[]> {
  const [scores, requests] = await Promise.all([rpcNodeScore.read(), rpcNodeRequests.read()])
  return scores.map(({ labels: { network, node }, value: score }) => {
    const own = requests.filter(({ labels }) => labels.network === network && labels.node === node)
    const countOf = (outcome: string) => own.find(({ labels }) => labels.outcome === outcome)?.value ?? 0
    return { network, node, score, requests: countOf('ok') + countOf('error'), errors: countOf('error') }
  })
}
