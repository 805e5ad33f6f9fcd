import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ScanResult, TransactionReading } from '../../src/chain/port.ts'
import { Fault } from '../../src/core/errors.ts'
import type { ServiceId } from '../../src/core/evidence.ts'
import { applyPending } from '../../src/jobs/apply.ts'
import type { Proved } from '../../src/jobs/prove-balances.ts'
import type { NetworkReader } from '../../src/jobs/scan.ts'
import type { TransactionReader } from '../../src/jobs/verify-transactions.ts'
import { createWork, type Work, type WorkDeps } from '../../src/jobs/work.ts'
import { createClaimReader } from '../../src/provider/read-claim.ts'
import { appendInbox } from '../../src/store/inbox.ts'
import type { MismatchChange } from '../../src/store/mismatches.ts'
import { type Books, late, openBooks } from '../support/books.ts'
import { countStatements } from '../support/count-statements.ts'
import { arbitrum, at, base, claim, delivery, payment, txId, webhook } from '../support/evidence.ts'
import { ownProfile } from '../support/profile.ts'

let books: Books
const told: string[] = []
let scans: Partial<ScanResult>[]
let verifications: TransactionReading[]

beforeEach(async () => {
  books = await openBooks()
  told.length = 0
  scans = []
  verifications = []
})
afterEach(() => books[Symbol.asyncDispose]())

const cursor = { final: { height: 20n, hash: '0x20' }, seenHeight: 20n, trail: [] }

const nothingFound = { transfers: [], movements: [], proved: [], dissent: [] }

const reader: NetworkReader & TransactionReader = {
  network: base,
  readTransaction(tx) {
    told.push(`verify ${tx.slice(-4)}`)
    return Promise.resolve(verifications.shift() ?? { kind: 'unknown' })
  },
  heightAt: () => Promise.resolve(10n),
  readRange: ({ from, to }) => {
    told.push(`read ${from} to ${to}`)
    return Promise.resolve({ ...nothingFound, proved: [{ from, to }], reached: to })
  },
  checkIdentity: () => Promise.resolve(void told.push('identity')),
  scan() {
    told.push('scan')
    const result = { ...nothingFound, cursor, headHeight: 22n, rewoundTo: null, more: false }
    return Promise.resolve({ ...result, ...scans.shift() })
  },
}

const ended: MismatchChange = {
  kind: 'address_changed',
  severity: 'severe',
  network: 'base',
  change: 'cleared',
}

function work(changes: Partial<WorkDeps> = {}): Work {
  return createWork({
    ...books.deps,
    holder: 'me',
    leaseMs: 600_000,
    overlapMs: 0,
    startHeights: new Map(),
    assets: new Map(),
    sweepEveryMs: 0,
    cadence: { youngMs: 3_600_000, quietMs: 3_600_000 },
    client: {
      list: ownProfile.list,
      listDeposits: () => Promise.resolve({ records: [], next: null }),
      readDeposit: () => Promise.resolve(null),
    },
    audit: () => Promise.resolve({ compared: 1, changes: [ended] }),
    prove: () => Promise.resolve('busy'),
    readers: new Map([[base, reader]]),
    wake: (job, key = '') => Promise.resolve(void told.push(`wake ${job} ${key}`.trim())),
    observe: {
      applied: ({ rows, groups }) => void told.push(`applied ${rows} ${groups}`),
      polled: () => undefined,
      mismatches: (all) => void told.push(...all.map(({ kind, change }) => `${kind} ${change}`)),
      rewound: (network) => void told.push(`rewound ${network}`),
    },
    ...changes,
  })
}

const { kind: _kind, role: _role, epoch: _epoch, receivedAt: _at, ...facts } = payment()
const transfer = { ...facts, stage: 'final' as const }

async function states(): Promise<string[]> {
  const { rows } = await sql<{ state: string }>`select state from deposit order by id`.execute(books.db)
  return rows.map(({ state }) => state)
}

test('a scan that found something has it applied, one that has more to read goes on', async () => {
  scans = [{ transfers: [transfer], more: true }, {}]
  const { scan } = work()
  await scan('base')
  await scan('base')
  expect(told).toEqual(['identity', 'scan', 'wake apply', 'wake backfill base', 'wake scan base', 'scan'])
})

test('a hole that a scan leaves is read by the next backfill, and what is there applied', async () => {
  scans = [{ proved: [{ from: 21n, to: 24n }], cursor: { ...cursor, final: { height: 24n, hash: '0x24' } } }]
  const { scan, backfill } = work({ startHeights: new Map([[base, 18n]]) })
  await scan('base')
  await backfill('base')
  await backfill('base')
  expect(told.filter((one) => one.startsWith('read'))).toEqual(['read 18 to 20'])
})

test('a network that has halted is a mismatch that says how to go on, until it is read again', async () => {
  const mend = 'depositd backfill --network base --from HEIGHT'
  const lost = new Fault('history_lost', { network: 'base', problem: 'it is gone', mend })
  const halted = { ...reader, scan: () => Promise.reject(lost) }
  const halting = work({ readers: new Map([[base, halted]]) })
  await expect(halting.scan('base')).rejects.toThrow('history_lost')
  await expect(halting.scan('base')).rejects.toThrow('history_lost')
  expect(told.filter((one) => one.startsWith('history_lost'))).toEqual(['history_lost opened'])
  const { rows } = await sql`
    select subject, severity, detail from mismatch where cleared_at is null`.execute(books.db)
  expect(rows).toEqual([
    { subject: 'network/base', severity: 'severe', detail: { problem: 'it is gone', mend } },
  ])
  await work().scan('base')
  expect(told.at(-1)).toBe('wake backfill base')
  expect(told).toContain('history_lost cleared')
})

test('what an audit finds is told', async () => {
  await work().audit()
  expect(told).toEqual(['address_changed cleared'])
})

test('what a proof of balances finds is told, and applied; an asset that does not answer is a fault of the job', async () => {
  const opened = {
    kind: 'unexplained_balance',
    severity: 'severe',
    network: 'base',
    change: 'opened',
  } as const
  const proved: Proved = { network: base, read: 2, stored: 1, changes: [opened], problems: [] }
  const { prove } = work({ prove: () => Promise.resolve(proved) })
  await prove('base')
  expect(told).toEqual(['unexplained_balance opened', 'wake apply'])
  const silent = work({ prove: () => Promise.resolve({ ...proved, problems: ['no answer'] }) })
  await expect(silent.prove('base')).rejects.toThrow(/balances on base.*no answer/)
})

test('a change of history is told, and only then', async () => {
  scans = [{}, { rewoundTo: 3n }]
  const { scan } = work()
  await scan('base')
  await scan('base')
  expect(told.filter((one) => one.startsWith('rewound'))).toEqual(['rewound base'])
})

test('a node that is not of its chain is asked again each time, and never read', async () => {
  const stranger = { ...reader, checkIdentity: () => Promise.reject(new Error('wrong chain')) }
  const { scan } = work({ readers: new Map([[base, stranger]]) })
  await expect(scan('base')).rejects.toThrow('wrong chain')
  await expect(scan('base')).rejects.toThrow('wrong chain')
  expect(told).toEqual([])
})

const readNetworks = new Set([base])
const seenPayment: TransactionReading = {
  kind: 'read',
  transfers: [{ ...transfer, height: 21n, stage: 'seen' }],
}

test('a transaction that the service names is read at once, and what it moved is applied', async () => {
  const { apply, scan, verify } = work({ readNetworks, now: () => at(6) })
  await scan('base')
  await books.receive(webhook({ status: 'observed' }))
  told.length = 0
  await apply()
  expect(told).toContain('wake verify base')
  told.length = 0
  verifications = [seenPayment]
  await verify('base')
  expect(told).toEqual([`verify ${txId('pay').slice(-4)}`, 'wake apply'])
  told.length = 0
  await verify('base')
  expect(told).toEqual([])
})

test('a sweep has those read whose time has come, on networks that are read', async () => {
  const { apply, scan, sweep } = work({ readNetworks: new Set([base, arbitrum]), now: () => at(6) })
  await scan('base')
  await books.receive(webhook())
  await apply()
  told.length = 0
  await sweep()
  expect(told.filter((one) => one.startsWith('wake'))).toEqual(['wake verify base'])
})

test('what is named on a network that nobody reads is not asked for', async () => {
  await books.receive(webhook())
  await work().apply()
  expect(await books.db.selectFrom('named_transaction').selectAll().execute()).toEqual([])
})

test('everything there is to do holds what is named, too', async () => {
  verifications = [seenPayment]
  await books.receive(webhook({ status: 'observed' }))
  await work({ readNetworks, now: () => at(6) }).all()
  const rows = await books.db.selectFrom('deposit').select(['chain_at', 'state']).execute()
  expect(rows).toEqual([{ chain_at: at(6), state: 'observed' }])
})

test('a sweep decides what has become due, and applies what no wake-up reached', async () => {
  let now = at(6)
  await books.receive(claim(), payment(), delivery())
  const { apply, sweep } = work({ now: () => now })
  await apply()
  told.length = 0
  now = late
  await books.receive(payment({ stage: 'seen', tx: txId('new') }))
  await sweep()
  expect(told).toEqual(['applied 0 1', 'applied 0 0'])
  expect(await states()).toEqual(['reconciled'])
  await sql`update inbox_pending set stored_at = now() - interval '6 seconds'`.execute(books.db)
  await sweep()
  expect(told.slice(2)).toEqual(['applied 0 0', 'applied 1 1', 'applied 0 0'])
})

test('everything there is to do is done without a queue', async () => {
  scans = [{ transfers: [], more: true }, { transfers: [transfer] }]
  await books.receive(webhook(), claim(), delivery())
  await work().all()
  expect(await states()).toEqual(['reconciled'])
  expect(told.filter((one) => one.startsWith('wake'))).toEqual([])
})

/** Applies a batch of so many deposits, every second of them delivered. */
async function statementsFor(deposits: number): Promise<number> {
  for (let place = 0; place < deposits; place++) {
    const [pay, forward] = [txId(`p${deposits}${place}`), txId(`f${deposits}${place}`)]
    const said = {
      serviceId: `dep_${deposits}_${place}` as ServiceId,
      deposit: { tx: pay },
      settlement: { tx: forward },
    }
    await books.receive(
      claim(said),
      payment({ tx: pay }),
      ...(place % 2 === 0 ? [delivery({ tx: forward })] : []),
    )
  }
  const { db, count } = countStatements(books.db)
  const applied = await applyPending({ ...books.deps, db })
  expect(applied).toMatchObject({ groups: deposits })
  return count()
}

test('a batch of two hundred deposits takes no more statements than one of two', async () => {
  const few = await statementsFor(2)
  expect(few).toBeGreaterThan(10)
  expect(await statementsFor(200)).toBe(few)
})

test('hostile words of the service end as named mismatches, and what stands beside them is applied', async () => {
  const readClaim = createClaimReader(ownProfile, {
    networks: [],
    creditAsset: { key: 'stable-wallet/USDC' as never, network: base, symbol: 'USDC', decimals: 6 },
  })
  const bodies = [
    'null',
    '{"id":"\\u0000"}',
    `{"created_at":"2026-01-01T00:00:00Z","data":{"id":"x","source":{"network":"\\u0000"}}}`,
    '['.repeat(10_000),
    '\u0000',
  ]
  const rows = bodies.map((body, place) => ({
    source: 'webhook' as const,
    sourceKey: `hostile ${place}`,
    body: Buffer.from(body),
    headers: {},
    receivedAt: at(1),
  }))
  await appendInbox(books.db, rows)
  await books.receive(payment())
  const applied = await applyPending({ ...books.deps, readClaim })
  expect(applied).toMatchObject({ rows: 6, groups: 1 })
  expect(applied.mismatches.filter(({ kind }) => kind === 'schema_drift')).toHaveLength(5)
})

test('a row that cannot be applied fails the job and holds up no other', async () => {
  const readClaim: WorkDeps['readClaim'] = (payload) => {
    if (payload.body.toString() === 'poison') throw new Error('poisoned')
    return books.deps.readClaim(payload)
  }
  const row = {
    source: 'api' as const,
    sourceKey: 'poison',
    body: Buffer.from('poison'),
    headers: {},
    receivedAt: at(1),
  }
  await appendInbox(books.db, [row])
  await books.receive(webhook(), claim(), payment(), delivery())
  await expect(work({ readClaim }).apply()).rejects.toThrow('poisoned')
  const deposits = await books.db.selectFrom('deposit').select('state').execute()
  expect(deposits).toEqual([{ state: 'reconciled' }])
  const { rows } =
    await sql`select i.source_key from inbox_pending p join inbox i on i.id = p.inbox_id`.execute(books.db)
  expect(rows).toEqual([{ source_key: 'poison' }])
})
