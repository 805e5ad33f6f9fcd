import type { Evaluated, EvaluatedDashboard, Row } from './evaluate-dashboards.ts'
import { allowanceFor } from './may-be-empty.ts'
import type { LoadedRule } from './prometheus.ts'

const rowsMax = 5

/** What every query showed, which alerts there are, and how many queries of each outcome, for people. */
export function describeEvaluated(
  dashboards: readonly EvaluatedDashboard[],
  rules: readonly LoadedRule[],
): string {
  const ofDashboards = dashboards.flatMap(({ name, title, queries }) => [
    `${name}.json: ${title}`,
    ...queries.flatMap(linesOf),
    '',
  ])
  const counted = countsOf(dashboards.flatMap(({ queries }) => queries))
  return [...ofDashboards, ...alertLines(rules), '', counted, ''].join('\n')
}

/** Those that failed, and those that found nothing and have no reason to. */
export function badOnes(dashboards: readonly EvaluatedDashboard[]): Evaluated[] {
  return dashboards
    .flatMap(({ queries }) => queries)
    .filter(({ outcome, where }) => outcome === 'failed' || (outcome === 'empty' && !allowanceFor(where)))
}

function linesOf(query: Evaluated): string[] {
  const [, ...place] = query.where.split(' / ')
  return [
    `  ${place.join(' / ')}`,
    ...query.asked
      .trim()
      .split('\n')
      .map((line) => `    ${line}`),
    ...resultOf(query).map((line) => `      ${line}`),
  ]
}

function resultOf(query: Evaluated): string[] {
  if (query.outcome === 'failed') return [`FAILED: ${query.problem}`]
  if (query.outcome === 'empty') return [emptyLine(query.where)]
  const more = query.rows.length - rowsMax
  return [...query.rows.slice(0, rowsMax).map(pairsOf), ...(more > 0 ? [`and ${more} more`] : [])]
}

function emptyLine(where: string): string {
  const allowed = allowanceFor(where)
  return allowed === null ? 'NOTHING, AND NO REASON FOR IT' : `nothing: ${allowed.why}`
}

function alertLines(rules: readonly LoadedRule[]): string[] {
  const alerts = rules.filter(({ type }) => type === 'alerting')
  const active = alerts.flatMap(({ name, alerts: each }) =>
    each.map(({ state, labels, annotations }) => [
      `  ${state} ${name} ${pairsOf(withoutName(labels))}`,
      `    ${annotations.summary ?? ''}`,
    ]),
  )
  return [`alerts, of ${alerts.length} rules`, ...active.flat()]
}

function withoutName(labels: Row): Row {
  return Object.fromEntries(Object.entries(labels).filter(([name]) => name !== 'alertname'))
}

function pairsOf(row: Row): string {
  return Object.entries(row)
    .map(([name, value]) => `${name}=${value instanceof Date ? value.toISOString() : String(value)}`)
    .join(' ')
}

function countsOf(queries: readonly Evaluated[]): string {
  const of = (outcome: Evaluated['outcome']) => queries.filter((one) => one.outcome === outcome)
  const strange = of('empty').filter(({ where }) => allowanceFor(where) === null)
  const empty = `${of('empty').length} without (${strange.length} for no reason)`
  return `${queries.length} queries: ${of('data').length} with data, ${empty}, ${of('failed').length} failed`
}
