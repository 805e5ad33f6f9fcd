import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { createSealAudit } from '../../../src/jobs/books/ledger-work.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { bookPayments, seal } from '../../support/sealed-books.ts'
import { tamper } from '../../support/tamper.ts'

async function broken({ db }: Books) {
  const { rows } = await sql<{ subject: string; detail: { seal: string; found: string } }>`
    select subject, detail from open_mismatch where kind = 'seal_broken' order by subject`.execute(db)
  return rows.map(({ subject, detail }) => `${subject}: ${detail.found}`)
}

/** Five seals: owners, addresses, and three times five journals. */
async function sealedBooks(): Promise<Books> {
  const books = await openBooks()
  for (const first of [100, 200, 300]) {
    await bookPayments(books, first, 5)
    await seal(books)
  }
  return books
}

const alter = (journal: number, by: number) =>
  `update ledger_transfer set amount = amount + ${by} where journal_id = ${journal}`

test('books that are as they were sealed raise nothing', async () => {
  await using books = await sealedBooks()
  expect(await createSealAudit(books.db, null)()).toEqual([])
  expect(await broken(books)).toEqual([])
})

test('a seal whose journals were altered is broken, once, until they are as they were', async () => {
  await using books = await sealedBooks()
  const audit = createSealAudit(books.db, null)
  await tamper(books, alter(7, 1))
  expect(await audit()).toMatchObject([{ kind: 'seal_broken', severity: 'severe', change: 'opened' }])
  expect(await audit()).toEqual([])
  expect(await broken(books)).toEqual([expect.stringMatching(/^seal\/4: journal 7 is altered/)])
  await tamper(books, alter(7, -1))
  expect(await audit()).toMatchObject([{ kind: 'seal_broken', change: 'cleared' }])
  expect(await broken(books)).toEqual([])
})

test('each run reads some seals on, and ends no mismatch of another, until it begins anew', async () => {
  await using books = await sealedBooks()
  const audit = createSealAudit(books.db, null, 5)
  await tamper(books, alter(2, 1), alter(12, 1))
  const changes: string[][] = []
  for (let run = 1; run <= 5; run++) changes.push((await audit()).map(({ change }) => change))
  expect(changes).toEqual([['opened'], [], [], ['opened'], []])
  expect(await broken(books)).toEqual([
    expect.stringMatching(/^seal\/1: journal 2 is altered/),
    expect.stringMatching(/^seal\/5: journal 12 is altered/),
  ])
  await tamper(books, alter(2, -1), alter(12, -1))
  expect(await audit()).toMatchObject([{ change: 'cleared' }])
  expect(await broken(books)).toEqual([expect.stringMatching(/^seal\/5: journal 12/)])
})
