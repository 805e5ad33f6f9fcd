import { type Kysely, sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { decodeObservation, type ServiceId } from '../../../src/core/evidence.ts'
import { type ApplyDeps, applyDue, applyPending } from '../../../src/jobs/books/apply.ts'
import { appendInbox } from '../../../src/store/inbox.ts'
import type { Tables } from '../../../src/store/tables.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { at, claim, delivery, payment, usdcOnBase, usdtOnBase, webhook } from '../../support/evidence.ts'

let books: Books
let db: Kysely<Tables>
let deps: ApplyDeps
let receive: Books['receive']
let clock: Date

beforeEach(async () => {
  clock = at(6)
  books = await openBooks({ now: () => clock, readClaim: ({ body }) => readClaim(body.toString()) })
  ;({ db, deps, receive } = books)
})
afterEach(() => books[Symbol.asyncDispose]())

function readClaim(body: string): ReturnType<ApplyDeps['readClaim']> {
  if (body === 'nonsense')
    return { kind: 'schema_drift', path: 'data.source', problem: 'is missing', value: null, fix: '' }
  return { kind: 'claim', claim: decodeObservation(body) as never }
}

async function balances(): Promise<Record<string, string>> {
  const rows = await db.selectFrom('ledger_transfer').selectAll().execute()
  const sums = new Map<string, bigint>()
  for (const { debit, credit, asset, amount } of rows) {
    const [network] = asset.split('/')
    for (const [account, change] of [
      [debit, BigInt(amount)],
      [credit, -BigInt(amount)],
    ] as const) {
      const name = `${account} ${network}`
      sums.set(name, (sums.get(name) ?? 0n) + change)
    }
  }
  return Object.fromEntries(
    [...sums].filter(([, sum]) => sum !== 0n).map(([name, sum]) => [name, sum.toString()]),
  )
}

function deposits() {
  return db.selectFrom('deposit').selectAll().where('merged_into', 'is', null).orderBy('id').execute()
}

async function openKinds(): Promise<string[]> {
  const rows = await db
    .selectFrom('mismatch')
    .selectAll()
    .where('cleared_at', 'is', null)
    .orderBy('kind')
    .execute()
  return rows.map(({ kind }) => kind)
}

const booked = {
  'assets:forwarded:arbitrum:0x00000000000000000000000000000000000000ff arbitrum': '99900000',
  'expenses:fees:service arbitrum': '100000',
  'liabilities:deposits:channel:shop arbitrum': '-100000000',
}

function assetAtStake(kind: string) {
  return db.selectFrom('mismatch').select('asset').where('kind', '=', kind).executeTakeFirst()
}

test('three sources and two legs become one reconciled deposit with three journals', async () => {
  await receive(webhook(), claim(), payment(), delivery())
  const applied = await applyPending(deps)
  expect(applied).toMatchObject({ rows: 4, groups: 1, journals: 3, mismatches: [] })
  expect(await deposits()).toMatchObject([
    { state: 'reconciled', amount: '100000000', settlement_amount: '99900000' },
  ])
  expect(await balances()).toEqual(booked)
})

test('applying the same evidence again books nothing', async () => {
  await receive(webhook(), claim(), payment(), delivery())
  await applyPending(deps)
  await sql`insert into inbox_pending (inbox_id, received_at) select id, received_at from inbox on conflict do nothing`.execute(
    db,
  )
  expect(await applyPending(deps)).toMatchObject({ journals: 0, mismatches: [] })
  expect(await balances()).toEqual(booked)
})

test('an unclaimed payment stands in suspense until it is claimed', async () => {
  clock = at(600)
  await receive(payment())
  await applyPending(deps)
  expect(await openKinds()).toEqual(['unreported'])
  expect(await balances()).toEqual({
    'assets:in_transit:base base': '100000000',
    'liabilities:suspense base': '-100000000',
  })
  await receive(webhook(), claim(), delivery())
  await applyPending(deps)
  expect(await openKinds()).toEqual([])
  expect(await balances()).toEqual(booked)
})

test('a payment that vanished after it was booked is reversed, and booked again when it comes back', async () => {
  await receive(webhook(), claim(), payment(), delivery())
  await applyPending(deps)
  await receive(payment({ stage: 'orphaned', epoch: 1 }))
  await applyPending(deps)
  expect(await deposits()).toMatchObject([{ state: 'orphaned' }])
  expect(await openKinds()).toEqual(['orphaned_after_booking'])
  expect(await balances()).toEqual({})
  await receive(payment({ epoch: 1 }))
  await applyPending(deps)
  expect(await deposits()).toMatchObject([{ state: 'reconciled' }])
  expect(await openKinds()).toEqual([])
  expect(await balances()).toEqual(booked)
})

test('time alone opens a mismatch, and late evidence clears it', async () => {
  await receive(claim(), payment(), delivery())
  await applyPending(deps)
  expect(await openKinds()).toEqual([])
  clock = at(13)
  expect(await applyDue(deps)).toMatchObject({ journals: 0 })
  expect(await openKinds()).toEqual(['webhook_missing'])
  await receive(webhook())
  const late = await applyPending(deps)
  expect(late.mismatches).toMatchObject([{ kind: 'webhook_missing', change: 'cleared' }])
  expect(await openKinds()).toEqual([])
})

test('the asset that a mismatch is about follows the evidence, as its detail does', async () => {
  clock = at(60)
  await receive(webhook({ deposit: { asset: usdtOnBase } }))
  await books.settle()
  expect(await assetAtStake('chain_missing')).toEqual({ asset: usdtOnBase })
  await receive(claim())
  await books.settle()
  expect(await assetAtStake('chain_missing')).toEqual({ asset: usdcOnBase })
})

test('a deposit of which the service names no owner is that of whoever has the address', async () => {
  await receive(payment(), delivery(), webhook({ owner: null }), claim({ owner: null }))
  await applyPending(deps)
  expect(await deposits()).toMatchObject([{ state: 'reconciled', owner_kind: 'channel', owner_id: 'shop' }])
})

test('a payload that does not fit is kept and named, and stops nobody else', async () => {
  const row = {
    source: 'webhook' as const,
    sourceKey: 'bad',
    body: Buffer.from('nonsense'),
    headers: {},
    receivedAt: at(1),
  }
  await appendInbox(db, [row])
  await receive(claim(), payment(), delivery(), webhook())
  const applied = await applyPending(deps)
  expect(applied.mismatches).toMatchObject([{ kind: 'schema_drift', change: 'opened' }])
  expect(await deposits()).toMatchObject([{ state: 'reconciled' }])
})

test('each completed stage is measured once', async () => {
  await receive(webhook(), claim(), payment(), delivery())
  const stages = (await applyPending(deps)).lags.map(({ stage }) => stage)
  expect(new Set(stages)).toEqual(
    new Set([
      'api_detection',
      'apply',
      'chain_detection',
      'delivery',
      'finality',
      'reconciliation',
      'settlement',
    ]),
  )
  await sql`insert into inbox_pending (inbox_id, received_at) select id, received_at from inbox order by id desc limit 1`.execute(
    db,
  )
  expect((await applyPending(deps)).lags.map(({ stage }) => stage)).toEqual(['apply', 'delivery'])
})

test('workers side by side on one deposit book it once', async () => {
  const copies = Array.from({ length: 20 }, (_, place) => webhook({ receivedAt: at(place) }))
  await receive(claim(), payment(), delivery(), ...copies)
  // One row per worker and round, so that all of them meet in one group.
  const pending = await sql<{ inbox_id: bigint }>`select inbox_id from inbox_pending order by 1`.execute(db)
  expect(pending.rows).toHaveLength(23)
  const rounds = await Promise.all(Array.from({ length: 20 }, () => applyPending(deps)))
  expect(rounds.reduce((sum, { rows }) => sum + rows, 0)).toBe(23)
  expect(await balances()).toEqual(booked)
})

test('workers side by side that link the same new keys do not lose any of them', async () => {
  const ids = Array.from({ length: 20 }, (_, place) => `dep_${place}` as ServiceId)
  await Promise.all(
    ids.map(async (serviceId, place) => {
      await receive(claim({ serviceId, settlement: { tx: null }, receivedAt: at(place) }))
      await applyPending(deps)
    }),
  )
  await receive(payment())
  await applyPending(deps)
  const found = await deposits()
  expect(found.filter(({ service_id }) => service_id !== null)).toHaveLength(20)
  expect(new Set(found.map(({ group_id }) => group_id)).size).toBe(1)
})
