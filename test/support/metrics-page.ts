import { type LagStage, type Milestones, stages } from '../../src/core/lag.ts'
import { type MetricUnit, other, type Values } from '../../src/ops/metrics/declare.ts'
import { metricDescriptions } from '../../src/ops/metrics.ts'
import { markdownTable } from './markdown.ts'

const milestones: Record<keyof Milestones, string> = {
  depositedAt: 'time of the block that holds the payment',
  webhookAt: 'the first webhook about the deposit was received',
  apiAt: "the API's first record of the deposit was received",
  chainAt: 'the payment was first read on its chain',
  finalAt: 'the payment was first read as final',
  settledAt: 'the delivery was proved: read as final at the recipient, or recorded as credited by the API',
  reconciledAt: 'all required sources first agreed',
}

type StageText = {
  /** Of a stage that is not measured between two milestones of a deposit. */
  between?: readonly [string, string]
  /** Since when a deposit that has not completed the stage counts as waiting. */
  openSince: string
}

const stageTexts: Record<LagStage, StageText> = {
  delivery: {
    between: ["the event's own `created_at`", 'the webhook was received'],
    openSince: 'the first evidence of a step that should have a webhook and has none',
  },
  apply: {
    between: ['the observation was stored', 'it was applied'],
    openSince: 'the oldest observation that is not applied was stored; its network is unknown until then',
  },
  api_detection: { openSince: 'the block of the payment; the first webhook if no chain shows it' },
  chain_detection: { openSince: 'the first webhook or record' },
  finality: { openSince: 'the block of the payment' },
  settlement: { openSince: 'the payment was read as final' },
  reconciliation: {
    openSince: 'the block of the payment; the first webhook or record if no chain shows it',
  },
}

/** `docs/metrics.md`: every metric, from the declarations that create them. */
export function metricsPage(): string {
  const histograms = metricDescriptions.filter(({ buckets }) => buckets !== undefined)
  return [
    `<!-- Made from src/ops/metrics/ and src/core/lag.ts by test/support/generate-docs.ts. Change it there. -->\n`,
    '# Metrics\n',
    `\`GET /metrics\` on \`OPS_PORT\` answers in the Prometheus text format, or in OpenMetrics if the request's \`Accept\` prefers
\`application/openmetrics-text\`; values are the same in both. Node's own metrics (\`process_*\`, \`nodejs_*\`) are included.\n`,
    '## All metrics\n',
    markdownTable(['Name', 'Type', 'Unit', 'Labels', 'Meaning'], metricDescriptions.map(metricRow)),
    ...aggregation,
    ...freshness,
    '## Labels\n',
    `A label has one of the values below, or \`${other}\`. Open lists take that many values, those of the settings first;
later or overlong values are \`${other}\`, so that no sender can create series without end. Under \`${other}\`, counts and amounts
are summed, and the highest age is shown. Counters and histograms start at 0 for all combinations of known values, if there are
at most 100, so that the first event is an increase.\n`,
    markdownTable(['Label', 'Of', 'Values'], labelRows()),
    '## Exemplars\n',
    `In OpenMetrics, each bucket of a histogram may name the event of its newest value. Prometheus keeps it with
\`--enable-feature=exemplar-storage\`. \`depositd_stage_lag_seconds\` has \`deposit_id\`, the number that
\`bin/depositd deposits show\` takes, or \`inbox\` for \`delivery\` and \`apply\`, the row of the inbox as in the log.
\`depositd_webhook_ack_seconds\` has \`webhook\`, the sender's id of the event, if it is known, and \`trace_id\` if requests are
traced.\n`,
    '## Buckets\n',
    markdownTable(
      ['Histogram', 'Upper bounds in seconds'],
      histograms.map(({ name, buckets = [] }) => [`\`${name}\``, buckets.join(', ')]),
    ),
    `Bounds are written as \`le="60"\`. Prometheus 3 stores them as \`le="60.0"\`; to match both, a query uses
\`le=~"60(\\\\.0)?"\`.\n`,
    '## Stages\n',
    `\`depositd_stage_lag_seconds\` observes a stage once it is complete. \`depositd_stage_oldest_open_seconds\` shows how long the oldest
deposit has waited for it, because a histogram alone hides stuck deposits. Clocks differ between machines: a stage that seems to
end before it began took 0 s. Deposits in the states \`observed\`, \`confirmed\`, \`settling\` and \`settled\` count as waiting,
except those whose payment was written off.\n`,
    markdownTable(['Stage', 'From', 'To', 'Waiting since'], Object.entries(stageTexts).map(stageRow)),
    `The label \`network\` is the network of the payment; for \`apply\`, that of the observation.\n`,
  ].join('\n')
}

const aggregation = [
  '## Several replicas\n',
  `Counters and histograms count what one process did: \`sum\` them over the replicas.\n`,
  markdownTable(
    ['Wanted', 'Query'],
    [
      ['Webhooks per second', '`sum by (outcome) (rate(depositd_webhook_requests_total[5m]))`'],
      [
        '95 of 100 deposits are final within',
        '`histogram_quantile(0.95, sum by (le, network) (rate(depositd_stage_lag_seconds_bucket{stage="finality"}[1h])))`',
      ],
      [
        'Open mismatches',
        '`sum by (severity) (max by (kind, severity, network) (depositd_mismatches_open))`',
      ],
      ['Oldest open', '`max by (stage, network) (depositd_stage_oldest_open_seconds)`'],
      ['Worst of the nodes', '`min by (network, node) (depositd_rpc_node_score)`'],
    ],
  ),
  `Gauges are read from the database or the queue and are the same in every replica: take the \`max\` first, never the sum. Only
processes with the role \`worker\` have the gauges of the parts \`totals\` and \`scorecard\`. These gauges are of one process:
\`depositd_build_info\`, \`depositd_webhooks_unsigned\`, \`depositd_gauges_readable\`, \`depositd_gauges_age_seconds\` and
\`depositd_rpc_node_score\`.\n`,
]

const freshness = [
  '## How fresh, and at what cost\n',
  `A scrape reads the gauges in four independent parts: \`live\` (open and waiting work), \`totals\` (numbers of deposits, and the books),
\`scorecard\` and \`queue\`. Simultaneous scrapes of one process share a reading. If reading a part takes longer than
30 ms, the result is used for 400 times as long (\`live\`, at most half a minute, and \`queue\`, at most a minute) or 600 times as
long (\`totals\` and \`scorecard\`, at most two minutes). So within these bounds, a part takes at most that share of one processor of
Postgres ([benchmarks](internals/benchmarks.md#scrape)). Each part takes one of three read-only connections. A scrape during a
new reading waits for at most 25 ms and then gets the previous result; \`depositd_gauges_age_seconds\` is its age. Ages of waiting
work are as of the scrape all the same.

\`depositd_matrix_cells\` and the scorecard are of whole hours, from the one in which the last 24 hours begin. They come from sums that
are kept as deposits change. Durations and duplicates of the scorecard are those of at most 20,000 deposits, of each hour the same
share. The 63 routes with the most deposits are shown separately, beside \`all\`.\n`,
  `A value that is not a number is left out alone, and \`depositd_gauges_readable\` of its part is 0. A part that cannot be read
within 5 s is left out as a whole: \`depositd_gauges_readable\` is 0, and the log has the reason. The answer is still 200: the
process's own counts, such as refused webhooks, are available while the database is down.\n`,
]

const unitNames: Record<MetricUnit, string> = {
  seconds: 'seconds',
  ratio: 'ratio',
  units: 'units of the asset',
  height: 'block height',
  flag: '0 or 1',
  count: 'count',
}

function metricRow({ name, type, unit, labels, help }: (typeof metricDescriptions)[number]): string[] {
  return [`\`${name}\``, type, unitNames[unit], labels.map((label) => `\`${label}\``).join(' '), help]
}

/** Labels of the same name and values together. */
function labelRows(): string[][] {
  const all = metricDescriptions.flatMap(({ name, values }) =>
    Object.entries(values).map(([label, allowed]) => ({ label, name, says: valuesText(allowed) })),
  )
  return [...Map.groupBy(all, ({ label, says }) => `${label} ${says}`).values()]
    .toSorted(([left], [right]) => ((left?.label ?? '') < (right?.label ?? '') ? -1 : 1))
    .map((same) => [
      `\`${same[0]?.label}\``,
      same.map(({ name }) => `\`${name}\``).join(' '),
      same[0]?.says ?? '',
    ])
}

function valuesText(values: Values): string {
  return 'set' in values ? `open, ${values.upTo} of them` : values.map((value) => `\`${value}\``).join(' ')
}

function stageRow([stage, { between, openSince }]: [string, StageText]): string[] {
  const known = stages[stage as LagStage]
  const [from, to] =
    known === undefined ? (between ?? ['', '']) : [milestones[known.from], milestones[known.to]]
  return [`\`${stage}\``, from, to, openSince]
}
