import { expect, test } from 'vitest'
import { depositStates } from '../../../src/core/judging/reconcile.ts'
import { overviewCharts } from '../../../src/ops/console/overview-charts.ts'
import { shownAccounts } from '../../../src/ops/metrics/deposits.ts'
import { emptyCharts, pageAt, startConsole } from '../../support/console-reader.ts'
import { emptyReading, readAs } from '../../support/ops-server.ts'

const network = 'base'
const asset = 'base/native'
const totals = {
  ...emptyReading.totals,
  deposits: depositStates.map((state) => ({ state, service: 'default', network, count: 3 })),
  assets: [{ asset, network, symbol: 'ETH' }],
  balances: shownAccounts.map((account) => ({ account, network, asset, units: 5 })),
}

test('every state of deposits and every class of accounts that metrics have is shown, and none is left out', async () => {
  const url = await startConsole({
    overview: async () => ({
      readAt: new Date('2026-01-01T10:00:00Z'),
      gauges: await readAs({ ...emptyReading, totals })(),
      health: { ready: true, unready: [], warnings: [], fine: ['database'] },
      gravest: { value: [] },
      latest: { value: [] },
      charts: { value: emptyCharts },
    }),
  })
  const { text } = await pageAt(url)
  const heads = [...text.matchAll(/<th\b[^>]*>([^<]+)</g)].map(([, head = '']) => head.toUpperCase())
  const shown = [...depositStates, ...shownAccounts].map((name) => name.replaceAll('_', ' ').toUpperCase())
  expect(shown.filter((name) => !heads.includes(name))).toEqual([])
})

test('a chart without figures says what would be in it, and leads to its list', () => {
  const { text } = overviewCharts(emptyCharts)
  expect(text).not.toMatch(/<svg|<details/)
  expect([...text.matchAll(/href="([^"]+)"/g)].map(([, path]) => path)).toEqual([
    '/deposits',
    '/deposits?state=reconciled',
    '/mismatches?status=all',
    '/ledger',
    '/mismatches',
  ])
  expect(text).toContain('No deposit settled in the last 24 hours.')
})

const amount = (symbol: string, units: bigint) => ({
  asset: symbol,
  network,
  symbol,
  decimals: 18,
  amount: units,
})

test('each chart is named by what it shows, and has exact amounts, of each asset apart', () => {
  const { text } = overviewCharts({
    ...emptyCharts,
    deposits: [{ hour: 3, state: 'held', count: 1200 }],
    settling: [{ hour: 3, count: 2, p50: 60, p95: 90 }],
    mismatches: [{ hour: 23, opened: 2, closed: 1 }],
    transit: [{ ...amount('ETH', 1234n * 10n ** 18n + 1n), hour: 0 }],
    losses: [
      { ...amount('ETH', 2n), age: 'older' },
      { ...amount('ETH', 1n), age: 'under_1h' },
      { ...amount('DAI', 5n * 10n ** 18n), age: 'under_1h' },
    ],
  })
  const ids = [...text.matchAll(/\bid="([^"]+)"/g)].map(([, id]) => id)
  const named = [...text.matchAll(/<svg [^>]*role="img" aria-labelledby="([^"]+)"/g)].map(
    ([, name = '']) => name,
  )
  expect(named).toHaveLength(5)
  expect(named.flatMap((name) => name.split(' ')).filter((id) => !ids.includes(id))).toEqual([])
  expect(text).toContain('1,234.000000000000000001')
  expect(text).toContain('0.000000000000000003')
  expect(text).toContain('2 opened, above the line; 1 closed, below it.')
  expect(text).not.toMatch(/NaN|undefined|style=/)
})
