import type { RequestHandler } from 'express'
import type { Metric, Registry } from 'prom-client'
import { mismatchKinds } from '../core/mismatch.ts'
import { severities } from '../core/mismatches/kind-entry.ts'
import type { StoreTotals } from '../store/gauges.ts'
import type { GaugesReader, GaugeValues, Live, ReportedGauges, Scores } from './gauges.ts'
import { type ReadingPart, readingParts } from './metrics/daemon.ts'
import { mismatchAges, waitingNumbers } from './metrics/deposits.ts'
import { type Metrics, metricsOf, openRegistry } from './metrics.ts'

/**
 * Gauges that could not be read are left out, because an old value must not pass for a current one. Scrapers that
 * accept OpenMetrics get it, because it has exemplars.
 */
export function serveMetrics({ metrics, read }: { metrics: Metrics; read: GaugesReader }): RequestHandler {
  const openMetrics = createOpenMetrics(metrics.registry)
  return async (request, response) => {
    const { accept = '' } = request.headers
    const registry = /application\/openmetrics-text/i.test(accept) ? openMetrics : metrics.registry
    showGauges(metrics, await read())
    response
      .set('vary', 'Accept')
      .type(registry.contentType)
      .send(await registry.metrics())
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
  metrics.quarantineDeliveries.set({}, live.quarantine)
  for (const { oldest, unnamed, ...labels } of live.stages) {
    metrics.stageOldest.set(labels, oldest)
    if (unnamed !== null) metrics.stageOldestUnnamed.set(labels, unnamed)
  }
  metrics.ledgerSealAge.set({}, live.sealAge)
  for (const { units, ...labels } of live.untied) metrics.ledgerUntied.set(labels, units)
  for (const { units, ...labels } of live.unexplained) metrics.unexplainedBalance.set(labels, units)
  for (const { units, ...labels } of live.atRisk) metrics.mismatchValue.set(labels, units)
  showMismatches(metrics, live)
  showCauses(metrics, live)
  showStreams(metrics, live)
}

function showMismatches(metrics: Metrics, { mismatches }: Live): void {
  for (const severity of severities)
    for (const age of mismatchAges) {
      const same = mismatches.filter((one) => one.severity === severity && one.age === age)
      metrics.mismatchesOpenByAge.set({ severity, age }, sum(same.map(({ count }) => count)))
    }
  const found = new Set(mismatches.map(({ kind }) => kind))
  for (const [kind, { severity }] of Object.entries(mismatchKinds))
    if (!found.has(kind)) metrics.mismatchesOpen.set({ kind, severity, network: '' }, 0)
  const ofNetworks = Map.groupBy(mismatches, (one) => `${one.kind} ${one.severity} ${one.network}`)
  for (const [first, ...more] of ofNetworks.values())
    if (first !== undefined)
      metrics.mismatchesOpen.set(first, sum([first, ...more].map(({ count }) => count)))
  const ofKinds = Map.groupBy(mismatches, ({ kind, severity }) => `${kind} ${severity}`)
  for (const [first, ...more] of ofKinds.values())
    if (first !== undefined)
      metrics.mismatchOldest.set(first, Math.max(...[first, ...more].map(({ oldest }) => oldest)))
}

/**
 * A kind without open mismatches has a 0 under an empty network, so that an alert sees the first one as an increase.
 */
function showCauses(metrics: Metrics, { causes }: Live): void {
  for (const [kind, { severity, responsible: side }] of Object.entries(mismatchKinds)) {
    if (causes.some((cause) => cause.kind === kind)) continue
    const none = { kind, service: 'default', network: '', side, severity }
    metrics.causesOpen.set(none, 0)
    showWaiting(metrics, none, 0)
  }
  const alike = Map.groupBy(causes, (one) => `${one.kind} ${one.service} ${one.network}`)
  for (const [first, ...more] of alike.values()) {
    if (first === undefined) continue
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
  showPoll(
    metrics,
    streams.filter(({ name }) => name === 'poll' || name.startsWith('poll/')),
  )
  for (const { name, age, progress } of streams) {
    const [kind, network = ''] = name.split('/')
    if (name === 'worker' || name === 'scheduler') metrics.beatAge.set({ role: name }, age)
    if (kind !== 'scan') continue
    metrics.chainHeadLag.set({ network }, age)
    metrics.chainFinalBlock.set({ network }, progress.final ?? 0)
    metrics.chainScannedBlock.set({ network }, progress.head ?? 0)
  }
}

/** Of several services, that of the oldest. The age of a poll that never succeeded is 0. */
function showPoll(metrics: Metrics, polls: Live['streams']): void {
  metrics.pollAge.set({}, Math.max(0, ...polls.map(({ age }) => age)))
  const now = Date.now() / 1000
  const sweptAges = polls.flatMap(({ progress: { sweptAt } }) =>
    sweptAt === undefined ? [] : [now - sweptAt],
  )
  metrics.pollSweepAge.set({}, Math.max(0, ...sweptAges))
}

function showTotals(metrics: Metrics, totals: StoreTotals): void {
  for (const { count, ...labels } of totals.deposits) metrics.deposits.set(labels, count)
  for (const { count, ...labels } of totals.matrix) metrics.matrixCells.set(labels, count)
  for (const labels of totals.assets) metrics.assetInfo.set(labels, 1)
  for (const { units, ...labels } of totals.balances) metrics.ledgerBalance.set(labels, units)
  for (const { units, asset } of totals.imbalances) metrics.ledgerImbalance.set({ asset }, units)
  for (const { ranges, network } of totals.coverageGaps) metrics.chainCoverageGaps.set({ network }, ranges)
}

function showScores(metrics: Metrics, { route, ...scores }: Scores): void {
  metrics.scorecardDuplicates.set({ route }, Number(scores.duplicates))
  if (scores.completeness !== null) metrics.scorecardCompleteness.set({ route }, Number(scores.completeness))
  if (scores.fee_share !== null) metrics.scorecardFee.set({ route }, Number(scores.fee_share))
  const spans = [
    ['p50', scores.delivery_p50_seconds, scores.settle_p50_seconds],
    ['p95', scores.delivery_p95_seconds, scores.settle_p95_seconds],
    ['p99', scores.delivery_p99_seconds, scores.settle_p99_seconds],
  ] as const
  for (const [percentile, delivery, settle] of spans) {
    if (delivery !== null) metrics.scorecardDelivery.set({ route, percentile }, delivery)
    if (settle !== null) metrics.scorecardSettle.set({ route, percentile }, settle)
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
