import type { Kysely } from 'kysely'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Asset } from '../../src/core/asset.ts'
import type { Observation, ServiceId, Sighting } from '../../src/core/evidence.ts'
import { decodeObservation, encodeObservation } from '../../src/core/observation-json.ts'
import { type ApplyDeps, applyDue, applyPending } from '../../src/jobs/apply.ts'
import { pinAssets, saveOwner } from '../../src/store/address-book.ts'
import { inTransaction, openDatabase } from '../../src/store/database.ts'
import { appendInbox } from '../../src/store/inbox.ts'
import { appendSightings } from '../../src/store/sightings.ts'
import type { Tables } from '../../src/store/tables.ts'
import {
  arbitrum,
  at,
  base,
  channelAddress,
  claim,
  credit,
  delivery,
  liquidity,
  payment,
  policy,
  recipient,
  txId,
  usdcOnArbitrum,
  usdcOnBase,
  webhook,
} from '../support/evidence.ts'
import { type TestDatabase, testDatabase } from '../support/postgres.ts'

let database: TestDatabase
let db: Kysely<Tables>
let deps: ApplyDeps
let clock = at(6)

beforeAll(async () => {
  database = await testDatabase()
  db = openDatabase<Tables>({ url: database.url, poolMax: 25, applicationName: 'test' })
  deps = {
    db,
    readClaim: ({ body }) =>
      body.toString() === 'nonsense'
        ? { kind: 'unreadable', path: 'data.source', problem: 'is missing' }
        : { kind: 'claim', claim: decodeObservation(body.toString()) as never },
    rules: { policy, senders: new Set([`arbitrum/${liquidity}`]) },
    now: () => clock,
  }
  const asset = (key: Asset['key'], symbol: string) => ({ key, network: base, symbol, decimals: 6 })
  await pinAssets(db, [asset(usdcOnBase, 'USDC'), asset(usdcOnArbitrum, 'USDC'), asset(credit, 'USDC')])
  await saveOwner(db, {
    owner: { kind: 'channel', id: 'shop' },
    deposits: [{ network: base, address: channelAddress }],
    forward: { network: arbitrum, asset: 'USDC', recipient },
  })
})

afterAll(async () => {
  await db.destroy()
  await database.drop()
})

let run = 0
beforeEach(() => {
  run++
  clock = at(6)
})

/** Makes the world of each test its own: another transaction, another service id. */
function renamed<Kind extends Observation>(observation: Kind): Kind {
  const rename = (name: string) => txId(`${name}${run}`)
  const text = encodeObservation(observation)
    .replaceAll(txId('pay'), rename('pay'))
    .replaceAll(txId('forward'), rename('forward'))
    .replaceAll('"dep_', `"dep_${run}_`)
  return decodeObservation(text) as Kind
}

async function receive(...observations: Observation[]): Promise<void> {
  const all = observations.map(renamed)
  const sightings = all.filter((one): one is Sighting => one.kind === 'sighting')
  await inTransaction(db, (tx) => appendSightings(tx, sightings))
  const claims = all.filter((one) => one.kind === 'claim')
  await appendInbox(
    db,
    claims.map((one) => ({
      source: one.source,
      sourceKey: encodeObservation(one),
      body: Buffer.from(encodeObservation(one)),
      headers: {},
      receivedAt: one.receivedAt,
    })),
  )
}

async function books(): Promise<Record<string, string>> {
  const { rows } = await sql<{ account: string; asset: string; balance: string }>`
    select e.account, e.asset, sum(e.amount)::text as balance
    from ledger_entry e join ledger_journal j on j.id = e.journal_id
    where j.transfer like ${`%${txId(`pay${run}`)}%`} group by 1, 2 having sum(e.amount) <> 0`.execute(db)
  return Object.fromEntries(
    rows.map(({ account, asset, balance }) => [`${account} ${asset.split('/')[0]}`, balance]),
  )
}

async function deposits() {
  const rows = await db
    .selectFrom('deposit')
    .selectAll()
    .where('merged_into', 'is', null)
    .orderBy('id')
    .execute()
  return rows.filter(
    (row) =>
      row.tx === txId(`pay${run}`) ||
      row.service_id?.startsWith(`dep_${run}_`) ||
      row.settlement_tx === txId(`forward${run}`),
  )
}

async function openKinds(): Promise<string[]> {
  const ids = (await deposits()).map(({ id }) => id)
  const rows = await db
    .selectFrom('mismatch')
    .selectAll()
    .where('cleared_at', 'is', null)
    .orderBy('kind')
    .execute()
  return rows.filter((row) => row.deposit_id !== null && ids.includes(row.deposit_id)).map(({ kind }) => kind)
}

const booked = {
  'assets:forwarded:arbitrum:0x00000000000000000000000000000000000000ff arbitrum': '99900000',
  'equity:conversion arbitrum': '-100000000',
  'equity:conversion base': '100000000',
  'expenses:fees:service arbitrum': '100000',
  'liabilities:deposits:channel:shop base': '-100000000',
}

test('three sources and two legs become one reconciled deposit with two journals', async () => {
  await receive(webhook(), claim(), payment(), delivery())
  const applied = await applyPending(deps)
  expect(applied).toMatchObject({ rows: 4, groups: 1, journals: 2, mismatches: [] })
  expect(await deposits()).toMatchObject([
    { state: 'reconciled', amount: '100000000', settlement_amount: '99900000' },
  ])
  expect(await books()).toEqual(booked)
})

test('one source at a time, in any order, comes to the same books', async () => {
  for (const one of [delivery(), payment({ stage: 'seen' }), webhook(), claim(), payment()]) {
    await receive(one)
    await applyPending(deps)
  }
  expect(await deposits()).toMatchObject([{ state: 'reconciled' }])
  expect(await books()).toEqual(booked)
})

test('applying the same evidence again books nothing', async () => {
  await receive(webhook(), claim(), payment(), delivery())
  await applyPending(deps)
  await sql`insert into inbox_pending (inbox_id) select id from inbox on conflict do nothing`.execute(db)
  expect(await applyPending(deps)).toMatchObject({ journals: 0, mismatches: [] })
  expect(await books()).toEqual(booked)
})

test('what was told under an id and what was seen on chain become one deposit when a record links them', async () => {
  await receive(webhook({ deposit: { tx: null, index: null }, settlement: { tx: null } }))
  await applyPending(deps)
  await receive(payment())
  await applyPending(deps)
  expect(await deposits()).toHaveLength(2)
  await receive(claim(), delivery())
  await applyPending(deps)
  expect(await deposits()).toMatchObject([{ state: 'reconciled', service_id: `dep_${run}_1` }])
  expect(await books()).toEqual(booked)
})

test('an unclaimed payment stands in suspense until it is claimed', async () => {
  clock = at(600)
  await receive(payment())
  await applyPending(deps)
  expect(await openKinds()).toEqual(['unreported'])
  expect(await books()).toEqual({
    'assets:in_transit:base base': '100000000',
    'liabilities:suspense base': '-100000000',
  })
  await receive(webhook(), claim(), delivery())
  await applyPending(deps)
  expect(await openKinds()).toEqual([])
  expect(await books()).toEqual(booked)
})

test('a payment that vanished after it was booked is reversed, and booked again when it comes back', async () => {
  await receive(webhook(), claim(), payment(), delivery())
  await applyPending(deps)
  await receive(payment({ stage: 'orphaned', epoch: 1 }))
  await applyPending(deps)
  expect(await deposits()).toMatchObject([{ state: 'orphaned' }])
  expect(await openKinds()).toEqual(['orphaned_after_booking'])
  expect(await books()).toEqual({})
  await receive(payment({ epoch: 1 }))
  await applyPending(deps)
  expect(await deposits()).toMatchObject([{ state: 'reconciled' }])
  expect(await openKinds()).toEqual([])
  expect(await books()).toEqual(booked)
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

test('a payload that does not fit is kept and named, and stops nobody else', async () => {
  const row = {
    source: 'webhook' as const,
    sourceKey: `bad${run}`,
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
  await sql`insert into inbox_pending (inbox_id) select max(id) from inbox`.execute(db)
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
  expect(await books()).toEqual(booked)
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
