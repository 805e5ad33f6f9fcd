import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Observation, ServiceId } from '../../../src/core/evidence.ts'
import { applyDue, applyPending } from '../../../src/jobs/books/apply.ts'
import { verifyBooks } from '../../../src/jobs/books/verify-books.ts'
import { inTransaction } from '../../../src/store/database.ts'
import { takePending } from '../../../src/store/inbox.ts'
import { type Books, late, openBooks } from '../../support/books.ts'
import { at, claim, delivery, payment, txId, webhook } from '../../support/evidence.ts'

let books: Books

beforeEach(async () => {
  books = await openBooks()
})
afterEach(() => books[Symbol.asyncDispose]())

const bytesMax = 1_000_000

/** What is told of so many deposits, one source after the other; the deposits came in a minute apart. */
function backlogOf(deposits: number): Observation[] {
  const all = Array.from({ length: deposits }, (_, place) => {
    const [pay, forward] = [txId(`pay${place}`), txId(`forward${place}`)]
    const said = {
      serviceId: `dep_${place}` as ServiceId,
      deposit: { tx: pay },
      settlement: { tx: forward },
      receivedAt: at(place + 2),
    }
    const receivedAt = at(place + 2)
    return [
      payment({ tx: pay, receivedAt }),
      delivery({ tx: forward, receivedAt }),
      webhook(said),
      claim(said),
    ] as const
  })
  return [0, 1, 2, 3].flatMap((source) => all.flatMap((one) => one[source] ?? []))
}

async function kindsEver(): Promise<string[]> {
  const rows = await books.db.selectFrom('mismatch').select('kind').orderBy('id').execute()
  return rows.map(({ kind }) => kind)
}

async function journalKinds(): Promise<Record<string, number>> {
  const { rows } = await sql<{ kind: string; count: number }>`
    select kind, count(*)::int as count from ledger_journal group by 1 order by 1`.execute(books.db)
  return Object.fromEntries(rows.map(({ kind, count }) => [kind, count]))
}

async function catchUp(rowsMax: number): Promise<void> {
  while ((await applyPending(books.deps, { rowsMax, bytesMax })).rows > 0) await applyDue(books.deps)
}

const verified = () => verifyBooks(books.deps, { subjectsMax: 5, onProgress: () => undefined })

test('a backlog that is older than every deadline opens nothing, and books everything once', async () => {
  await books.receive(...backlogOf(50))
  await catchUp(20)
  while ((await applyDue(books.deps)).groups > 0) continue
  expect(await kindsEver()).toEqual([])
  expect(await journalKinds()).toEqual({ deposit: 50, settlement: 50, conversion: 50 })
  expect(await verified()).toMatchObject({ differing: 0, due: 0, pending: 0 })
  const { rows } = await sql`select distinct reconciled_at from deposit`.execute(books.db)
  expect(rows, 'when it was noticed is of the present').toEqual([{ reconciled_at: late }])
})

test('workers side by side catch up alike', async () => {
  await books.receive(...backlogOf(50))
  await Promise.all([catchUp(20), catchUp(7), catchUp(33)])
  while ((await applyDue(books.deps)).groups > 0) continue
  expect(await kindsEver()).toEqual([])
  expect(await journalKinds()).toEqual({ deposit: 50, settlement: 50, conversion: 50 })
})

test('what is missing all the same is told once the backlog is gone, and of no deposit twice', async () => {
  await books.receive(...backlogOf(10), payment({ tx: txId('unreported') }))
  await catchUp(7)
  while ((await applyDue(books.deps)).groups > 0) continue
  expect(await kindsEver()).toEqual(['unreported'])
  expect(await verified()).toMatchObject({ differing: 0, due: 0 })
})

test('what another worker is applying holds the time back, and no more once it is applied', async () => {
  await books.receive(claim(), webhook())
  await inTransaction(books.db, async (tx) => {
    await takePending(tx, { rowsMax: 2, bytesMax })
    await books.receive(payment())
    await applyPending(books.deps)
    expect(await applyDue(books.deps)).toMatchObject({ groups: 0 })
    expect(await kindsEver()).toEqual([])
  })
  expect(await verified(), 'what time may have changed is not compared before').toMatchObject({
    differing: 0,
  })
  await books.settle()
  expect(await kindsEver()).toEqual(['settlement_missing'])
})
