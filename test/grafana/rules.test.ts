import { cpSync, readdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { mismatchKinds } from '../../src/core/mismatch.ts'
import { alerts, prometheusFile, recordings, ruleFiles, testsOf, watchdog } from '../support/alert-rules.ts'
import { temporaryFolder } from '../support/folder.ts'
import { promtoolInstalled, runPromtool } from '../support/promtool.ts'
import { findings, pathOf, runbookSections, textOf } from './files.ts'
import { readPromql, unknownSeries } from './promql.ts'

const samples = z.array(z.object({ labels: z.string() }))
const ruleTests = z.object({
  rule_files: z.array(z.string()),
  tests: z.array(
    z.object({
      name: z.string(),
      promql_expr_test: z.array(z.object({ exp_samples: samples })),
    }),
  ),
})
const tested = ruleFiles.map((file) => ({ file, ...ruleTests.parse(parse(textOf(testsOf(file)))) }))
const tests = tested.flatMap((file) => file.tests)

const dashboards = readdirSync(pathOf('grafana/dashboards'))
  .filter((file) => file.endsWith('.json'))
  .map((file) => z.object({ uid: z.string() }).parse(JSON.parse(textOf(`grafana/dashboards/${file}`))).uid)

describe('the alert rules', () => {
  const named = alerts.map((rule) => ({ name: rule.alert, ...rule }))

  it('read only metrics and labels that there are', () => {
    const read = [...named, ...recordings.map(({ record, expr }) => ({ name: record, expr }))]
    expect(findings(read, ({ expr }) => unknownSeries(expr))).toEqual([])
    const none = named.filter(({ expr }) => readPromql(expr).series.length === 0)
    expect(none.map(({ name }) => name)).toEqual([watchdog])
  })

  it('put only labels into words that their expressions keep', () => {
    const lost = findings(named, ({ expr, annotations }) => {
      const words = Object.values(annotations).join(' ')
      const used = [...words.matchAll(/\$labels\.(\w+)/g)].map(([, label = '']) => label)
      return used.filter((label) => !readPromql(expr).kept.includes(label))
    })
    expect(lost).toEqual([])
  })

  it('link to their own section of the runbook, and to a dashboard that is there', () => {
    const sections = runbookSections()
    for (const { alert, annotations } of alerts) {
      expect(annotations.runbook_url).toContain(`}}#${alert.toLowerCase()}{{`)
      expect([...sections.keys()]).toContain(alert.toLowerCase())
      expect(dashboards).toContain(/\/d\/([\w-]+)/.exec(annotations.dashboard)?.[1])
    }
  })

  it('have a name each', () => {
    const names = alerts.map(({ alert }) => alert)
    expect(names).toEqual([...new Set(names)])
  })

  it('say how grave they are, all but the one that always fires', () => {
    expect(alerts.filter(({ labels }) => labels.severity === 'none').map(({ alert }) => alert)).toEqual([
      watchdog,
    ])
  })

  it('wait for nothing if they are of facts', () => {
    const facts = [
      'DepositdSevereMismatch',
      'DepositdRecipientMismatch',
      'DepositdAddressChanged',
      'DepositdLedgerImbalance',
      'DepositdLedgerUntied',
      'DepositdSealBroken',
      'DepositdReorgBelowFinality',
      'DepositdRpcDisagreement',
      'DepositdCoverageGap',
    ]
    const waiting = alerts.filter((rule) => 'for' in rule && rule.for !== undefined).map(({ alert }) => alert)
    expect(alerts.map(({ alert }) => alert)).toEqual(expect.arrayContaining(facts))
    expect(facts.filter((name) => waiting.includes(name))).toEqual([])
  })

  const severe = Object.entries(mismatchKinds).filter(([, { severity }]) => severity === 'severe')

  // Of these two one excludes the other.
  const ofBooks = ['DepositdSnapshotWrong', 'DepositdLedgerUntied']

  it('report each severe kind by exactly one alert', () => {
    for (const [kind] of severe) {
      const names = alerts.filter(({ expr }) => selectsMismatch(expr, kind)).map(({ alert }) => alert)
      if (kind === 'ledger_imbalance') expect(names).toEqual(ofBooks)
      else expect(names, kind).toHaveLength(1)
    }
  })

  it('read mismatches only by their causes, which leave out what somebody has taken', () => {
    const direct = alerts.filter(({ expr }) => /depositd_mismatch(es)?_/.test(expr))
    expect(direct.map(({ alert }) => alert)).toEqual([])
  })
})

describe('the tests of the rules', () => {
  it('test each alert for silence and for firing', () => {
    for (const { alert } of alerts) {
      const expected = tests
        .filter(({ name }) => name === alert)
        .flatMap((test) => test.promql_expr_test.map((one) => one.exp_samples.map(({ labels }) => labels)))
      if (alert !== watchdog) expect(expected, alert).toContainEqual([])
      const alone = expected.filter(({ length }) => length === 1).flat()
      expect(alone.join('\n')).toContain(`{alertname="${alert}"`)
    }
  })

  it.each(tested)('$file is tested beside all other rules, so that none fires unasked', ({ rule_files }) => {
    expect(rule_files).toEqual(ruleFiles.map((file) => basename(file)))
  })

  it('are of rule files that Prometheus is told of, all of them', () => {
    const folder = 'grafana/prometheus/rules'
    const there = readdirSync(pathOf(folder)).map((file) => join(folder, file))
    expect(there.toSorted()).toEqual([...ruleFiles, ...ruleFiles.map(testsOf)].toSorted())
  })
})

describe.skipIf(!promtoolInstalled())('promtool', () => {
  it.each(ruleFiles)('finds nothing wrong with %s', (file) => {
    expect(runPromtool('check', 'rules', pathOf(file))).toMatchObject({ status: 0 })
  })

  it('finds nothing wrong with the configuration, and the rules where it names them', async () => {
    const said: unknown = expect.stringContaining(`${ruleFiles.length} rule files found`)
    expect(runPromtool('check', 'config', await withToken())).toMatchObject({ status: 0, said })
  })

  it.each(ruleFiles)('sees each alert of %s fire when it should and be silent when it should', (file) => {
    const ran = runPromtool('test', 'rules', pathOf(testsOf(file)))
    expect(ran, ran.said).toMatchObject({ status: 0 })
  })
})

/** Whether an expression reads the causes of a severe kind. */
function selectsMismatch(expression: string, kind: string): boolean {
  const labels: Readonly<Record<string, string>> = { kind, severity: 'severe' }
  const selectors = expression.matchAll(/depositd_causes_waiting\{([^}]*)\}/g)
  return [...selectors].some(([, inside = '']) =>
    [...inside.matchAll(/(\w+)(=~|!~|!=|=)"([^"]*)"/g)].every(([, label = '', operator, value = '']) => {
      const isLike = new RegExp(`^(?:${value})$`).test(labels[label] ?? '')
      return operator?.startsWith('=') ? isLike : !isLike
    }),
  )
}

/** A copy of the configuration with all that it names, for which there is a token as the compose file brings it. */
async function withToken(): Promise<string> {
  const folder = await temporaryFolder()
  const token = join(folder, 'token')
  writeFileSync(token, 'token')
  cpSync(pathOf(dirname(prometheusFile)), folder, { recursive: true })
  const copy = join(folder, basename(prometheusFile))
  writeFileSync(copy, textOf(prometheusFile).replace('/run/secrets/ops_token', token))
  return copy
}
