import { type Kysely, sql, type Transaction } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { lossOf } from '../../../src/core/mismatch.ts'
import { inTransaction } from '../../../src/store/database.ts'
import { numberEvents } from '../../../src/store/events.ts'
import { type CaseAction, workOnCases } from '../../../src/store/mismatches/cases.ts'
import { endMismatches, type HeldMismatch, openMismatches } from '../../../src/store/mismatches/mismatches.ts'
import { lastActOf, readAct, undoAct } from '../../../src/store/mismatches/undo.ts'
import type { Tables } from '../../../src/store/tables.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { explainStatements } from '../../support/explain-statements.ts'
import { tamper } from '../../support/tamper.ts'

let books: Books
let owner: Kysely<Tables>

beforeAll(async () => {
  books = await openBooks()
  owner = books.owner
})
afterAll(() => books[Symbol.asyncDispose]())

const inOne = <Result>(work: (tx: Transaction<Tables>) => Promise<Result>) => inTransaction(books.db, work)
/** A warning, which loses nothing. */
const held = (name: string, changes: Partial<HeldMismatch> = {}): HeldMismatch => ({
  subject: `transfer/${name}`,
  kind: 'settlement_unreported',
  detail: {},
  ...changes,
})
const hold = (...all: HeldMismatch[]) => inOne((tx) => openMismatches(tx, all))
const act = (ids: readonly bigint[], action: CaseAction, actor = 'erin') =>
  inOne((tx) => workOnCases(tx, ids, { actor, ...action }))
const undo = (event: bigint, person = 'erin') => inOne((tx) => undoAct(tx, event, person))
const assigned = (to: string | null): CaseAction => ({ action: 'assigned', to })
const later = () => new Date(Date.now() + 3_600_000)

let made = 0
async function opened(changes: Partial<HeldMismatch> = {}): Promise<bigint> {
  made += 1
  await hold(held(`${made}`, changes))
  const { rows } = await sql<{ id: bigint }>`
    select max(id) as id from mismatch where subject = ${`transfer/${made}`}`.execute(books.db)
  return rows[0]?.id ?? 0n
}

async function shown(id: bigint) {
  const { rows } = await sql<Record<string, unknown>>`
    select status, assigned_to, snoozed_until, snooze_ends_with from accounting.mismatches where id = ${id}`.execute(
    books.db,
  )
  return rows[0]
}

async function history(id: bigint): Promise<string[]> {
  const { rows } = await sql<{ line: string }>`
    select concat_ws(' ', actor, action, case when undoes is not null then 'undo' end, before::text, after::text) as line
    from accounting.mismatch_history where mismatch_id = ${id} and event is not null order by event`.execute(
    books.db,
  )
  return rows.map(({ line }) => line)
}

describe('what is undone', () => {
  test('an assignment of several: each gets its earlier person back', async () => {
    const ids = [await opened(), await opened()]
    await act(ids.slice(1), assigned('max'))
    const event = await act(ids, assigned('ines'))
    const { undo: first, mismatches } = await undo(event)
    expect(mismatches).toEqual(ids)
    expect(await Promise.all(ids.map(shown))).toMatchObject([{ assigned_to: null }, { assigned_to: 'max' }])
    expect((await history(ids[1] ?? 0n)).at(-1)).toBe(
      'erin assigned undo {"assigned_to": "ines"} {"assigned_to": "max"}',
    )
    expect(await readAct(books.db, first)).toMatchObject({ isUndo: true, mayUndo: false })
    expect(await readAct(books.db, event)).toMatchObject({ isUndo: false, mayUndo: false })
  })

  test('a snooze, and its end: the snooze before is back', async () => {
    const id = await opened()
    const until = later()
    await act([id], { action: 'snoozed', until })
    await undo(await act([id], { action: 'snoozed', until: 'new evidence' }))
    expect(await shown(id)).toMatchObject({ status: 'snoozed', snoozed_until: until, snooze_ends_with: null })
    await undo(await act([id], { action: 'snoozed', until: null }))
    expect(await shown(id)).toMatchObject({ status: 'snoozed', snoozed_until: until })
  })

  test('a comment is withdrawn and stays in the history, also if the case went on', async () => {
    const id = await opened()
    const event = await act([id], { action: 'commented', text: 'of another case' })
    await act([id], assigned('max'), 'max')
    await undo(event)
    expect(await history(id)).toEqual([
      'erin commented',
      'max assigned {"assigned_to": null} {"assigned_to": "max"}',
      'erin comment_withdrawn undo',
    ])
  })

  test('a resolution without loss: the case is open, and a daemon counts it', async () => {
    const id = await opened()
    const event = await act([id], { action: 'resolved', text: 'known' })
    await numberEvents(books.db)
    await undo(event)
    expect(await shown(id)).toMatchObject({ status: 'open' })
    expect((await numberEvents(books.db)).mismatches).toMatchObject([{ change: 'reopened' }])
  })

  test('is the last act that the person did not undo', async () => {
    const id = await opened()
    const [first, second] = [await act([id], assigned('max'), 'ada'), await act([id], assigned('kim'), 'Ada')]
    expect(await lastActOf(books.db, 'ada')).toBe(second)
    await undo(second, 'ada')
    expect(await lastActOf(books.db, 'ada')).toBe(first)
    await undo(first, 'ada')
    expect([await lastActOf(books.db, 'ada'), await lastActOf(books.db, 'zoe')]).toEqual([null, null])
  })

  test('by twenty at once, once', async () => {
    const event = await act([await opened()], assigned('max'))
    const undone = await Promise.allSettled(Array.from({ length: 20 }, () => undo(event)))
    expect(undone.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })
})

const refused = (event: bigint, problem: string, person?: string) =>
  expect(undo(event, person)).rejects.toMatchObject({
    details: { problem: expect.stringContaining(problem) },
  })

describe('what is not undone', () => {
  test('the act of another, or none', async () => {
    const event = await act([await opened()], assigned('max'))
    await refused(event, 'max did nothing', 'max')
    await refused(999_999n, 'erin did nothing')
  })

  test('what was undone already, an undo, and a reopening', async () => {
    const id = await opened()
    const event = await act([id], assigned('max'))
    const first = await undo(event)
    await refused(event, `mismatch ${id} was undone already`)
    await refused(first.undo, '"assigned" cannot be undone')
    await act([id], { action: 'resolved', text: 'known' })
    await refused(await act([id], { action: 'reopened', text: 'again' }), '"reopened" cannot be undone')
  })

  test('what is older than 15 minutes', async () => {
    const id = await opened()
    const event = await act([id], assigned('max'), 'old')
    await tamper(books, `update mismatch_event set at = at - interval '15 minutes' where id = ${event}`)
    await refused(event, 'last 15 minutes', 'old')
    expect(await lastActOf(books.db, 'old')).toBe(null)
  })

  test('anything of the act, if one mismatch was changed since or cleared', async () => {
    const [one, other] = [await opened(), await opened()]
    const event = await act([one, other], assigned('max'))
    await act([other], { action: 'commented', text: 'changes nothing' }, 'max')
    expect(await readAct(books.db, event)).toMatchObject({ mayUndo: true })
    await act([other], assigned('max'), 'max')
    await refused(event, `mismatch ${other} was changed since`)
    expect(await shown(one)).toMatchObject({ assigned_to: 'max' })
    const last = await act([other], assigned('erin'))
    await endMismatches(books.db, sql`id = ${other}`)
    await refused(last, `mismatch ${other} was cleared by evidence since`)
  })

  test('a snooze that new evidence ended without an event', async () => {
    const id = await opened()
    await act([id], { action: 'snoozed', until: later() })
    const event = await act([id], { action: 'snoozed', until: new Date(Date.now() - 1) })
    await hold(held(`${made}`, { detail: { amount: '7' } }))
    await refused(event, `mismatch ${id} was changed since`)
  })

  test('a resolution of a possible loss, also without a signature', async () => {
    const id = await opened({ kind: 'unreported', loss: lossOf('base/usdc' as never, 5n) })
    const text = 'paid by hand'
    const event = await inTransaction(owner, (tx) =>
      workOnCases(tx, [id], { actor: 'erin', action: 'resolved', text, decision: null }),
    )
    await refused(event, `mismatch ${id} was resolved by a decision`)
    expect(await shown(id)).toMatchObject({ status: 'resolved' })
  })
})

test('an act is found by the index of what people did, among many', async () => {
  const id = await opened()
  await sql`
    insert into mismatch_event (mismatch_id, at, actor, action, text)
    select ${id}, now() - n * interval '1 hour', 'erin', 'commented', 'many' from generate_series(1, 20000) as n`.execute(
    owner,
  )
  await sql`analyze mismatch_event`.execute(owner)
  const plans = await inOne(async (tx) => {
    const explained = explainStatements(tx)
    await readAct(explained.tx, 1n)
    await lastActOf(explained.tx, 'erin')
    return explained.plans
  })
  expect(
    plans.map((plan) => plan.includes('mismatch_event_of_people') && !plan.includes('Seq Scan')),
  ).toEqual([true, true])
})
