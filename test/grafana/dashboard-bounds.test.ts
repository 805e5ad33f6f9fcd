import { describe, expect, it } from 'vitest'
import { alerts } from '../support/alert-rules.ts'
import { type CommittedPanel, committed, panelsOf } from './dashboard-files.ts'

/**
 * Alerts that compare one metric, and no share, with a bound beyond zero. Panels show the oldest of all deposits, alerts read
 * those without a mismatch.
 */
const bounded = alerts.flatMap(({ alert, expr }) => {
  const [, metric, bound] = /(depositd_\w+)(?:\{[^}]*\})?(?:\[\w+\])?\)+ > ([\d.]+)/.exec(expr) ?? []
  const isShare = expr.includes(' / ')
  return metric === undefined || isShare || Number(bound) === 0
    ? []
    : [{ alert, metric: metric.replace('_unnamed_', '_open_'), bound: Number(bound) }]
})

const panels = committed.flatMap(({ name, dashboard }) =>
  panelsOf(dashboard).map((panel) => ({ name, title: panel.title, panel })),
)

const shown = bounded.flatMap(({ alert, metric, bound }) =>
  panels
    .filter(({ panel }) => linksTo(panel, alert) && showsOnly(panel, metric))
    .map(({ name, title, panel }) => ({ alert, bound, name, title, panel })),
)

describe('the bounds of panels', () => {
  it.each(shown)('are that of $alert on "$title" of $name: $bound', ({ panel, bound }) => {
    const steps = panel.fieldConfig.defaults.thresholds.steps.map(({ value }) => value)
    expect(steps).toContain(bound)
  })

  it('are held to those of alerts about seals, stages, the inbox, polling, chains, jobs and signs of life', () => {
    expect(new Set(shown.map(({ alert }) => alert))).toEqual(
      new Set([
        'DepositdSealOverdue',
        'DepositdDeliveryOverdue',
        'DepositdChainDetectionOverdue',
        'DepositdReconciliationOverdue',
        'DepositdInboxNotDrained',
        'DepositdPollDead',
        'DepositdSweepOverdue',
        'DepositdChainNotRead',
        'DepositdJobFailing',
        'DepositdNoBeat',
      ]),
    )
  })
})

describe('the bounds of amounts', () => {
  const amounts = panels.filter(({ panel: { fieldConfig } }) => {
    const { unit, thresholds } = fieldConfig.defaults
    return unit === 'locale' && thresholds.steps.length > 1
  })

  it('are on the panels of what should be zero', () => {
    expect(amounts.map(({ name, title }) => `${name}, ${title}`)).toEqual([
      'ledger, Suspense',
      'ledger, Sum of all entries',
      'ledger, What the audit found',
      'ledger, What balances changed by, not explained',
      'overview, Balances that are not explained',
      'overview, Books that do not tie',
    ])
  })

  it.each(amounts)('let nothing pass of an asset of many decimals: $title of $name', ({ panel }) => {
    const [, bound] = panel.fieldConfig.defaults.thresholds.steps
    expect(bound?.value).toBeGreaterThan(0)
    expect(bound?.value).toBeLessThan(1e-30)
  })
})

function linksTo({ links }: CommittedPanel, alert: string): boolean {
  return links.some(({ url }) => url.endsWith(`#${alert.toLowerCase()}`))
}

function showsOnly({ targets }: CommittedPanel, metric: string): boolean {
  return targets.every(({ expr }) => typeof expr === 'string' && expr.includes(metric))
}
