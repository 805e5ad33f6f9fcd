import { type Milestones, type Stage, stages } from '../../src/core/lag.ts'
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
  /** Since when a deposit that has not completed the stage counts as waiting, where it does. */
  openSince: string | null
}

const stageTexts: Record<Stage, StageText> = {
  delivery: { between: ["the event's own `created_at`", 'the webhook was received'], openSince: null },
  apply: { between: ['the observation was stored', 'it was applied'], openSince: null },
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
    `<!-- Made from src/ops/metrics.ts and src/core/lag.ts by test/support/generate-docs.ts. Change it there. -->\n`,
    '# Metrics\n',
    `\`GET /metrics\` on \`OPS_PORT\` answers in the Prometheus text format. Durations and ages are in seconds. Node's own
metrics (\`process_*\`, \`nodejs_*\`) are there too.\n`,
    `Counters and histograms count what one process did: sum them over the replicas. All other gauges but
\`depositd_build_info\` are read from the database or the queue at each scrape and are the same in every replica: take
the \`max\`, never the sum.\n`,
    '## All metrics\n',
    markdownTable(['Name', 'Type', 'Labels', 'Meaning'], metricDescriptions.map(metricRow)),
    '## Buckets\n',
    markdownTable(
      ['Histogram', 'Upper bounds in seconds'],
      histograms.map(({ name, buckets = [] }) => [`\`${name}\``, buckets.join(', ')]),
    ),
    '## Stages\n',
    `A stage is a part of a deposit's way. \`depositd_stage_lag_seconds\` observes a stage once it is complete, and
\`depositd_stage_oldest_open_seconds\` shows how long the oldest deposit has been waiting for it: a histogram alone hides
what is stuck. Clocks differ between machines: what seems to end before it began took 0 s. Deposits in the states
\`observed\`, \`confirmed\`, \`settling\` and \`settled\` count as waiting.\n`,
    markdownTable(['Stage', 'From', 'To', 'Waiting since'], Object.entries(stageTexts).map(stageRow)),
    `The label \`network\` is the network of the payment; for \`apply\`, that of the observation. What waits for \`apply\` is
\`depositd_inbox_pending\` and \`depositd_inbox_oldest_seconds\`.\n`,
  ].join('\n')
}

function metricRow({ name, type, labels, help }: (typeof metricDescriptions)[number]): string[] {
  return [`\`${name}\``, type, labels.map((label) => `\`${label}\``).join(' '), help]
}

function stageRow([stage, { between, openSince }]: [string, StageText]): string[] {
  const known = stages[stage as Stage]
  const [from, to] =
    known === undefined ? (between ?? ['', '']) : [milestones[known.from], milestones[known.to]]
  return [`\`${stage}\``, from, to, openSince ?? 'not shown']
}
