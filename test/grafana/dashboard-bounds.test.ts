import { describe, expect, it } from 'vitest'
import { alerts } from '../support/alert-rules.ts'
import { type CommittedPanel, committed, panelsOf } from './dashboard-files.ts'

/** Alerts that compare one metric, and no share, with a bound beyond zero. */
const bounded = alerts.flatMap(({ alert, expr }) => {
  const [, metric, bound] = /(depositd_\w+)(?:\{[^}]*\})?(?:\[\w+\])?\)+ > ([\d.]+)/.exec(expr) ?? []
  const isShare = expr.includes(' / ')
  return metric === undefined || isShare || Number(bound) === 0
    ? []
    : [{ alert, metric, bound: Number(bound) }]
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

  it('are held to those of alerts about seals, stages, the inbox, polling, chains and jobs', () => {
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
      ]),
    )
  })
})

function linksTo({ links }: CommittedPanel, alert: string): boolean {
  return links.some(({ url }) => url.endsWith(`#${alert.toLowerCase()}`))
}

function showsOnly({ targets }: CommittedPanel, metric: string): boolean {
  return targets.every(({ expr }) => typeof expr === 'string' && expr.includes(metric))
}
