import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { runPromtool } from '../support/promtool.ts'
import { committed, promQueriesOf } from './dashboard-files.ts'

/** What Prometheus knows: series, each with its values at every quarter of a minute, as promtool writes them. */
export type Known = Readonly<Record<string, string>>

/** An expression, and the series that it is to give with their values. */
export type Expected = { expr: string; at?: string; gives: Readonly<Record<string, number>> }

/** Lets Prometheus itself evaluate expressions of panels, and tells what comes out otherwise. */
export function evaluatePanels(known: Known, expected: readonly Expected[]): { status: number | null } {
  const tests = [
    {
      interval: '15s',
      input_series: Object.entries(known).map(([series, values]) => ({ series, values })),
      promql_expr_test: expected.map(({ expr, at = '30m', gives }) => ({
        expr: expr.replace(/\$(?:service|network|asset)\b/g, '.*').replaceAll('$__rate_interval', '1m'),
        eval_time: at,
        exp_samples: Object.entries(gives).map(([labels, value]) => ({ labels, value })),
      })),
    },
  ]
  const folder = mkdtempSync(join(tmpdir(), 'depositd-panels-'))
  try {
    const file = join(folder, 'panels.test.yml')
    writeFileSync(file, stringify({ rule_files: [], evaluation_interval: '15s', tests }))
    return runPromtool('test', 'rules', file)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** All queries of Prometheus, each called by its dashboard and panel. */
export const panelQueries = committed.flatMap(({ name, dashboard }) =>
  promQueriesOf(dashboard).map(({ title, expr }) => ({ panel: `${name}, ${title}`, expr })),
)

/** The expression of a panel that has one. */
export function expressionOf(panel: string): string {
  const [only, ...others] = panelQueries.filter((one) => one.panel === panel)
  if (only === undefined || others.length > 0) throw new Error(`${panel} has not one query`)
  return only.expr
}
