import { createMetrics } from '../../src/ops/metrics.ts'
import { recordings } from '../support/alert-rules.ts'

/** What an expression reads: names of series, and the labels it matches, groups by and keeps. */
export type Reads = { series: string[]; labels: string[]; kept: string[] }

const keywords = new Set(['and', 'or', 'unless', 'offset', 'bool', 'group_left', 'group_right'])

/** Takes a PromQL expression apart as far as names go: whatever is no call and no keyword is a series. */
export function readPromql(expression: string): Reads {
  const text = expression.replace(/"[^"]*"/g, '""').replace(/\$\w+/g, ' ')
  const matched = capture(text, /\{([^}]*)\}/g).flatMap((inside) => capture(inside, /(\w+)\s*[=!]/g))
  const kept = keptIn(text)
  const bare = text
    .replace(/\{[^}]*\}|\[[^\]]*\]/g, ' ')
    .replace(/\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, ' ')
  const series = capture(bare, /\b([a-zA-Z_:][\w:]*)\b(?!\s*\()/g).filter((word) => !keywords.has(word))
  const ofRecordings = series.flatMap((name) => (name.includes(':') ? (added.get(name) ?? []) : []))
  return { series, labels: [...matched, ...kept], kept: [...kept, ...ofRecordings] }
}

function keptIn(expression: string): string[] {
  return capture(expression, /\b(?:by|group_left|group_right)\s*\(([^)]*)\)/g)
    .flatMap((inside) => inside.split(','))
    .map((one) => one.trim())
    .filter((one) => one !== '')
}

/** What Prometheus itself adds: whether a target answers, which alerts fire, and what the rules record. */
const added = new Map<string, readonly string[]>([
  ['up', ['job', 'instance', 'daemon']],
  ['ALERTS', ['alertname', 'alertstate', 'severity']],
  ...recordings.map(({ record, expr, labels }): [string, string[]] => [
    record,
    [...Object.keys(labels), ...keptIn(expr)],
  ]),
])

/** What in an expression neither a metric of the program nor Prometheus explains. */
export function unknownSeries(expression: string): string[] {
  const { series, labels } = readPromql(expression)
  const known = new Set(
    series.flatMap((name) => [...(declaredSeries.get(name) ?? added.get(name) ?? []), 'instance']),
  )
  return [
    ...series.filter((name) => !declaredSeries.has(name) && !added.has(name) && !ofNode.has(name)),
    ...labels.filter((label) => !known.has(label)),
  ]
}

/** Every series a scrape can give, Node's own left out, with its labels. */
export const declaredSeries: ReadonlyMap<string, readonly string[]> = new Map(
  createMetrics('test')
    .registry.getMetricsAsArray()
    .filter(({ name }) => name.startsWith('depositd_'))
    .flatMap((metric): [string, readonly string[]][] => {
      const labels = labelsOf(metric)
      // The type is a word in the running library and a number in its declarations.
      if (String(metric.type) !== 'histogram') return [[metric.name, labels]]
      return [
        [`${metric.name}_bucket`, [...labels, 'le']],
        [`${metric.name}_sum`, labels],
        [`${metric.name}_count`, labels],
      ]
    }),
)

/** What Node tells of itself in every scrape. */
const ofNode: ReadonlySet<string> = new Set(
  createMetrics('test')
    .registry.getMetricsAsArray()
    .map(({ name }) => name)
    .filter((name) => !name.startsWith('depositd_')),
)

function labelsOf(metric: object): string[] {
  return 'labelNames' in metric && Array.isArray(metric.labelNames) ? metric.labelNames.map(String) : []
}

function capture(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, found = '']) => found)
}
