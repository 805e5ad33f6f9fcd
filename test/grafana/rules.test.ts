import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { promtoolInstalled, runPromtool } from '../support/promtool.ts'
import { alerts, pathOf, rulesFile, rulesTestFile, runbookSections, textOf } from './files.ts'
import { readPromql, strangers } from './promql.ts'

const samples = z.array(z.object({ labels: z.string() }))
const ruleTests = z.object({
  tests: z.array(
    z.object({
      name: z.string(),
      promql_expr_test: z.array(z.object({ exp_samples: samples })),
    }),
  ),
})

describe('the alert rules', () => {
  it.each(alerts)('$alert reads only metrics and labels that the program declares', ({ expr }) => {
    expect(strangers(expr)).toEqual([])
    expect(readPromql(expr).series).not.toEqual([])
  })

  it.each(alerts)('$alert puts only labels into words that its expression keeps', ({ expr, annotations }) => {
    const words = Object.values(annotations).join(' ')
    const used = [...words.matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label)
    expect(readPromql(expr).kept).toEqual(expect.arrayContaining(used))
  })

  it.each(alerts)('$alert links to its own section of the runbook', ({ alert, annotations }) => {
    expect(annotations.runbook_url).toBe(`docs/runbook.md#${alert.toLowerCase()}`)
    expect([...runbookSections().keys()]).toContain(alert.toLowerCase())
  })

  it('have a name each', () => {
    const names = alerts.map(({ alert }) => alert)
    expect(names).toEqual([...new Set(names)])
  })

  it.each(alerts)('$alert is tested for silence and for firing', ({ alert }) => {
    const { tests } = ruleTests.parse(parse(textOf(rulesTestFile)))
    const expected = tests
      .filter(({ name }) => name === alert)
      .flatMap((test) => test.promql_expr_test.map((one) => one.exp_samples.map(({ labels }) => labels)))
    expect(expected).toContainEqual([])
    expect(expected).toContainEqual([`{alertname="${alert}"}`])
  })
})

describe.skipIf(!promtoolInstalled())('promtool', () => {
  it('finds nothing wrong with the rules', () => {
    expect(runPromtool('check', 'rules', pathOf(rulesFile))).toMatchObject({ status: 0 })
  })

  it('finds nothing wrong with the configuration, and the rules where it names them', () => {
    const checked = runPromtool('check', 'config', pathOf('grafana/prometheus/prometheus.yml'))
    expect(checked).toMatchObject({ status: 0, said: expect.stringContaining('1 rule files found') })
  })

  it('sees each alert fire when it should and be silent when it should', () => {
    expect(runPromtool('test', 'rules', pathOf(rulesTestFile))).toMatchObject({ status: 0 })
  })
})
