import { createMetrics } from '../../src/ops/metrics.ts'

/** What an expression reads: names of series, and the labels it matches, groups by and keeps. */
export type Reads = { series: string[]; labels: string[]; kept: string[] }

const keywords = new Set(['and', 'or', 'unless', 'offset', 'bool', 'group_left', 'group_right'])

/** Takes a PromQL expression apart as far as names go: whatever is no call and no keyword is a series. */
export function readPromql(expression: string): Reads {
  const text = expression.replace(/"[^"]*"/g, '""')
  const matched = capture(text, /\{([^}]*)\}/g).flatMap((inside) => capture(inside, /(\w+)\s*[=!]/g))
  const kept = capture(text, /\bby\s*\(([^)]*)\)/g)
    .flatMap((inside) => inside.split(','))
    .map((one) => one.trim())
  const bare = text
    .replace(/\{[^}]*\}|\[[^\]]*\]/g, ' ')
    .replace(/\b(?:by|without|on|ignoring)\s*\([^)]*\)/g, ' ')
  const series = capture(bare, /\b([a-zA-Z_:][\w:]*)\b(?!\s*\()/g).filter((word) => !keywords.has(word))
  return { series, labels: [...matched, ...kept], kept }
}

/** What in an expression no metric of the program explains. */
export function strangers(expression: string): string[] {
  const { series, labels } = readPromql(expression)
  const known = new Set(series.flatMap((name) => declaredSeries.get(name) ?? []))
  return [
    ...series.filter((name) => !declaredSeries.has(name)),
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

function labelsOf(metric: object): string[] {
  return 'labelNames' in metric && Array.isArray(metric.labelNames) ? metric.labelNames.map(String) : []
}

function capture(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, found = '']) => found)
}
