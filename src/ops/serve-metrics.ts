import type { RequestHandler } from 'express'
import type { Metric, Registry } from 'prom-client'
import { defaultService } from '../core/evidence.ts'
import { mismatchKinds } from '../core/mismatch.ts'
import { severities } from '../core/mismatches/kind-entry.ts'
import type { StoreTotals } from '../store/gauges.ts'
import type { GaugesReader, GaugeValues, Live, ReportedGauges, Scores } from './gauges.ts'
import { type ReadingPart, readingParts } from './metrics/daemon.ts'
import { mismatchAges, waitingNumbers } from './metrics/deposits.ts'
import { type Metrics, metricsOf, openRegistry } from './metrics.ts'
import { shownChannel } from './observe.ts'

/**
 * Gauges that could not be read are left out, because an old value must not pass for a current one. Scrapers that
 * accept OpenMetrics get it, because it has exemplars.
 */
export function serveMetrics({ metrics, read }: { metrics: Metrics; read: GaugesReader }): RequestHandler {
  const openMetrics = createOpenMetrics(metrics.registry)
  const answer = shareWhileRunning(async (registry: typeof openMetrics | Registry) => {
    showGauges(metrics, await read())
    return registry.metrics()
  })
  return async (request, response) => {
    const { accept = '' } = request.headers
    const registry = /application\/openmetrics-text/i.test(accept) ? openMetrics : metrics.registry
    response
      .set('vary', 'Accept')
      .type(registry.contentType)
      .send(await answer(registry))
  }
}

/** Scrapes that come at the same time have the same answer: to write one holds up all other work for some milliseconds. */
function shareWhileRunning<Key, Value>(work: (key: Key) => Promise<Value>): (key: Key) => Promise<Value> {
  const running = new Map<Key, Promise<Value>>()
  return (key) => {
    const known = running.get(key)
    if (known !== undefined) return known
    const started = work(key).finally(() => running.delete(key))
    running.set(key, started)
    return started
  }
}

/** Removes series that no longer occur or could not be read. */
export function showGauges(metrics: Metrics, reported: ReportedGauges): void {
  for (const clear of metrics.clears) clear()
  const show: Record<ReadingPart, () => void> = {
    live: () => reported.live && showLive(metrics, reported.live.value),
    totals: () => reported.totals && showTotals(metrics, reported.totals.value),
    scorecard: () => reported.scorecard?.value.forEach((one) => showScores(metrics, one)),
    queue: () => reported.queue && showQueue(metrics, reported.queue.value),
  }
  for (const part of readingParts) {
    const kept = reported[part]
    if (kept === undefined) continue
    metrics.refused.clear()
    show[part]()
    metrics.gaugesReadable.set({ part }, kept === null || metrics.refused.size > 0 ? 0 : 1)
    if (kept !== null) metrics.gaugesAge.set({ part }, kept.ageSeconds)
  }
}

function showQueue(metrics: Metrics, queue: GaugeValues['queue']): void {
  for (const [state, count] of Object.entries(queue)) metrics.queueJobs.set({ state }, count)
}

function showLive(metrics: Metrics, live: Live): void {
  metrics.inboxPending.set({}, live.inbox.pending)
  metrics.inboxOldest.set({}, live.inbox.oldest)
  for (const service of metrics.services.named) metrics.quarantineDeliveries.set({ service }, 0)
  for (const { service, count } of live.quarantine) metrics.quarantineDeliveries.set({ service }, count)
  for (const { oldest, unnamed, ...labels } of live.stages) {
    metrics.stageOldest.set(labels, oldest)
    if (unnamed !== null) metrics.stageOldestUnnamed.set(labels, unnamed)
  }
  metrics.ledgerSealAge.set({}, live.sealAge)
  metrics.ledgerUnsigned.set({}, live.unsigned)
  metrics.policyWaiting.set({}, live.policyWaits ? 1 : 0)
  for (const { units, ...labels } of live.untied) metrics.ledgerUntied.set(labels, units)
  for (const { units, ...labels } of live.unexplained) metrics.unexplainedBalance.set(labels, units)
  for (const { units, ...labels } of live.atRisk) metrics.mismatchValue.set(labels, units)
  showSending(metrics, live)
  showMismatches(metrics, live)
  showCauses(metrics, live)
  showStreams(metrics, live)
}

function showSending(metrics: Metrics, { events: { oldest, ...endpoints }, notifications }: Live): void {
  metrics.eventOldest.set({}, oldest)
  for (const [state, count] of Object.entries(endpoints)) metrics.eventEndpoints.set({ state }, count)
  for (const one of notifications)
    metrics.notificationOldest.set({ channel: shownChannel(one.channel) }, one.oldest)
}

function showMismatches(metrics: Metrics, { mismatches }: Live): void {
  const ofServices = Map.groupBy(mismatches, ({ service }) => service)
  const services = new Set([...metrics.services.named, ...ofServices.keys()])
  for (const service of services) showAges(metrics, service, ofServices.get(service) ?? [])
  const found = new Set(mismatches.map(({ kind }) => kind))
  for (const [kind, { severity }] of Object.entries(mismatchKinds))
    if (!found.has(kind)) metrics.mismatchesOpen.set({ kind, severity, service: '', network: '' }, 0)
  for (const [first, ...more] of alike(mismatches, ['kind', 'severity', 'service', 'network']))
    metrics.mismatchesOpen.set(first, sum([first, ...more].map(({ count }) => count)))
  for (const [first, ...more] of alike(mismatches, ['kind', 'severity', 'service']))
    metrics.mismatchOldest.set(first, Math.max(...[first, ...more].map(({ oldest }) => oldest)))
}

function showAges(metrics: Metrics, service: string, mismatches: Live['mismatches']): void {
  for (const severity of severities)
    for (const age of mismatchAges) {
      const same = mismatches.filter((one) => one.severity === severity && one.age === age)
      metrics.mismatchesOpenByAge.set({ severity, service, age }, sum(same.map(({ count }) => count)))
    }
}

/** Groups of rows with the same values of these labels. */
function alike<Row>(rows: readonly Row[], labels: readonly (keyof Row)[]): [Row, ...Row[]][] {
  const groups = Map.groupBy(rows, (row) => JSON.stringify(labels.map((label) => row[label])))
  return [...groups.values()].flatMap(([first, ...more]) =>
    first === undefined ? [] : [[first, ...more] satisfies [Row, ...Row[]]],
  )
}

/**
 * A kind without open mismatches has a 0 under an empty service and network, so that an alert sees the first one as an increase.
 */
function showCauses(metrics: Metrics, { causes }: Live): void {
  for (const [kind, { severity, responsible: side }] of Object.entries(mismatchKinds)) {
    if (causes.some((cause) => cause.kind === kind)) continue
    const none = { kind, service: '', network: '', side, severity }
    metrics.causesOpen.set(none, 0)
    showWaiting(metrics, none, 0)
  }
  for (const [first, ...more] of alike(causes, ['kind', 'service', 'network'])) {
    const all = [first, ...more]
    metrics.causesOpen.set(first, all.length)
    showWaiting(metrics, first, all.filter((cause) => cause.callsForPeople).length)
  }
}

type CauseLabels = Pick<Live['causes'][number], 'kind' | 'service' | 'network' | 'side' | 'severity'>

/** One series for each, so that an alert on one does not hide another. */
function showWaiting(metrics: Metrics, labels: CauseLabels, count: number): void {
  for (const [index, nth] of waitingNumbers.entries()) {
    const isLast = index === waitingNumbers.length - 1
    const more = Math.max(count - index, 0)
    if (index === 0 || more > 0)
      metrics.causesWaiting.set({ ...labels, nth }, isLast ? more : Math.min(more, 1))
  }
}

function showStreams(metrics: Metrics, { streams }: Live): void {
  showPolls(metrics, streams)
  for (const { name, age, progress } of streams) {
    const [kind, network = ''] = name.split('/')
    if (name === 'worker' || name === 'scheduler') metrics.beatAge.set({ role: name }, age)
    if (kind !== 'scan') continue
    metrics.chainHeadLag.set({ network }, age)
    metrics.chainFinalBlock.set({ network }, progress.final ?? 0)
    metrics.chainScannedBlock.set({ network }, progress.head ?? 0)
  }
}

/** The age of a poll that never succeeded is 0. A service that is paused or gone has none. */
function showPolls(metrics: Metrics, streams: Live['streams']): void {
  const now = Date.now() / 1000
  const polls = new Map(
    streams.flatMap((stream) => {
      const [kind, service = defaultService] = stream.name.split('/')
      return kind === 'poll' ? [[service, stream] as const] : []
    }),
  )
  for (const service of metrics.services.polled) {
    const poll = polls.get(service)
    metrics.pollAge.set({ service }, Math.max(0, poll?.age ?? 0))
    const { sweptAt = now } = poll?.progress ?? {}
    metrics.pollSweepAge.set({ service }, Math.max(0, now - sweptAt))
  }
}

function showTotals(metrics: Metrics, totals: StoreTotals): void {
  for (const { count, ...labels } of totals.deposits) metrics.deposits.set(labels, count)
  for (const { count, ...labels } of totals.matrix) metrics.matrixCells.set(labels, count)
  for (const labels of totals.assets) metrics.assetInfo.set(labels, 1)
  for (const { units, ...labels } of totals.balances) metrics.ledgerBalance.set(labels, units)
  for (const { units, asset } of totals.imbalances) metrics.ledgerImbalance.set({ asset }, units)
  for (const { ranges, heights, network } of totals.coverageGaps) {
    metrics.chainCoverageGaps.set({ network }, ranges)
    metrics.chainUnreadHeights.set({ network }, heights)
  }
}

function showScores(metrics: Metrics, { service, route, ...scores }: Scores): void {
  const of = { service, route }
  if (scores.duplicates_share !== null) metrics.scorecardDuplicates.set(of, Number(scores.duplicates_share))
  if (scores.completeness !== null) metrics.scorecardCompleteness.set(of, Number(scores.completeness))
  if (scores.fee_share !== null) metrics.scorecardFee.set(of, Number(scores.fee_share))
  const spans = [
    ['p50', scores.delivery_p50_seconds, scores.settle_p50_seconds],
    ['p95', scores.delivery_p95_seconds, scores.settle_p95_seconds],
    ['p99', scores.delivery_p99_seconds, scores.settle_p99_seconds],
  ] as const
  for (const [percentile, delivery, settle] of spans) {
    if (delivery !== null) metrics.scorecardDelivery.set({ ...of, percentile }, delivery)
    if (settle !== null) metrics.scorecardSettle.set({ ...of, percentile }, settle)
  }
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0)
}

function createOpenMetrics(registry: Registry) {
  const open = openRegistry()
  for (const metric of metricsOf(registry)) {
    // For OpenMetrics, the library strips the suffix of counter names permanently, so it gets copies that share the
    // values.
    open.registerMetric(Object.create(metric) as Metric)
  }
  return open
}
