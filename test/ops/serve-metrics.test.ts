import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { ReportedGauges } from '../../src/ops/gauges.ts'
import { emptyReading, readAs, startOpsServer as start } from '../support/ops-server.ts'
import { readingOf } from '../support/readings.ts'

/** Name, labels and value of every sample; throws where a line is not of the text format. */
function samples(text: string): Map<string, number> {
  const form = /^([a-z_:][a-z0-9_:]*(?:\{(?:[a-z_]\w*="(?:[^"\\\n]|\\["\\n])*",?)*\})?) ([^ ]+)$/i
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => {
      const [, name = '', value = ''] = form.exec(line) ?? []
      if (name === '' || (Number.isNaN(Number(value)) && !/^([+-]?inf|nan)$/i.test(value)))
        throw new Error(`not of the text format: ${line}`)
      return [name, Number(value)]
    }),
  )
}

async function scrape(reading: ReportedGauges): Promise<Map<string, number>> {
  const response = await fetch(`${await start({ read: () => Promise.resolve(reading) })}/metrics`)
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toContain('text/plain')
  return samples(await response.text())
}

test('each cause that calls for people is a series of its own, the last of eight stands for all others', async () => {
  const cause = {
    kind: 'settlement_short',
    service: 'default',
    network: 'base',
    side: 'service',
    severity: 'severe',
    since: new Date(0),
    until: new Date(0),
    losses: [],
    count: 1,
  }
  const shown = async (calling: number) => {
    const causes = Array.from({ length: 10 }, (_, index) => ({ ...cause, callsForPeople: index < calling }))
    const found = await scrape(readingOf({ causes }))
    return [...found].flatMap(([name, value]) => (/causes_waiting.*_short.*nth="/.test(name) ? [value] : []))
  }
  expect(await shown(0)).toEqual([0])
  expect(await shown(2)).toEqual([1, 1])
  expect(await shown(10)).toEqual([1, 1, 1, 1, 1, 1, 1, 3])
})

test('gauges say what was read', async () => {
  const found = await scrape(
    readingOf({
      inbox: { pending: 3, oldest: 4.5 },
      quarantine: [{ service: 'acme', count: 2 }],
      deposits: [{ state: 'settled', service: 'default', network: 'base', count: 2 }],
      stages: [{ stage: 'settlement', service: 'acme', network: 'base', oldest: 60, unnamed: 60 }],
      mismatches: [
        {
          kind: 'unreported',
          severity: 'severe',
          service: 'default',
          network: 'base',
          age: 'under_1h',
          count: 1,
          oldest: 5,
        },
        {
          kind: 'unreported',
          severity: 'severe',
          service: 'acme',
          network: 'solana',
          age: 'older',
          count: 2,
          oldest: 9,
        },
        {
          kind: 'unreported',
          severity: 'severe',
          service: 'acme',
          network: 'solana',
          age: 'under_1h',
          count: 3,
          oldest: 1,
        },
      ],
      atRisk: [{ service: 'acme', asset: 'base/0x1', severity: 'severe', units: 1.5 }],
      imbalances: [{ asset: 'base/0x1', units: 0 }],
      matrix: [{ service: 'default', leg: 'deposit', source: 'api', cell: 'agrees', count: 8 }],
      assets: [{ asset: 'base/0x1', network: 'base', symbol: 'USDC' }],
      balances: [{ account: 'in_transit', network: 'base', asset: 'base/0x1', units: 4.5 }],
      sealAge: 90,
      events: { active: 0, paused: 0, stopped: 0, oldest: 0 },
      unsigned: 2,
      policyWaits: true,
      notifications: [],
      untied: [{ control: 'tie_out', asset: 'base/0x1', units: 0.5 }],
      unexplained: [{ network: 'base', asset: 'base/0x1', units: 2.5 }],
      coverageGaps: [{ network: 'base', ranges: 3, heights: 40 }],
      streams: [
        { name: 'poll', age: 2, progress: {} },
        { name: 'poll/acme', age: 7, progress: {} },
        { name: 'scan/base', age: 8, progress: { final: 100, head: 110 } },
      ],
      queue: { waiting: 6 },
      scorecard: [
        {
          service: 'acme',
          route: 'all',
          completeness: '0.5',
          duplicates_share: '0.25',
          delivery_p50_seconds: 1,
          delivery_p95_seconds: 2,
          delivery_p99_seconds: 3,
          settle_p50_seconds: null,
          settle_p95_seconds: null,
          settle_p99_seconds: null,
          fee_share: null,
        },
      ],
    }),
  )
  const reported = Object.fromEntries([...found].filter(([name]) => /^depositd_(?!.*_bucket)/.test(name)))
  expect(reported).toMatchObject({
    depositd_inbox_pending: 3,
    'depositd_scorecard_completeness_ratio{service="acme",route="all"}': 0.5,
    'depositd_scorecard_duplicates_ratio{service="acme",route="all"}': 0.25,
    'depositd_scorecard_delivery_seconds{service="acme",route="all",percentile="p99"}': 3,
    depositd_inbox_oldest_seconds: 4.5,
    'depositd_deposits{state="settled",service="default",network="base"}': 2,
    'depositd_stage_oldest_open_seconds{stage="settlement",service="acme",network="base"}': 60,
    'depositd_mismatches_open{kind="unreported",severity="severe",service="default",network="base"}': 1,
    'depositd_mismatches_open{kind="unreported",severity="severe",service="acme",network="solana"}': 5,
    'depositd_mismatches_open_by_age{severity="severe",service="acme",age="under_1h"}': 3,
    'depositd_mismatches_open_by_age{severity="severe",service="default",age="under_3d"}': 0,
    'depositd_mismatches_open_by_age{severity="severe",service="acme",age="older"}': 2,
    'depositd_mismatch_oldest_seconds{kind="unreported",severity="severe",service="acme"}': 9,
    'depositd_mismatch_value{asset="base/0x1",severity="severe",service="acme"}': 1.5,
    'depositd_ledger_imbalance{asset="base/0x1"}': 0,
    'depositd_matrix_cells{service="default",leg="deposit",source="api",cell="agrees"}': 8,
    'depositd_asset_info{asset="base/0x1",network="base",symbol="USDC"}': 1,
    'depositd_ledger_balance{account="in_transit",network="base",asset="base/0x1"}': 4.5,
    'depositd_gauges_readable{part="live"}': 1,
    depositd_ledger_seal_age_seconds: 90,
    depositd_ledger_unsigned_decisions: 2,
    depositd_policy_waiting: 1,
    'depositd_ledger_untied{control="tie_out",asset="base/0x1"}': 0.5,
    'depositd_unexplained_balance{network="base",asset="base/0x1"}': 2.5,
    'depositd_chain_coverage_gaps{network="base"}': 3,
    'depositd_chain_unread_heights{network="base"}': 40,
    'depositd_poll_age_seconds{service="default"}': 2,
    'depositd_poll_age_seconds{service="acme"}': 7,
    'depositd_quarantine_deliveries{service="default"}': 0,
    'depositd_quarantine_deliveries{service="acme"}': 2,
    'depositd_chain_head_lag_seconds{network="base"}': 8,
    'depositd_chain_final_block{network="base"}': 100,
    'depositd_chain_scanned_block{network="base"}': 110,
    'depositd_queue_jobs{state="waiting"}': 6,
  })
})

test('what is no longer read is no longer told', async () => {
  const readings = [
    readingOf({
      deposits: [{ state: 'observed', service: 'default', network: 'base', count: 1 }],
      stages: [{ stage: 'finality', service: 'acme', network: 'base', oldest: 1, unnamed: 1 }],
      mismatches: [
        {
          kind: 'unreported',
          severity: 'severe',
          service: 'default',
          network: 'base',
          age: 'under_1h',
          count: 1,
          oldest: 5,
        },
      ],
      atRisk: [{ service: 'acme', asset: 'base/0x1', severity: 'severe', units: 1 }],
      imbalances: [{ asset: 'base/0x1', units: 1 }],
      unexplained: [{ network: 'base', asset: 'base/0x1', units: 1 }],
    }),
    readingOf(),
  ]
  const url = await start({ read: () => Promise.resolve(readings.shift() ?? readingOf()) })
  const labelled = async () =>
    [...samples(await (await fetch(`${url}/metrics`)).text())].filter(
      ([name, value]) => name.startsWith('depositd_') && /network=|asset=|kind=/.test(name) && value !== 0,
    )
  expect(await labelled()).toHaveLength(8)
  expect(await labelled()).toEqual([])
})

test('gauges that cannot be read are left out, and what the process counted is told all the same', async () => {
  const found = await scrape({ ...readingOf({ queue: { waiting: 1 } }), live: null, totals: null })
  const names = new Set([...found.keys()].map((name) => name.replace(/[{].*/, '')))
  expect(
    [...names].filter((name) => /^depositd_(inbox|stage_oldest|poll_age|deposits|ledger)/.test(name)),
  ).toEqual([])
  expect(Object.fromEntries(found)).toMatchObject({
    'depositd_gauges_readable{part="live"}': 0,
    'depositd_gauges_readable{part="totals"}': 0,
    'depositd_gauges_readable{part="queue"}': 1,
    'depositd_queue_jobs{state="waiting"}': 1,
    'depositd_webhook_requests_total{service="acme",outcome="unavailable"}': 0,
  })
})

test('a gauge is told again once it can be read again', async () => {
  const readings = [
    { ...readingOf(), live: null },
    readingOf({ quarantine: [{ service: 'default', count: 3 }] }),
  ]
  const url = await start({ read: () => Promise.resolve(readings.shift() ?? readingOf()) })
  await fetch(`${url}/metrics`)
  const found = samples(await (await fetch(`${url}/metrics`)).text())
  expect(found.get('depositd_quarantine_deliveries{service="default"}')).toBe(3)
})

test('a figure that is none is left out, its part is not whole, and all the rest is told', async () => {
  const none: unknown = null
  const found = await scrape(
    readingOf({
      atRisk: [
        { service: 'acme', asset: 'base/0x1', severity: 'severe', units: none as number },
        { service: 'acme', asset: 'base/0x2', severity: 'severe', units: 2 },
      ],
      sealAge: Number.NaN,
      events: { active: 0, paused: 0, stopped: 0, oldest: 0 },
      unsigned: 0,
      policyWaits: false,
      notifications: [],
      quarantine: [{ service: 'acme', count: 7 }],
      deposits: [{ state: 'settled', service: 'default', network: 'base', count: 3 }],
    }),
  )
  expect([...found.keys()].filter((name) => /mismatch_value|seal_age/.test(name))).toEqual([
    'depositd_mismatch_value{asset="base/0x2",severity="severe",service="acme"}',
  ])
  expect(Object.fromEntries(found)).toMatchObject({
    'depositd_quarantine_deliveries{service="acme"}': 7,
    'depositd_deposits{state="settled",service="default",network="base"}': 3,
    'depositd_gauges_readable{part="live"}': 0,
    'depositd_gauges_readable{part="totals"}': 1,
  })
})

test('of a part that others tell there is nothing, not even that it could not be read', async () => {
  const { live, queue } = readingOf({ queue: { waiting: 1 } })
  const found = await scrape({ live, queue })
  const parts = [...found.keys()].filter((name) => name.startsWith('depositd_gauges_'))
  expect(parts.toSorted()).toEqual([
    'depositd_gauges_age_seconds{part="live"}',
    'depositd_gauges_age_seconds{part="queue"}',
    'depositd_gauges_readable{part="live"}',
    'depositd_gauges_readable{part="queue"}',
  ])
})

test('scrapes at the same time share one answer', async () => {
  let readings = 0
  const url = await start({
    read: async () => {
      readings++
      await sleep(300)
      return readAs(emptyReading)()
    },
  })
  const scrapes = Array.from({ length: 8 }, () => fetch(`${url}/metrics`))
  expect((await Promise.all(scrapes)).map(({ status }) => status)).toEqual(scrapes.map(() => 200))
  expect(readings).toBeLessThan(scrapes.length)
})
