import { describe, expect, test } from 'vitest'
import { readDashboard } from '../support/dashboard-queries.ts'
import { badOnes, describeEvaluated } from '../support/describe-evaluated.ts'
import type { EvaluatedDashboard } from '../support/evaluate-dashboards.ts'
import { expandPromql, expandSql } from '../support/grafana-macros.ts'
import { selectorsOf } from '../support/selectors.ts'

describe('the selectors of an expression', () => {
  test.each([
    ['up', ['up']],
    ['sum by (a, b) (rate(x_total{c="d(}"}[5m])) > 1.5e3', ['x_total{c="d(}"}']],
    ['max(x) == 0 or 0 * max(y{z=~"a|b"} offset 1h)', ['x', 'y{z=~"a|b"}']],
    ['a * on (asset) group_left (symbol) b unless ignoring (c) a', ['a', 'b']],
    ['a:b:ratio_rate5m{slo="x"} > 14.4 * 0.01', ['a:b:ratio_rate5m{slo="x"}']],
    ['label_replace(m, "dst", "$1", "src", "(.*)") and on () vector(1)', ['m']],
    ['absent(n) or avg_over_time(n[1h:1m] @ end())', ['n']],
  ])('%s', (expression, selectors) => {
    expect(selectorsOf(expression)).toEqual(selectors)
  })
})

describe('macros and variables', () => {
  const macros = {
    from: new Date('2026-11-20T12:00:00Z'),
    to: new Date('2026-11-20T13:00:00Z'),
    variables: new Map([
      ['network', { values: ['base', 'a.b'], all: null }],
      ['asset', { values: ['base/USDC'], all: '.*' }],
      ['owner', { values: ["o'hara"], all: null }],
    ]),
  }

  test.each([
    ['x{n=~"$network"}[$__rate_interval]', String.raw`x{n=~"(base|a\\.b)"}[1m]`],
    ['x{a=~"${asset}",o="${owner:raw}"}[$__range]', `x{a=~".*",o="o'hara"}[3600s]`],
    ['x{a=~"b$"}', 'x{a=~"b$"}'],
  ])('of Prometheus: %s', (text, expanded) => {
    expect(expandPromql(text, macros)).toBe(expanded)
  })

  test('of PostgreSQL', () => {
    expect(expandSql('a in (${owner:sqlstring}) and b > $__timeFrom()', macros)).toBe(
      "a in ('o''hara') and b > '2026-11-20T12:00:00.000Z'",
    )
    expect(expandSql('$__timeFilter(at)', macros)).toBe(
      "at between '2026-11-20T12:00:00.000Z' and '2026-11-20T13:00:00.000Z'",
    )
  })

  test.each(['$other', '${network:nothing}'])('are refused where they are not known: %s', (text) => {
    expect(() => expandPromql(text, macros)).toThrow('cannot be expanded')
  })

  test.each(['$owner', '${owner}', '${owner:raw}'])('never put a value into SQL as it stands: %s', (text) => {
    expect(() => expandSql(text, macros)).toThrow('cannot be expanded')
  })
})

describe('the queries of a dashboard', () => {
  const target = { refId: 'A', expr: 'up', instant: true }

  test('are found in folded rows and in annotations, too', () => {
    const row = { type: 'row', title: 'Row', panels: [{ title: 'Inner', targets: [target] }] }
    const closes = { name: 'Closes', target: { rawSql: 'select 1' } }
    const { queries } = readDashboard('one', board([row, { title: 'Outer', targets: [target] }], [closes]))
    expect(queries.map(({ where, language }) => `${where}: ${language}`)).toEqual([
      'one / Inner / A: promql',
      'one / Outer / A: promql',
      'one / annotation / Closes: sql',
    ])
  })

  test('are refused where they are in no language that is known', () => {
    const panel = { title: 'Odd', targets: [{ refId: 'A', query: 'select' }] }
    expect(() => readDashboard('one', board([panel]))).toThrow('one / Odd / A')
  })
})

describe('what was evaluated', () => {
  const asked = { language: 'promql', asked: 'up' } as const
  const rows = Array.from({ length: 7 }, (_none, place) => ({ job: `j${place}`, value: place }))
  const dashboards: EvaluatedDashboard[] = [
    {
      name: 'one',
      title: 'One',
      queries: [
        { ...asked, where: 'one / Up / A', outcome: 'data', rows },
        { ...asked, where: 'one / Down / A', outcome: 'empty', rows: [] },
        { ...asked, where: 'one / Odd / A', outcome: 'failed', problem: 'no such thing' },
      ],
    },
  ]

  test('is told query by query, with some of the rows, and counted', () => {
    expect(describeEvaluated(dashboards, [])).toMatchInlineSnapshot(`
      "one.json: One
        Up / A
          up
            job=j0 value=0
            job=j1 value=1
            job=j2 value=2
            job=j3 value=3
            job=j4 value=4
            and 2 more
        Down / A
          up
            NOTHING, AND NO REASON FOR IT
        Odd / A
          up
            FAILED: no such thing

      alerts, of 0 rules

      3 queries: 1 with data, 1 without (1 for no reason), 1 failed
      "
    `)
  })

  test('is bad where a query fails or finds nothing without a reason', () => {
    expect(badOnes(dashboards).map(({ where }) => where)).toEqual(['one / Down / A', 'one / Odd / A'])
  })
})

function board(panels: object[], annotations: object[] = []): string {
  return JSON.stringify({ title: 'One', panels, annotations: { list: annotations } })
}
