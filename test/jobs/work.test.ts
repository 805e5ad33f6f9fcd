import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { defaultService } from '../../src/core/evidence.ts'
import { applyPending } from '../../src/jobs/books/apply.ts'
import type { WorkDeps } from '../../src/jobs/work.ts'
import type { DepositClient } from '../../src/provider/deposit-client.ts'
import { createClaimReader } from '../../src/provider/read-claim.ts'
import { inTransaction } from '../../src/store/database.ts'
import { eventsAfter } from '../../src/store/events.ts'
import { appendInbox } from '../../src/store/inbox.ts'
import { workOnCases } from '../../src/store/mismatches/cases.ts'
import { type Books, late } from '../support/books.ts'
import { at, base, claim, delivery, payment, txId, walletAddress, webhook } from '../support/evidence.ts'
import { evmNetwork } from '../support/made-up-networks.ts'
import { vocabulary } from '../support/own-payloads.ts'
import { ownProfile } from '../support/profile.ts'
import { ofDefault, openScriptedWork, type ScriptedWork, unlistedOwners } from '../support/scripted-work.ts'
import { tamper } from '../support/tamper.ts'

let world: ScriptedWork
let books: Books
let reported: string[]
let work: ScriptedWork['work']

beforeEach(async () => {
  world = await openScriptedWork()
  ;({ books, reported, work } = world)
})
afterEach(() => world[Symbol.asyncDispose]())

async function states(): Promise<string[]> {
  const { rows } = await sql<{ state: string }>`select state from deposit order by id`.execute(books.db)
  return rows.map(({ state }) => state)
}

test('an audit reports an owner whose stated address is not the approved one', async () => {
  const owner = { kind: 'channel', id: 'shop' } as const
  const stated = { owner, deposits: [{ network: 'base', address: walletAddress }], forward: null }
  const list = (kind: string) => Promise.resolve(kind === 'channel' ? [stated] : null)
  await work({ owners: ofDefault({ ...unlistedOwners, list }), networks: [evmNetwork('base')] }).audit()
  expect(reported).toEqual(['address_changed opened'])
})

test('sealing seals what is booked, and tells of a seal that is broken', async () => {
  await books.receive(payment())
  const { apply, seal } = work()
  await apply()
  await seal()
  expect(reported.filter((one) => one.startsWith('seal_broken'))).toEqual([])
  await tamper(books, 'update ledger_transfer set amount = amount + 1')
  await seal()
  expect(reported.filter((one) => one.startsWith('seal_broken'))).toEqual(['seal_broken opened'])
})

test('a sweep decides what has become due, and applies what no wake-up reached', async () => {
  let now = at(6)
  await books.receive(claim(), payment(), delivery())
  const { apply, sweep } = work({ now: () => now })
  await apply()
  reported.length = 0
  now = late
  await books.receive(payment({ stage: 'seen', tx: txId('new'), receivedAt: late }))
  await sweep()
  expect(reported).toEqual(['applied 0 1', 'applied 0 0', 'deliver'])
  expect(await states()).toEqual(['reconciled'])
  await sql`update inbox_pending set stored_at = now() - interval '6 seconds'`.execute(books.db)
  await sweep()
  expect(reported.slice(3)).toEqual(['applied 0 0', 'applied 1 1', 'deliver', 'applied 0 0'])
})

test('a sweep tells once what people decided on a command line', async () => {
  await sql`
    insert into mismatch (subject, kind, severity, network, opened_at)
    values ('transfer/one', 'unreported', 'severe', 'base', now())`.execute(books.db)
  const { id } = await books.db.selectFrom('mismatch').select('id').executeTakeFirstOrThrow()
  const act = { actor: 'erin', action: 'resolved', text: 'paid by hand', decision: null } as const
  await inTransaction(books.owner, (tx) => workOnCases(tx, [id], act))
  await work().sweep()
  await work().sweep()
  expect(reported.filter((one) => !one.startsWith('applied'))).toEqual(['unreported resolved', 'deliver'])
})

test('events are numbered after each batch, and those of a worker that was killed before that by the next sweep', async () => {
  const types = async () => (await eventsAfter(books.db, 0n, { limit: 10 })).map(({ type }) => type)
  await books.receive(webhook({ status: 'observed' }))
  await applyPending(books.deps)
  expect(await types()).toEqual([])
  await work().sweep()
  expect((await types())[0]).toBe('deposit.observed')
  await books.receive(payment())
  await work().apply()
  expect(await types()).toEqual(expect.arrayContaining(['deposit.final']))
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

const withdrawalEvent = (id: string, wallet: string | null) => ({
  source: 'webhook' as const,
  sourceKey: id,
  body: Buffer.from(JSON.stringify({ id, type: 'withdrawal.settled', data: { stable_wallet: wallet } })),
  headers: {},
  receivedAt: at(1),
})

test('a webhook of a withdrawal has the wallet read that it names, or else all of them', async () => {
  const readClaim = createClaimReader(ownProfile, vocabulary)
  const { apply } = work({ readClaim })
  await appendInbox(books.db, [
    withdrawalEvent('1', 'savings'),
    withdrawalEvent('2', 'savings'),
    withdrawalEvent('3', 'till'),
  ])
  await apply()
  expect(reported.filter((one) => one.startsWith('wake'))).toEqual([
    'wake wallet savings',
    'wake wallet till',
  ])
  reported.length = 0
  await appendInbox(books.db, [withdrawalEvent('4', null), withdrawalEvent('5', 'till')])
  await apply()
  expect(reported.filter((one) => one.startsWith('wake'))).toEqual(['wake wallets default'])
  reported.length = 0
  await appendInbox(
    books.db,
    Array.from({ length: 21 }, (_, place) => withdrawalEvent(`many ${place}`, `${place}`)),
  )
  await apply()
  expect(reported.filter((one) => one.startsWith('wake'))).toEqual(['wake wallets default'])
})

test('rows that arrive soon after a small batch are applied in the same run', async () => {
  const readClaim = createClaimReader(ownProfile, vocabulary)
  let [arrived, runs] = [0, 0]
  const arrive = () => appendInbox(books.db, [withdrawalEvent(`late ${++arrived}`, 'till')])
  let arriving: Promise<unknown> = arrive()
  // The batch lasts longer than it takes until the next row is there.
  const wake = async () => {
    await sleep(60)
    if (arrived < 9) arriving = sleep(10).then(arrive)
  }
  const { apply } = work({ readClaim, wake })
  for (; reported.filter((one) => one === 'applied 1 0').length < 9; runs++) {
    await arriving
    await apply()
  }
  expect(runs).toBeLessThan(5)
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

test('deadlines pass, although a row that cannot be applied waits', async () => {
  let now = at(6)
  const readClaim: WorkDeps['readClaim'] = (payload) => {
    if (payload.body.toString() === 'poison') throw new Error('poisoned')
    return books.deps.readClaim(payload)
  }
  const body = Buffer.from('poison')
  await appendInbox(books.db, [{ source: 'api', sourceKey: 'poison', body, headers: {}, receivedAt: at(1) }])
  await books.receive(payment())
  const { apply, sweep } = work({ readClaim, now: () => now })
  await expect(apply()).rejects.toThrow('poisoned')
  now = late
  await sweep()
  expect((await books.db.selectFrom('mismatch').select('kind').execute()).map(({ kind }) => kind)).toEqual([
    'unreported',
  ])
})

const ahead = () => new Date(Date.now() + 3_600_000)

test('a process whose clock is ahead reads on from where reading is, and what it read hides nothing that comes later', async () => {
  const asked: (Date | null)[] = []
  const since = { parameter: 'since', of: 'updated', as: 'iso' } as const
  let status = 'confirmed'
  const record = () => ({ id: 'dep_1', time: null, text: JSON.stringify({ id: 'dep_1', status }) })
  const client: DepositClient = {
    service: defaultService,
    list: { ...ownProfile.list, since },
    listDeposits(place) {
      asked.push(place.since)
      return Promise.resolve({ records: [], next: null })
    },
    readDeposit: () => Promise.resolve(record()),
  }
  const set = { clients: ofDefault(client), youngMs: 0, quietMs: 0, sweepEveryMs: 3_600_000 }
  const cursor = JSON.stringify({ readAt: ahead().getTime(), backAt: Date.now(), sweptAt: Date.now() })
  await sql`insert into stream (name, cursor) values ('poll', ${cursor}::jsonb)`.execute(books.db)
  const wrong = work({ ...set, now: ahead })
  for (let time = 0; time < 3; time++) await wrong.poll('default')
  await wrong.read('dep_1')
  status = 'settled'
  await work({ ...set, now: () => new Date() }).read('dep_1')
  const soon = Date.now() + 60_000
  expect(asked.filter((one) => one !== null && one.getTime() > soon)).toEqual([])
  expect(asked.filter((one) => one !== null)).toHaveLength(3)
  const { rows } = await sql`select from inbox where source = 'api'`.execute(books.db)
  expect(rows).toHaveLength(2)
})
