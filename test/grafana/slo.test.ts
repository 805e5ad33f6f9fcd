import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { metricDescriptions } from '../../src/ops/metrics.ts'
import { alerts, recordings } from '../support/alert-rules.ts'
import { promtoolInstalled, runPromtool } from '../support/promtool.ts'
import { textOf } from './files.ts'

const page = textOf('docs/slo.md')
const stages = [...page.matchAll(/^\| `(\w+)` \| (\d+) \| (Depositd\w+) \| (\w+) \|/gm)].map(
  ([, stage = '', seconds = '', alert = '', severity = '']) => ({ stage, seconds, alert, severity }),
)
const objectives = [...page.matchAll(/^\| `(\w+)` \| .*? within (\d+) s .*\| 99 % \| 30 days \|$/gm)].map(
  ([, slo = '', seconds = '']) => ({ slo, seconds }),
)

describe('the page about objectives', () => {
  it('names every stage', () => {
    const lag = metricDescriptions.find(({ name }) => name === 'depositd_stage_lag_seconds')
    expect(stages).toHaveLength(7)
    expect(lag?.buckets).toEqual(expect.arrayContaining(objectives.map(({ seconds }) => Number(seconds))))
  })

  it.each(stages)('says of $stage when $alert fires', ({ stage, seconds, alert, severity }) => {
    const rule = alerts.find((one) => one.alert === alert)
    expect(rule?.labels.severity).toBe(severity)
    expect(rule?.expr).toMatch(new RegExp(`> ${seconds}$`))
    expect(rule?.expr).toContain(stage === 'apply' ? 'depositd_inbox_oldest_seconds' : `stage="${stage}"`)
  })

  it.each(objectives)('says of $slo from when on it is slow, as it is recorded', ({ slo, seconds }) => {
    const recorded = recordings.filter(({ labels }) => labels.slo === slo)
    expect(recorded).toHaveLength(11)
    for (const { record, expr } of recorded) {
      const [window = ''] = /\d+[mhd]$/.exec(record) ?? []
      expect(expr.match(/stage="(\w+)"/g)).toEqual([`stage="${slo}"`, `stage="${slo}"`])
      expect(expr.match(/\[\d+[mhd]\]/g)).toEqual([`[${window}]`, `[${window}]`])
      expect(expr).toContain(`le=~"${seconds}|${seconds}[.]0"`)
    }
  })

  const burns = [
    ...page.matchAll(/^\| `(\w+)` \| \w+ \| .*? \| (\d) (\w+) \| (\d+) (\w+) \| ([\d.]+) % \|/gm),
  ].map(([, name = '', long, longUnit, short, shortUnit = '', percent]) => ({
    name,
    windows: [`${long}${longUnit}`, `${short}${shortUnit.slice(0, 1)}`],
    percent,
  }))

  it.each(burns)('says what $name means over $windows with more than $percent %', (burn) => {
    const rules = alerts.filter(({ alert }) => alert.endsWith(burn.name))
    expect(rules).toHaveLength(2)
    const parts = rules.flatMap(({ expr }) =>
      burn.windows.map(
        (window) => new RegExp(`ratio_rate${window}\\{[^}]*\\} > (\\S+) [*] 0.01`).exec(expr)?.[1],
      ),
    )
    expect(parts).toEqual(Array.from({ length: 4 }, () => burn.percent))
  })

  it('tells of four ways to burn', () => expect(burns).toHaveLength(4))
})

const budgets = [...page.matchAll(/```promql\n(.*?)```/gs)].map(([, query = '']) => query)

describe('what is left of the budget, as the page asks for it', () => {
  it('is asked of each objective', () => {
    const asked = budgets.map((query) => [...(/stage="(\w+)",le=~"(\d+)\|/.exec(query) ?? [])].slice(1))
    expect(asked).toEqual(objectives.map(({ slo, seconds }) => [slo, seconds]))
  })

  it.skipIf(!promtoolInstalled())('is a share of all deposits, also where most hours had none', () => {
    const folder = mkdtempSync(join(tmpdir(), 'depositd-budget-'))
    const file = join(folder, 'budget.test.yml')
    writeFileSync(file, stringify({ evaluation_interval: '1h', tests: [dayOfMonth] }))
    const ran = runPromtool('test', 'rules', file)
    rmSync(folder, { recursive: true })
    expect(ran, ran.said).toMatchObject({ status: 0 })
  })
})

/** One busy hour of 900, a slow one of 100 with five late, and then nothing for the rest of the month. */
const dayOfMonth = {
  interval: '1h',
  input_series: objectives.flatMap(({ slo, seconds }) => [
    { series: `depositd_stage_lag_seconds_count{stage="${slo}"}`, values: '0 900 1000x718' },
    { series: `depositd_stage_lag_seconds_bucket{stage="${slo}",le="${seconds}"}`, values: '0 900 995x718' },
  ]),
  promql_expr_test: budgets.map((query) => ({
    expr: `round(1000 * (${query}))`,
    eval_time: '30d',
    exp_samples: [{ labels: '{}', value: 500 }],
  })),
}
