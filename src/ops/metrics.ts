import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { mismatchKinds } from '../core/mismatch.ts'

/** From a tenth of a second to a week: webhooks take the low end, finality and settlement the high one. */
const lagBuckets = [
  0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 21_600, 86_400, 604_800,
]
const requestBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15]

const prefix = 'depositd_'

/** Every metric, declared once, without the prefix. Labels are few and closed; ids belong in the log. */
const declared = {
  build: gauge('build_info', 'Always 1; the label names the version.', ['version']),
  webhooks: counter('webhook_requests_total', 'Webhook requests by how they were answered.', ['outcome']),
  webhooksUnsigned: gauge('webhooks_unsigned', '1 while webhooks are taken without a signature.'),
  webhookSettings: counter(
    'webhook_settings_total',
    'Changes of the settings of webhooks, by whether they could be used.',
    ['outcome'],
  ),
  webhookAck: histogram('webhook_ack_seconds', 'From a request to its answer, commit included.', {
    labels: [],
    buckets: requestBuckets,
  }),
  quarantineDeliveries: gauge('quarantine_deliveries', 'Deliveries that failed verification and are kept.'),
  quarantineDropped: counter(
    'quarantine_dropped_total',
    'Deliveries that failed verification and were not kept: too many of one sender, or more than the database took.',
    ['reason'],
  ),
  inboxPending: gauge('inbox_pending', 'Observations stored and not applied yet.'),
  inboxOldest: gauge('inbox_oldest_seconds', 'Age of the oldest observation not applied yet.'),
  queueJobs: gauge('queue_jobs', 'Jobs in the queue.', ['queue', 'state']),
  stageLag: histogram('stage_lag_seconds', 'How long a completed stage took.', {
    labels: ['stage', 'network'],
    buckets: lagBuckets,
  }),
  stageOldest: gauge(
    'stage_oldest_open_seconds',
    'How long the oldest deposit has waited for a stage to complete.',
    ['stage', 'network'],
  ),
  pollAge: gauge('poll_age_seconds', "Since the service's records were last read completely."),
  pollRequests: counter('poll_requests_total', "Requests to the service's API by how they ended.", [
    'outcome',
  ]),
  pollDrifts: counter(
    'poll_drifts_total',
    'Times that records shifted between pages while they were read.',
    [],
  ),
  pollSweepAge: gauge(
    'poll_sweep_age_seconds',
    "Since the last complete reading of all the service's records began.",
  ),
  chainHeadLag: gauge('chain_head_lag_seconds', 'Since the network was last read on.', ['network']),
  chainFinalBlock: gauge('chain_final_block', 'Height up to which everything final was read.', ['network']),
  chainScannedBlock: gauge('chain_scanned_block', 'Newest height the node knew at the last scan.', [
    'network',
  ]),
  chainReorgs: counter('chain_reorgs_total', 'Times that history read as final had changed.', ['network']),
  chainCoverageGaps: gauge(
    'chain_coverage_gaps',
    'Stretches of heights that were not read for some watched addresses.',
    ['network'],
  ),
  rpcRequests: counter('rpc_requests_total', 'Requests to nodes by how they ended.', [
    'network',
    'method',
    'outcome',
  ]),
  rpcNodeScore: gauge(
    'rpc_node_score',
    'How well a node does: 1 answers at once and never fails. Those that are not asked keep their last one.',
    ['network', 'node'],
  ),
  rpcSeconds: histogram('rpc_seconds', 'Duration of requests to nodes.', {
    labels: ['network', 'method'],
    buckets: requestBuckets,
  }),
  deposits: gauge('deposits', 'Deposits by state.', ['state', 'network']),
  mismatchesOpen: gauge(
    'mismatches_open',
    `Open mismatches: neither cleared by evidence nor resolved by a person. ${kindsBySeverity()}`,
    ['kind', 'severity', 'network'],
  ),
  mismatchesOpened: counter('mismatches_opened_total', 'Mismatches opened, or opened again.', [
    'kind',
    'severity',
    'network',
  ]),
  mismatchesResolved: counter(
    'mismatches_resolved_total',
    'Mismatches that ended: by evidence, or by a person.',
    ['kind', 'how'],
  ),
  mismatchOldest: gauge('mismatch_oldest_seconds', 'Age of the oldest open mismatch.', ['kind', 'severity']),
  mismatchValue: gauge('mismatch_value', 'Value under open mismatches, in units of the asset; approximate.', [
    'asset',
    'severity',
  ]),
  ledgerImbalance: gauge(
    'ledger_imbalance',
    'Sum of all entries of an asset; anything but 0 is an emergency.',
    ['asset'],
  ),
  ledgerUntied: gauge(
    'ledger_untied',
    'What the audit found wrong in the books of an asset beside their sum, in units of the asset: in_transit, left of deposits that are closed; tie_out, not agreeing with proved balances.',
    ['control', 'asset'],
  ),
  ledgerSealAge: gauge(
    'ledger_seal_age_seconds',
    'For how long the oldest journal that no seal is over has waited for one; 0 where all are sealed.',
  ),
  unexplainedBalance: gauge(
    'unexplained_balance',
    'What balances of deposit addresses changed by beyond what is known, in units of the asset; approximate.',
    ['network', 'asset'],
  ),
  scorecardCompleteness: gauge(
    'scorecard_completeness_ratio',
    'Of the steps that API or chain know of the last 24 hours of deposits, the share that webhooks told of.',
    ['route'],
  ),
  scorecardDelivery: gauge(
    'scorecard_delivery_seconds',
    'From an event to its webhook, of the last 24 hours of deposits.',
    ['route', 'quantile'],
  ),
  scorecardSettle: gauge(
    'scorecard_settle_seconds',
    'From a final payment to its proved delivery, of the last 24 hours of deposits.',
    ['route', 'quantile'],
  ),
  scorecardDuplicates: gauge(
    'scorecard_duplicates',
    'Webhooks that came again, of the last 24 hours of deposits.',
    ['route'],
  ),
  scorecardFee: gauge(
    'scorecard_fee_ratio',
    'Stated fee by delivered and fee together, of the last 24 hours of deposits; approximate.',
    ['route'],
  ),
  jobFailures: counter('job_failures_total', 'Runs of a job that failed.', ['name']),
}

type Declared = typeof declared
export type Metrics = { [Name in keyof Declared]: ReturnType<Declared[Name]> } & { registry: Registry }

export type MetricDescription = {
  type: 'counter' | 'gauge' | 'histogram'
  name: string
  help: string
  labels: readonly string[]
  /** Upper bounds of a histogram's buckets. */
  buckets?: readonly number[]
}

/** What is declared, for documentation. */
export const metricDescriptions: readonly MetricDescription[] = Object.values(declared).map(
  ({ description }) => description,
)

/** The metrics of one process, with Node's own. */
export function createMetrics(version: string): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const metrics = Object.entries(declared).map(([name, create]) => [name, create(registry)])
  const created = { ...(Object.fromEntries(metrics) as Omit<Metrics, 'registry'>), registry }
  created.build.set({ version }, 1)
  return created
}

function counter<Label extends string>(suffix: string, help: string, labels: readonly Label[]) {
  const name = prefix + suffix
  return describedBy({ type: 'counter', name, help, labels }, (registry) => {
    return new Counter({ name, help, labelNames: labels, registers: [registry] })
  })
}

function gauge<Label extends string>(suffix: string, help: string, labels: readonly Label[] = []) {
  const name = prefix + suffix
  return describedBy({ type: 'gauge', name, help, labels }, (registry) => {
    return new Gauge({ name, help, labelNames: labels, registers: [registry] })
  })
}

type Shape<Label extends string> = { labels: readonly Label[]; buckets: number[] }

function histogram<Label extends string>(suffix: string, help: string, { labels, buckets }: Shape<Label>) {
  const name = prefix + suffix
  return describedBy({ type: 'histogram', name, help, labels, buckets }, (registry) => {
    return new Histogram({ name, help, labelNames: labels, buckets, registers: [registry] })
  })
}

function describedBy<Metric>(description: MetricDescription, create: (registry: Registry) => Metric) {
  return Object.assign(create, { description })
}

function kindsBySeverity(): string {
  const kinds = Map.groupBy(Object.entries(mismatchKinds), ([, { severity }]) => severity)
  return [...kinds]
    .map(([severity, all]) => `${severity}: ${all.map(([kind]) => kind).join(', ')}.`)
    .join(' ')
}
