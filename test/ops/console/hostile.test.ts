import { describe, expect, test } from 'vitest'
import type { ConsoleDeposit, ConsoleReader, JournalDetail } from '../../../src/ops/console/reader.ts'
import type { MismatchDetail } from '../../../src/presentation/mismatch.ts'
import type { JournalLine } from '../../../src/store/ledger/journals.ts'
import { emptyCharts, emptyReader, faultsOfPage, pageAt, startConsole } from '../../support/console-reader.ts'

/** What a webhook may say, wherever a text of it is shown. */
const evil = `"'><script>alert(1)</script><img src=x onerror=alert(1)>{{7*7}}\u202e\u0000\n${'x'.repeat(20_000)}`
const at = new Date('2026-01-01T10:00:00Z')

const row = {
  service: evil,
  id: '1',
  kind: evil,
  severity: evil,
  subject: evil,
  network: evil,
  asset_symbol: evil,
  amount: evil,
  age: evil,
  status: evil,
  regressed: true,
  assigned_to: evil,
  act_in: evil,
  detail: { [evil]: evil },
  loss: evil,
  loss_base: evil,
  loss_asset: evil,
  loss_asset_symbol: evil,
  assets: {},
}
const line = {
  service: evil,
  id: '1',
  state: evil,
  owner: evil,
  network: evil,
  asset_symbol: evil,
  amount: evil,
  settlement: evil,
  mismatches: evil,
}

const unvalued = { loss: evil, loss_asset: evil, loss_asset_symbol: evil, assets: {} }

const mismatch: MismatchDetail = {
  mismatch: {
    id: '1',
    service: evil,
    kind: evil,
    severity: evil,
    subject: evil,
    status: evil,
    opened_at: at,
    amount: evil,
    detail: { [evil]: evil },
    loss_asset: evil,
    assets: {},
  },
  deposit: { id: '1', state: evil, owner: evil, amount: evil, asset_symbol: evil, network: evil },
  attachments: [{ id: evil, name: evil, bytes: 1, sha256: evil, added_by: evil, at: new Date() }],
  history: [
    {
      at,
      actor: evil,
      action: evil,
      text: evil,
      approved_by: evil,
      undoes: null,
      decision_id: 1n,
      before: { [evil]: evil },
      after: { [evil]: evil },
    },
  ],
}

const deposit: ConsoleDeposit = {
  id: 1n,
  deposit: {
    service: evil,
    state: evil,
    owner_kind: evil,
    owner_id: evil,
    tx: evil,
    address: evil,
    service_id: evil,
  },
  matrix: {
    deposit: { webhook: 'agrees', api: 'differs', chain: 'present' },
    settlement: { webhook: 'absent', api: 'not_applicable', chain: 'absent' },
  },
  mismatches: [
    {
      id: '1',
      kind: evil,
      severity: evil,
      opened_at: at,
      cleared_at: null,
      status: evil,
      detail: { a: evil },
      ...unvalued,
    },
  ],
  evidence: [{ inbox_id: '1', source: evil, what: evil, received_at: at }],
  credit: { safe: true, since: at, reason: evil, amount: evil, asset_symbol: evil, proof: '1' },
  assets: {},
  journals: [
    {
      posting_key: evil,
      event_at: at,
      transfers: [{ debit: evil, credit: evil, amount: evil, asset_symbol: evil, network: evil }],
    },
  ],
  explanation: {
    at,
    state: 'held',
    reasons: [{ what: evil, says: evil, evidence: [1n], rule: evil, policy: evil, until: at }],
    obstacles: [],
  },
  isCut: true,
}

function now<Value>(value: Value) {
  return { value, ageSeconds: 0 }
}

const evilAmount = { asset: evil, network: evil, symbol: evil, decimals: 6, amount: 5n }

async function evilOverview(): ReturnType<ConsoleReader['overview']> {
  const overview = await emptyReader().overview()
  return {
    ...overview,
    health: {
      ready: false,
      unready: [{ part: evil, problem: evil }],
      warnings: [{ part: evil, problem: evil }],
      fine: [evil],
    },
    gravest: { value: [row] },
    latest: { problem: evil },
    charts: {
      value: {
        ...emptyCharts,
        transit: [{ ...evilAmount, hour: 0 }],
        losses: [{ ...evilAmount, age: 'older' }],
      },
    },
    gauges: {
      scorecard: null,
      queue: now({ [evil]: 3 }),
      live: now({
        causes: [],
        inbox: { pending: 1, oldest: 2 },
        quarantine: [{ service: evil, count: 1 }],
        stages: [{ stage: evil, service: evil, network: evil, oldest: 1, unnamed: 1 }],
        mismatches: [
          { kind: evil, severity: 'severe', service: evil, network: evil, age: evil, count: 1, oldest: 1 },
        ],
        atRisk: [{ service: evil, asset: evil, severity: evil, units: 1 }],
        sealAge: 1,
        events: { active: 0, paused: 0, stopped: 0, oldest: 0 },
        unsigned: 0,
        policyWaits: false,
        notifications: [],
        untied: [{ control: evil, asset: evil, units: 1 }],
        unexplained: [],
        streams: [{ name: evil, age: 1, progress: {} }],
      }),
      totals: now({
        deposits: [{ state: evil, service: evil, network: evil, count: 1 }],
        matrix: [],
        assets: [{ asset: evil, network: evil, symbol: evil }],
        balances: [{ account: 'in_transit', network: evil, asset: evil, units: 1 }],
        imbalances: [{ asset: evil, units: 1 }],
        coverageGaps: [],
      }),
    },
  }
}

const total = {
  account: evil,
  code: evil,
  asset: evil,
  asset_symbol: evil,
  debit: '1',
  credit: '2',
  balance: '-1',
}

const booked = { id: 1n, period: evil, reverses: null }

const journalLine: JournalLine = {
  ...booked,
  posting_key: evil,
  kind: 'manual',
  deposit_id: 1n,
  reversed_by: null,
  event_at: at,
  recorded_at: at,
  belongs_to: evil,
  made_by: evil,
  approved_by: evil,
  decision_id: 1n,
  reason: evil,
  changed_at: at,
}

const journal: JournalDetail = {
  ...booked,
  key: evil,
  kind: 'manual',
  depositId: 1n,
  reversedBy: null,
  eventAt: at,
  recordedAt: at,
  byHand: { reason: evil, by: evil, approvedBy: evil },
  place: evil,
  transfers: [{ debit: evil, credit: evil, amount: evil, asset_symbol: evil, network: evil }],
}

const reader: Partial<ConsoleReader> = {
  version: evil,
  services: ['default', evil],
  overview: evilOverview,
  mismatches: () => Promise.resolve([row]),
  mismatch: () => Promise.resolve(mismatch),
  deposits: () => Promise.resolve([line]),
  deposit: () => Promise.resolve(deposit),
  ledger: () =>
    Promise.resolve({
      readAt: at,
      trial: { value: { lines: [total], totals: [total] } },
      periods: {
        value: [
          {
            period: evil,
            state: evil,
            journals: 1n,
            late_journals: 1n,
            reopened: 1n,
            closed_by: evil,
            approved_by: evil,
            sha256: evil,
            forced: true,
          },
        ],
      },
      checkpoints: { problem: evil },
    }),
  runbook: () => evil,
  networkSettings: [{ name: evil, chain: evil, assets: [evil], nodes: 1 }],
  nodes: () => Promise.resolve([{ network: evil, node: evil, score: 1, requests: 1, errors: 0 }]),
  journals: () => Promise.resolve([journalLine]),
  journal: () => Promise.resolve(journal),
}

const ownScript = /<script src="\/console-[0-9a-f]{12}\.js" type="module"><\/script>/

describe.each([
  '/',
  '/mismatches',
  '/mismatches/1',
  '/deposits',
  '/deposits/1',
  '/ledger',
  '/ledger/journals',
  '/ledger/journals/1',
  '/networks',
  '/deposits/find?reference=%3Cscript%3E',
])('%s', (path) => {
  test('shows what strangers wrote as text, cut to a length', async () => {
    const page = await pageAt((await startConsole(reader)) + path)
    const text = page.text.replace(ownScript, '')
    expect(text.replaceAll('<script', '')).toBe(text)
    for (const sign of ['<img', '\u202e', '\u0000']) expect(text).not.toContain(sign)
    expect(text).toContain('&#60;script&#62;')
    // Markup aside, the attributes that there are have names of ours alone.
    const names = [...text.matchAll(/<\w+((?:\s[^<>]*?)?)>/g)].flatMap(([, inner = '']) =>
      [...inner.replaceAll(/"[^"]*"/g, '""').matchAll(/([\w:-]+)(?==)/g)].map(([name]) => name),
    )
    expect(names.filter((name) => name.startsWith('on') || name === 'src' || name === 'style')).toEqual([])
    expect(text.length).toBeLessThan(400_000)
    expect(faultsOfPage(text).filter((fault) => fault !== 'more than markup')).toEqual([])
  })
})
