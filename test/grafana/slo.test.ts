import { describe, expect, it } from 'vitest'
import { metricDescriptions } from '../../src/ops/metrics.ts'
import { alerts, recordings } from '../support/alert-rules.ts'
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
