import { describe, expect, it } from 'vitest'
import { promtoolInstalled } from '../support/promtool.ts'
import { committed } from './dashboard-files.ts'
import { evaluatePanels, expressionOf, panelQueries } from './panel-evaluation.ts'

const daemon = { 'depositd_build_info{version="1"}': '1x200' }
const readable = (values: string) => ({
  'depositd_gauges_readable{part="live"}': values,
  'depositd_gauges_readable{part="totals"}': values,
})
const isReported = { status: 0 }

/** What is counted by the daemons themselves, or is about them alone. */
const notOfTheDatabase = [
  'overview, Daemons answering',
  'overview, Webhooks not stored, 15 minutes',
  'overview, Failed runs of one job, 15 minutes',
  'pipeline, Webhooks refused, 15 minutes',
  'pipeline, API requests failed, 15 minutes',
  'pipeline, What could be read for metrics',
]

const wellAtZero = [
  'overview, Books',
  'overview, Severe mismatches open',
  'overview, Oldest severe mismatch',
  'overview, Oldest deposit not reconciled',
  'overview, Deposits under way',
  'overview, Not sealed yet',
  'ledger, Books',
  'ledger, Controls that do not tie',
  'ledger, ledger_imbalance open',
  'ledger, Balances not explained',
  'ledger, Seals',
  'ledger, Not sealed yet',
  'ledger, What the audit found',
  'ledger, What balances changed by, not explained',
]

describe.skipIf(!promtoolInstalled())('panels while the database is away', () => {
  const ofTheDatabase = panelQueries.filter(({ panel }) => !notOfTheDatabase.includes(panel))

  it('have no data, so that none says that all is well', () => {
    const nothing = ofTheDatabase.map(({ expr }) => ({ expr, gives: {} }))
    expect(evaluatePanels({ ...daemon, ...readable('0x200') }, nothing)).toMatchObject(isReported)
  })

  it.each(wellAtZero)('is no such one, once the database is read and nothing is wrong: %s', (panel) => {
    const zero = [{ expr: expressionOf(panel), gives: { '{}': 0 } }]
    expect(evaluatePanels({ ...daemon, ...readable('1x200') }, zero)).toMatchObject(isReported)
    const replicas = {
      'depositd_gauges_readable{part="live",instance="other"}': '0x200',
      'depositd_gauges_readable{part="totals",instance="other"}': '0x200',
    }
    expect(evaluatePanels({ ...daemon, ...readable('1x200'), ...replicas }, zero)).toMatchObject(isReported)
  })
})

describe.skipIf(!promtoolInstalled())('panels of what is wrong with an asset', () => {
  const booked = 'base/0xbooked'
  const never = 'base/0xnever'
  const info = { [`depositd_asset_info{asset="${booked}",network="base",symbol="USDC"}`]: '1x200' }

  it.each([
    ['overview, Balances that are not explained', 'depositd_unexplained_balance', ''],
    ['ledger, What balances changed by, not explained', 'depositd_unexplained_balance', ''],
    ['overview, Books that do not tie', 'depositd_ledger_untied', ',control="tie_out"'],
    ['ledger, What the audit found', 'depositd_ledger_untied', ',control="tie_out"'],
    ['overview, Value at risk', 'depositd_mismatch_value', ',severity="severe"'],
  ])('show one that was never booked, by its key: %s', (panel, metric, labels) => {
    const known = {
      ...daemon,
      ...readable('1x200'),
      ...info,
      [`${metric}{asset="${booked}"${labels}}`]: '2x200',
      [`${metric}{asset="${never}"${labels}}`]: '3x200',
    }
    const gives = {
      [`{asset="${booked}",symbol="USDC",network="base"${labels}}`]: 2,
      [`{asset="${never}",symbol="${never}"${labels}}`]: 3,
    }
    expect(evaluatePanels(known, [{ expr: expressionOf(panel), gives }])).toMatchObject(isReported)
  })
})

describe.skipIf(!promtoolInstalled())('the share of webhooks refused', () => {
  it('is one of the webhooks of others', () => {
    const known = {
      ...daemon,
      [requests('canary')]: '0+60x200',
      [requests('stored')]: '0+30x200',
      [requests('bad_signature')]: '0+10x200',
    }
    const expr = expressionOf('pipeline, Webhooks refused, 15 minutes')
    expect(evaluatePanels(known, [{ expr, gives: { '{}': 0.25 } }])).toMatchObject(isReported)
  })
})

describe.skipIf(!promtoolInstalled())('a deploy is marked', () => {
  const marks = committed.flatMap(({ dashboard }) =>
    dashboard.annotations.list.flatMap(({ name, target: { expr } }) =>
      name === 'Deploys' && typeof expr === 'string' ? [expr] : [],
    ),
  )
  const marked = (at: string, version: string | null) => {
    const gives = version === null ? {} : { [`{version="${version}"}`]: 1 }
    return marks.map((expr) => ({ expr, at, gives }))
  }

  it('where another version came up, at once or after a while, and where an old one came back', () => {
    const known = { [running('1')]: '1x39 stale _x79 1x80', [running('2')]: '_x59 1x59 stale _x80' }
    expect(evaluatePanels(known, [...marked('15m', '2'), ...marked('17m', null)])).toMatchObject(isReported)
    expect(evaluatePanels(known, marked('30m15s', '1'))).toMatchObject(isReported)
  })

  it('beside an old one that still runs', () => {
    const known = { [running('1')]: '1x200', [running('2')]: '_x59 1x140' }
    expect(evaluatePanels(known, [...marked('15m', '2'), ...marked('20m', null)])).toMatchObject(isReported)
  })

  it('not where the same one was away for a while', () => {
    const known = { [running('1')]: '1x39 stale _x79 1x80' }
    expect(evaluatePanels(known, [...marked('30m', null), ...marked('30m15s', null)])).toMatchObject(
      isReported,
    )
  })
})

function running(version: string): string {
  return `depositd_build_info{version="${version}",instance="a"}`
}

function requests(outcome: string): string {
  return `depositd_webhook_requests_total{outcome="${outcome}"}`
}
