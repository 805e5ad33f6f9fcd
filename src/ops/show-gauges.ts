import type { Metrics } from './metrics.ts'

/** Counts and ages as the database and the queue tell them. */
export type Reading = {
  inbox: { pending: number; oldest: number }
  /** Deliveries kept. */
  quarantine: number
  deposits: readonly { state: string; network: string; count: number }[]
  stages: readonly { stage: string; network: string; oldest: number }[]
  mismatches: readonly { kind: string; severity: string; network: string; count: number; oldest: number }[]
  atRisk: readonly { asset: string; severity: string; units: number }[]
  imbalances: readonly { asset: string; units: number }[]
  sealAge: number
  untied: readonly { control: string; asset: string; units: number }[]
  unexplained: readonly { network: string; asset: string; units: number }[]
  coverageGaps: readonly { network: string; stretches: number }[]
  streams: readonly { name: string; age: number; progress: Readonly<Record<string, number>> }[]
  jobs: Readonly<Record<string, number>>
  scorecard: readonly Scores[]
}

/** How the service did on one route; null is what cannot be told of it. */
export type Scores = {
  route: string
  completeness: string | null
  duplicates: bigint
  delivery_p50_seconds: number | null
  delivery_p95_seconds: number | null
  delivery_p99_seconds: number | null
  settle_p50_seconds: number | null
  settle_p95_seconds: number | null
  settle_p99_seconds: number | null
  fee_share: string | null
}

/** Sets every gauge to what was read now; a label that no longer occurs disappears. */
export function showGauges(metrics: Metrics, reading: Reading): void {
  metrics.inboxPending.set(reading.inbox.pending)
  metrics.inboxOldest.set(reading.inbox.oldest)
  metrics.quarantineDeliveries.set(reading.quarantine)
  metrics.deposits.reset()
  for (const { count, ...labels } of reading.deposits) metrics.deposits.set(labels, count)
  metrics.stageOldest.reset()
  for (const { oldest, ...labels } of reading.stages) metrics.stageOldest.set(labels, oldest)
  metrics.ledgerImbalance.reset()
  for (const { asset, units } of reading.imbalances) metrics.ledgerImbalance.set({ asset }, units)
  metrics.ledgerSealAge.set(reading.sealAge)
  metrics.ledgerUntied.reset()
  for (const { units, ...labels } of reading.untied) metrics.ledgerUntied.set(labels, units)
  metrics.unexplainedBalance.reset()
  for (const { units, ...labels } of reading.unexplained) metrics.unexplainedBalance.set(labels, units)
  metrics.chainCoverageGaps.reset()
  for (const { stretches, network } of reading.coverageGaps)
    metrics.chainCoverageGaps.set({ network }, stretches)
  for (const [state, count] of Object.entries(reading.jobs))
    metrics.queueJobs.set({ queue: 'depositd', state }, count)
  showMismatches(metrics, reading)
  showStreams(metrics, reading)
  showScorecard(metrics, reading)
}

function showMismatches(metrics: Metrics, { mismatches, atRisk }: Reading): void {
  metrics.mismatchesOpen.reset()
  metrics.mismatchOldest.reset()
  metrics.mismatchValue.reset()
  const oldest = Object.groupBy(mismatches, ({ kind, severity }) => `${kind} ${severity}`)
  for (const same of Object.values(oldest)) {
    const [{ kind, severity } = { kind: '', severity: '' }] = same ?? []
    metrics.mismatchOldest.set({ kind, severity }, Math.max(...(same ?? []).map((one) => one.oldest)))
  }
  for (const { kind, severity, network, count } of mismatches) {
    metrics.mismatchesOpen.set({ kind, severity, network }, count)
  }
  for (const { units, ...labels } of atRisk) metrics.mismatchValue.set(labels, units)
}

function showPoll(metrics: Metrics, { age, progress }: Omit<Reading['streams'][number], 'name'>): void {
  metrics.pollAge.set(age)
  if (progress.sweptAt !== undefined)
    metrics.pollSweepAge.set(Math.max(0, Date.now() / 1000 - progress.sweptAt))
}

function showStreams(metrics: Metrics, { streams }: Reading): void {
  for (const { name, age, progress } of streams) {
    const [kind, network = ''] = name.split('/')
    if (kind === 'poll') showPoll(metrics, { age, progress })
    if (kind !== 'scan') continue
    metrics.chainHeadLag.set({ network }, age)
    metrics.chainFinalBlock.set({ network }, progress.final ?? 0)
    metrics.chainScannedBlock.set({ network }, progress.head ?? 0)
  }
}

function showScorecard(metrics: Metrics, { scorecard }: Reading): void {
  const { scorecardCompleteness, scorecardDelivery, scorecardSettle, scorecardDuplicates, scorecardFee } =
    metrics
  const gauges = [
    scorecardCompleteness,
    scorecardDelivery,
    scorecardSettle,
    scorecardDuplicates,
    scorecardFee,
  ]
  for (const one of gauges) one.reset()
  for (const { route, ...scores } of scorecard) {
    scorecardDuplicates.set({ route }, Number(scores.duplicates))
    if (scores.completeness !== null) scorecardCompleteness.set({ route }, Number(scores.completeness))
    if (scores.fee_share !== null) scorecardFee.set({ route }, Number(scores.fee_share))
    const spans = [
      ['0.5', scores.delivery_p50_seconds, scores.settle_p50_seconds],
      ['0.95', scores.delivery_p95_seconds, scores.settle_p95_seconds],
      ['0.99', scores.delivery_p99_seconds, scores.settle_p99_seconds],
    ] as const
    for (const [quantile, delivery, settle] of spans) {
      if (delivery !== null) scorecardDelivery.set({ route, quantile }, delivery)
      if (settle !== null) scorecardSettle.set({ route, quantile }, settle)
    }
  }
}
