import { type Kysely, sql, type Transaction } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Loss, lossOf } from '../../../src/core/mismatch.ts'
import { inTransaction, openDatabase } from '../../../src/store/database.ts'
import { numberEvents } from '../../../src/store/events.ts'
import { readGauges } from '../../../src/store/gauges.ts'
import { type CaseAction, workOnCases } from '../../../src/store/mismatches/cases.ts'
import { endMismatches, type HeldMismatch, openMismatches } from '../../../src/store/mismatches/mismatches.ts'
import type { Tables } from '../../../src/store/tables.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { at, usdcOnArbitrum, usdcOnBase } from '../../support/evidence.ts'

let books: Books
let owner: Kysely<Tables>

beforeAll(async () => {
  books = await openBooks()
  owner = openDatabase({ url: books.url, poolMax: 2, applicationName: 'test owner' })
})
afterAll(async () => {
  await owner.destroy()
  await books[Symbol.asyncDispose]()
})

const inOne = <Result>(work: (tx: Transaction<Tables>) => Promise<Result>) => inTransaction(books.db, work)

function held(name: string, changes: Partial<HeldMismatch> = {}): HeldMismatch {
  const about = { network: 'base', asset: usdcOnBase, value: 5n, loss: lossOf(usdcOnBase, 5n) }
  return { subject: `transfer/${name}`, kind: 'unreported', ...about, detail: {}, ...changes }
}

const hold = (...all: HeldMismatch[]) => inOne((tx) => openMismatches(tx, all))
const end = (name: string) => endMismatches(books.db, sql`subject = ${`transfer/${name}`}`)
const act = (ids: readonly bigint[], action: CaseAction, actor = 'erin') =>
  inOne((tx) => workOnCases(tx, ids, { actor, ...action }))
/** As the owner of the database: these are losses. */
const resolve = (...ids: bigint[]) =>
  inTransaction(owner, (tx) =>
    workOnCases(tx, ids, { actor: 'erin', action: 'resolved', text: 'paid by hand', decision: null }),
  )

/** Opens a mismatch about this and returns its number. */
async function opened(name: string): Promise<bigint> {
  await hold(held(name))
  const { rows } = await sql<{ id: bigint }>`
    select max(id) as id from mismatch where subject = ${`transfer/${name}`}`.execute(books.db)
  return rows[0]?.id ?? 0n
}

async function shown(id: bigint) {
  const { rows } = await sql<Record<string, unknown>>`
    select status, assigned_to, snoozed_until, resolved_by, reason, cleared_how from accounting.mismatches
    where id = ${id}`.execute(books.db)
  return rows[0]
}

async function history(id: bigint): Promise<string[]> {
  const { rows } = await sql<{ line: string }>`
    select concat_ws(' ', actor, action, text) as line from accounting.mismatch_history
    where mismatch_id = ${id} order by at, action = 'cleared'`.execute(books.db)
  return rows.map(({ line }) => line)
}

test('what is resolved stays so while its evidence says the same, and is not open', async () => {
  const id = await opened('same')
  await resolve(id)
  expect(await hold(held('same'))).toEqual([])
  expect(await shown(id)).toMatchObject({ status: 'resolved', resolved_by: 'erin', reason: 'paid by hand' })
  const { rows } = await sql`select 1 from open_mismatch where id = ${id}`.execute(books.db)
  expect(rows).toEqual([])
  expect((await readGauges(books.db)).mismatches).toEqual([])
})

test('other evidence opens it again, and history has both', async () => {
  const id = await opened('other')
  await resolve(id)
  const changes = await hold(held('other', { detail: { amount: '7' }, value: 7n }))
  expect(changes).toEqual([
    { kind: 'unreported', severity: 'severe', service: null, network: 'base', change: 'reopened' },
  ])
  expect(await shown(id)).toMatchObject({ status: 'open', resolved_by: null, reason: null })
  expect(await history(id)).toEqual([
    'depositd opened',
    'erin resolved paid by hand',
    'depositd reopened new evidence',
  ])
  const { rows } = await sql`
    select before, after from mismatch_event where mismatch_id = ${id} and action = 'reopened'`.execute(
    books.db,
  )
  const stood = { loss: '5', loss_asset: usdcOnBase }
  expect(rows).toEqual([
    {
      before: { ...stood, detail: {}, value: '5' },
      after: { ...stood, detail: { amount: '7' }, value: '7' },
    },
  ])
})

test('evidence clears what was resolved without counting its end again', async () => {
  const [resolved, open] = [await opened('resolved'), await opened('open')]
  await resolve(resolved)
  expect(await end('resolved')).toEqual([])
  expect(await end('open')).toMatchObject([{ change: 'cleared' }])
  expect(await shown(resolved)).toMatchObject({ status: 'cleared', resolved_by: 'erin' })
  expect(await shown(open)).toMatchObject({ status: 'cleared', resolved_by: null })
  expect((await history(resolved)).at(-1)).toBe('depositd cleared')
})

test('what is snoozed is open and counted, and other evidence wakes it', async () => {
  const id = await opened('snoozed')
  const until = new Date(Date.now() + 3_600_000)
  await act([id], { action: 'snoozed', until })
  expect(await shown(id)).toMatchObject({ status: 'snoozed', snoozed_until: until })
  expect((await readGauges(books.db)).mismatches).toContainEqual(
    expect.objectContaining({ kind: 'unreported', count: 2 }),
  )
  expect(await hold(held('snoozed', { detail: { amount: '8' } }))).toEqual([])
  expect(await shown(id)).toMatchObject({ status: 'open', snoozed_until: null })
  expect((await history(id)).at(-1)).toBe('depositd reopened new evidence')
  await act([id], { action: 'snoozed', until: at(0) })
  expect(await shown(id)).toMatchObject({ status: 'open' })
})

const lossIs = (amount: string, loss: Loss | null) => hold(held('loss', { detail: { amount }, loss }))

test('until its loss grows, other evidence leaves it snoozed; a larger, another or no measured loss wakes it', async () => {
  const id = await opened('loss')
  const snooze = () => act([id], { action: 'snoozed', until: 'a larger loss' })
  const state = async () => (await shown(id))?.status
  await snooze()
  await lossIs('1', lossOf(usdcOnBase, 5n))
  await lossIs('2', lossOf(usdcOnBase, 3n))
  expect(await history(id)).toEqual(['depositd opened', 'erin snoozed'])
  expect(await state()).toBe('snoozed')
  await lossIs('3', lossOf(usdcOnBase, 4n))
  expect(await state()).toBe('open')
  expect((await history(id)).at(-1)).toBe('depositd reopened new evidence')
  await snooze()
  await lossIs('4', lossOf(usdcOnArbitrum, 4n))
  expect(await state()).toBe('open')
  await snooze()
  await lossIs('5', null)
  expect(await state()).toBe('open')
})

test('until its evidence changes, it is snoozed at any time, and taken for alerts; the history says until when', async () => {
  const id = await opened('change')
  await act([id], { action: 'snoozed', until: at(9_999_999) })
  await act([id], { action: 'snoozed', until: 'new evidence' })
  expect(await shown(id)).toMatchObject({ status: 'snoozed', snoozed_until: null })
  const far = new Date(Date.now() + 50 * 31_557_600_000)
  const isFar = ({ snoozedUntil }: { snoozedUntil: Date | null }) =>
    snoozedUntil !== null && snoozedUntil > far
  expect((await readGauges(books.db)).cases.filter(isFar)).toHaveLength(1)
  await hold(held('change', { detail: { amount: '9' } }))
  expect(await shown(id)).toMatchObject({ status: 'open' })
  await act([id], { action: 'snoozed', until: 'new evidence' })
  await resolve(id)
  await act([id], { action: 'reopened', text: 'too soon' })
  expect(await shown(id)).toMatchObject({ status: 'open' })
  const { rows } = await sql<{ after: object }>`
    select after from mismatch_event where mismatch_id = ${id} and action = 'snoozed' order by id`.execute(
    books.db,
  )
  expect(rows.map(({ after }) => after)).toEqual([
    { snoozed_until: at(9_999_999).toISOString(), snooze_ends_with: null },
    { snoozed_until: null, snooze_ends_with: 'new evidence' },
    { snoozed_until: null, snooze_ends_with: 'new evidence' },
  ])
})

test('each act is in the row and in history, with what was before', async () => {
  const id = await opened('acts')
  await act([id], { action: 'assigned', to: 'max' })
  await act([id], { action: 'assigned', to: null })
  await act([id], { action: 'commented', text: 'asked the service' })
  await resolve(id)
  await act([id], { action: 'reopened', text: 'they did not pay' }, 'max')
  expect(await shown(id)).toMatchObject({ status: 'open', assigned_to: null })
  expect(await history(id)).toEqual([
    'depositd opened',
    'erin assigned',
    'erin assigned',
    'erin commented asked the service',
    'erin resolved paid by hand',
    'max reopened they did not pay',
  ])
  const { rows } = await sql`
    select before, after from mismatch_event where mismatch_id = ${id} and action = 'assigned' order by id`.execute(
    books.db,
  )
  expect(rows).toEqual([
    { before: { assigned_to: null }, after: { assigned_to: 'max' } },
    { before: { assigned_to: 'max' }, after: { assigned_to: null } },
  ])
})

test('several at once, or none where one of them cannot be', async () => {
  const [one, two, over] = [await opened('one'), await opened('two'), await opened('over')]
  await end('over')
  await expect(resolve(one, two, over)).rejects.toThrow(`mismatch ${over} was cleared by evidence at 20`)
  await expect(resolve(one, 999_999n)).rejects.toThrow('mismatch 999999 does not exist')
  expect(await shown(one)).toMatchObject({ status: 'open' })
  await resolve(one, two, one)
  expect(await shown(two)).toMatchObject({ status: 'resolved' })
  expect(await history(one)).toHaveLength(2)
  await expect(resolve(one)).rejects.toThrow(`mismatch ${one} was resolved at 20`)
  await expect(act([over], { action: 'reopened', text: 'why' })).rejects.toThrow('was cleared')
  await act([over], { action: 'commented', text: 'it was us' })
  expect(await history(over)).toContain('erin commented it was us')
  const open = await opened('still open')
  await expect(act([open], { action: 'reopened', text: 'why' })).rejects.toThrow('is open')
})

test('twenty resolve one at once: one of them does', async () => {
  const id = await opened('race')
  const race = await Promise.allSettled(Array.from({ length: 20 }, () => resolve(id)))
  expect(race.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  expect(await history(id)).toHaveLength(2)
})

test('new evidence while it is resolved: whichever comes last holds, and history tells the order', async () => {
  const id = await opened('both')
  const claimHistories = Array.from({ length: 20 }, (_, place) =>
    held('both', { detail: { amount: `${place}` } }),
  )
  await Promise.allSettled(claimHistories.flatMap((one) => [hold(one), resolve(id)]))
  const { rows } = await sql<{ action: string; after: { detail: object } }>`
    select action, after from mismatch_event where mismatch_id = ${id} order by id`.execute(books.db)
  const row = await sql<{ detail: object; is_open: boolean }>`
    select detail, resolved_at is null as is_open from mismatch where id = ${id}`.execute(books.db)
  const alternating = rows.map((_, place) => (place % 2 === 0 ? 'resolved' : 'reopened'))
  expect(rows.map(({ action }) => action)).toEqual(alternating)
  const last = rows.at(-1)
  expect(row.rows[0]?.is_open).toBe(last?.action !== 'resolved')
  // What stays resolved is what the person decided about, and nothing that came later.
  if (last?.action === 'resolved') expect(last.after.detail).toEqual(row.rows[0]?.detail)
})

test('what people decided is taken once, by whoever asks first', async () => {
  await numberEvents(books.db)
  const id = await opened('taken')
  await act([id], { action: 'commented', text: 'no end' })
  await resolve(id)
  await act([id], { action: 'reopened', text: 'too soon' })
  const taken = await Promise.all(Array.from({ length: 20 }, () => numberEvents(books.db)))
  const reported = { kind: 'unreported', severity: 'severe', service: null, network: 'base' }
  const decided = taken.flatMap(({ mismatches }) => mismatches)
  const changes = decided.toSorted((left, right) => (left.change < right.change ? -1 : 1))
  expect(changes).toEqual([
    { ...reported, change: 'reopened' },
    { ...reported, change: 'resolved' },
  ])
  expect(await numberEvents(books.db)).toEqual({ count: 0, mismatches: [] })
})

test.each(['the daemon', 'the owner of the tables'])('%s cannot change history', async (who) => {
  const db = who === 'the daemon' ? books.db : owner
  const refusal = /append-only|permission denied/
  await resolve(await opened(`history of ${who}`))
  await expect(sql`update mismatch_event set actor = 'nobody'`.execute(db)).rejects.toThrow(refusal)
  await expect(sql`delete from mismatch_event`.execute(db)).rejects.toThrow(refusal)
  await expect(sql`truncate mismatch_event cascade`.execute(db)).rejects.toThrow(refusal)
})

test.each([
  ["'resolved', null, null", 'check'],
  ["'forgotten', 'a text', null", 'check'],
  ["'commented', '', null", 'check'],
  ["'written_off', 'lost', 'Erin'", 'check'],
])('an event %s is refused', async (values, reason) => {
  const id = await opened(`event ${values}`)
  const insert = sql`insert into mismatch_event (mismatch_id, actor, action, text, approved_by)
    values (${id}, 'erin', ${sql.raw(values)})`
  await expect(insert.execute(owner)).rejects.toThrow(reason)
})
