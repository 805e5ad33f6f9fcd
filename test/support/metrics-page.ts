import { type LagStage, type Milestones, stages } from '../../src/core/lag.ts'
import type { MetricUnit } from '../../src/ops/metrics/declare.ts'
import { other, type Values } from '../../src/ops/metrics/label-values.ts'
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
  /** Since when who has not completed the stage counts as waiting. */
  openSince: string
}

const stageTexts: Record<LagStage, StageText> = {
  delivery: {
    between: ["the event's own `created_at`", 'the webhook was received'],
    openSince: 'the API or the chain first knew of a step that webhooks are to tell of and none has told of',
  },
  apply: {
    between: ['the observation was stored', 'it was applied'],
    openSince: 'the oldest observation that is not applied was stored; its network is not known before',
  },
  api_detection: { openSince: 'the block of the payment; the first webhook where no chain has it' },
  chain_detection: { openSince: 'the first webhook or record' },
  finality: { openSince: 'the block of the payment' },
  settlement: { openSince: 'the payment was read as final' },
  reconciliation: {
    openSince: 'the block of the payment; the first webhook or record where no chain has it',
  },
}

/** `docs/metrics.md`: every metric, from the declarations that create them. */
export function metricsPage(): string {
  const histograms = metricDescriptions.filter(({ buckets }) => buckets !== undefined)
  return [
    `<!-- Made from src/ops/metrics/ and src/core/lag.ts by test/support/generate-docs.ts. Change it there. -->\n`,
    '# Metrics\n',
    `\`GET /metrics\` on \`OPS_PORT\` answers in the Prometheus text format, or in OpenMetrics where the request's \`Accept\`
prefers \`application/openmetrics-text\`; values are the same in both. Node's own metrics (\`process_*\`, \`nodejs_*\`) are
there too.\n`,
    '## All metrics\n',
    markdownTable(['Name', 'Type', 'Unit', 'Labels', 'Meaning'], metricDescriptions.map(metricRow)),
    ...aggregation,
    ...freshness,
    '## Labels\n',
    `A label says one of the values below. What is in no list is \`${other}\`. Lists that are open take so many values in one
process, those of the settings first; what comes later, or is longer than a name, is \`${other}\`, so that nothing that is
sent can make series without end. Under \`${other}\` counts and amounts are added up, and of ages the highest is shown.
Counters and histograms start at 0 for all combinations of values that are known beforehand, where these are at most 100: the
first event is an increase.\n`,
    markdownTable(['Label', 'Of', 'Values'], labelRows()),
    '## Exemplars\n',
    `In OpenMetrics each bucket of a histogram may carry what its newest value was measured on. Prometheus keeps it with
\`--enable-feature=exemplar-storage\`. \`depositd_stage_lag_seconds\` has \`deposit_id\`, the number that
\`bin/depositd deposits show\` takes, or for \`delivery\` and \`apply\` the row of the inbox as the log names it, \`inbox\`.
\`depositd_webhook_ack_seconds\` has \`webhook\`, the sender's id of the event, where it is known, and \`trace_id\` where
requests are traced.\n`,
    '## Buckets\n',
    markdownTable(
      ['Histogram', 'Upper bounds in seconds'],
      histograms.map(({ name, buckets = [] }) => [`\`${name}\``, buckets.join(', ')]),
    ),
    `Bounds are written as \`le="60"\`. Prometheus 3 stores them as \`le="60.0"\`; a query that is to hold for both says
\`le=~"60(\\\\.0)?"\`.\n`,
    '## Stages\n',
    `A stage is a part of a deposit's way. \`depositd_stage_lag_seconds\` observes a stage once it is complete, and
\`depositd_stage_oldest_open_seconds\` shows how long the oldest has been waiting for it: a histogram alone hides what is
stuck. Clocks differ between machines: what seems to end before it began took 0 s. Deposits in the states \`observed\`,
\`confirmed\`, \`settling\` and \`settled\` count as waiting; one whose payment was written off waits for nothing.\n`,
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
  `Gauges are read from the database or the queue and are the same in every replica: take the \`max\`, never the sum, before
anything else is done with them. A process without the role \`worker\` leaves out those of the parts \`totals\` and
\`scorecard\`, which workers tell. Those of one process alone are \`depositd_build_info\`, \`depositd_webhooks_unsigned\`,
\`depositd_gauges_readable\`, \`depositd_gauges_age_seconds\` and \`depositd_rpc_node_score\`.\n`,
]

const freshness = [
  '## How fresh, and at what cost\n',
  `A scrape reads the gauges in four parts, each for itself: \`live\` (what is open or waits), \`totals\` (what is counted or
added up over all that is stored), \`scorecard\` and \`queue\`. Those who scrape one process at the same time share an answer and a
reading. A part that takes longer than 30 ms to read is used again for 400 times as long as that took (\`live\`, half a
minute at most, and \`queue\`, a minute at most) or 600 times (\`totals\` and \`scorecard\`, two minutes at most), so that within
these bounds it takes no more than such a share of one processor of Postgres; a part takes one connection, and there are three for them, through which nothing
can be written ([benchmarks](internals/benchmarks.md#scrape) tell what that costs). Whoever scrapes while a part is being read anew
waits for it 25 ms at most, and is then told what was read before; \`depositd_gauges_age_seconds\` says how old it is. Ages of
what waits are told as of the scrape all the same. The 63 routes of most deposits are told apart beside \`all\`.\n`,
  `A figure that is none, like an empty one, is left out alone; \`depositd_gauges_readable\` of its part is 0 then, too. What cannot be read, or takes longer than 5 s, is left out of the answer, \`depositd_gauges_readable\` of the part is 0, and
the log says why. The answer is 200 all the same: what the process counted, like webhooks that it had to refuse, is told
while the database is down.\n`,
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
