import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { ServiceId } from '../../../src/core/evidence.ts'
import type { Amount } from '../../../src/core/money.ts'
import { inTransaction } from '../../../src/store/database.ts'
import {
  type HeldMismatch,
  openMismatches,
  syncGroupMismatches,
} from '../../../src/store/mismatches/mismatches.ts'
import { type Books, makeDeposit, openBooks } from '../../support/books.ts'
import { claim, payment } from '../../support/evidence.ts'

let books: Books

beforeAll(async () => {
  books = await openBooks()
})
afterAll(() => books[Symbol.asyncDispose]())

const second = 'dep_2' as ServiceId

async function numbers(own: Books): Promise<Record<string, string>> {
  const { rows } = await sql<{ id: string; index: string }>`
    select coalesce(service_id, 'merged into ' || merged_into) as id, right(transfer, 1) as index
    from deposit order by id`.execute(own.db)
  return Object.fromEntries(rows.map(({ id, index }) => [id, index]))
}

test('two deposits of one transaction exchange their payments when a later one fits better', async () => {
  await using own = await openBooks()
  const nine = claim({ serviceId: second, deposit: { index: null, amount: 9n as Amount } })
  const seven = claim({ deposit: { index: null, amount: 7n as Amount } })
  await own.receive(nine, payment({ index: '4', amount: 7n as Amount }))
  await own.settle()
  expect(await numbers(own)).toEqual({ dep_2: '4' })
  await own.receive(seven, payment({ index: '3', amount: 9n as Amount }))
  await own.settle()
  expect(await numbers(own)).toEqual({ dep_1: '4', dep_2: '3' })
})

test('an absorbed deposit keeps its row, which names the other', async () => {
  await using own = await openBooks()
  await own.receive(claim({ deposit: { tx: null, index: null } }), payment())
  await own.settle()
  await own.receive(claim({ occurredAt: new Date('2026-01-02') }))
  await own.settle()
  const { rows } = await sql`
    select service_id, right(transfer, 1) as index, merged_into is null as stands from deposit order by id`.execute(
    own.db,
  )
  expect(rows).toHaveLength(2)
  expect(rows).toContainEqual({ service_id: 'dep_1', index: '0', stands: true })
  expect(rows).toContainEqual({ service_id: null, index: null, stands: false })
})

test.each(['service_id', 'transfer'])('of twenty rows with one %s, one is kept', async (column) => {
  const { rows } = await sql<{ id: bigint }>`
    insert into evidence_group (recheck_at) values (null) returning id`.execute(books.db)
  const race = Array.from({ length: 20 }, () =>
    sql`insert into deposit (group_id, ${sql.ref(column)}, state, matrix)
      values (${rows[0]?.id}, 'raced', 'observed', '{}')`.execute(books.db),
  )
  const results = await Promise.allSettled(race)
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
})

let groupId: bigint
let depositId: bigint
beforeEach(async () => {
  depositId = await makeDeposit(books.db, `base/${Math.random()}/0`)
  const { rows } = await sql<{ group_id: bigint }>`
    select group_id from deposit where id = ${depositId}`.execute(books.db)
  groupId = rows[0]?.group_id ?? 0n
})

function held(changes: Partial<HeldMismatch> = {}): HeldMismatch {
  return {
    subject: `deposit/${depositId}`,
    kind: 'amount_mismatch',
    depositId,
    groupId,
    network: 'base',
    value: 2n ** 200n,
    detail: { api: '5' },
    ...changes,
  }
}

const sync = (...all: HeldMismatch[]) =>
  inTransaction(books.db, (tx) => syncGroupMismatches(tx, [groupId], all))

async function stored() {
  const { rows } = await sql`
    select kind, value::text as value, detail, cleared_how, cleared_at is null as open from mismatch
    where subject = ${`deposit/${depositId}`} order by id`.execute(books.db)
  return rows
}

test('a mismatch opens once, takes newer detail without a new age, and clears when it no longer holds', async () => {
  expect(await sync(held())).toMatchObject([{ change: 'opened', severity: 'severe', network: 'base' }])
  expect(await sync(held({ detail: { api: '6' } }))).toEqual([])
  expect(await stored()).toEqual([
    {
      kind: 'amount_mismatch',
      value: (2n ** 200n).toString(),
      detail: { api: '6' },
      cleared_how: null,
      open: true,
    },
  ])
  expect(await sync()).toMatchObject([{ kind: 'amount_mismatch', change: 'cleared' }])
  expect(await sync()).toEqual([])
  expect(await stored()).toMatchObject([{ cleared_how: 'evidence', open: false }])
})

/** Changes with every write of the row. */
async function version(): Promise<object[]> {
  const { rows } = await sql<object>`
    select xmin::text, ctid::text from mismatch where subject = ${`deposit/${depositId}`}`.execute(books.db)
  return rows
}

test('what holds as before is not written again', async () => {
  await sync(held())
  const before = await version()
  await sync(held())
  expect(await version()).toEqual(before)
})

test('a mismatch that comes back is a new one, and the old one stays as it was', async () => {
  await sync(held())
  await sync()
  expect(await sync(held())).toMatchObject([{ change: 'opened' }])
  expect(await stored()).toMatchObject([{ open: false }, { open: true }])
})

test('what belongs to other groups is left alone', async () => {
  await sync(held())
  expect(await inTransaction(books.db, (tx) => syncGroupMismatches(tx, [0n], []))).toEqual([])
  expect(await stored()).toMatchObject([{ open: true }])
})

test('twenty who open one mismatch at once: one is told that it opened', async () => {
  const race = Array.from({ length: 20 }, () => inTransaction(books.db, (tx) => openMismatches(tx, [held()])))
  expect((await Promise.all(race)).flat()).toHaveLength(1)
  expect(await stored()).toHaveLength(1)
})
