import { expect, test } from 'vitest'
import { depositStates } from '../../../src/core/judging/reconcile.ts'
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
