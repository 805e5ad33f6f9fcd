import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { applyPending } from '../../../src/jobs/books/apply.ts'
import { loadEvidence } from '../../../src/store/books/load-evidence.ts'
import { openBooks } from '../../support/books.ts'
import { claim, payment } from '../../support/evidence.ts'

test('a payload that waited for a mended profile is readable from then on, and others since they were stored', async () => {
  const books = await openBooks()
  onTestFinished(() => books[Symbol.asyncDispose]())
  await books.receive(payment(), claim())
  await applyPending(books.deps)
  await sql`
    insert into mismatch (subject, kind, severity, opened_at, cleared_at, cleared_how)
    select 'inbox/' || id, kind, 'severe', now(), at::timestamptz, 'evidence' from inbox, (values
      ('schema_drift', '2100-01-01Z'), ('unknown_status', '2100-01-02Z'), ('chain_missing', '2100-01-03Z')
    ) as ended (kind, at) where source = 'api'`.execute(books.db)
  const found = await loadEvidence(books.db, 1n)
  expect(
    found?.rows.map(({ source, storedAt, readableAt }) => [source, readableAt > storedAt && readableAt]),
  ).toEqual([
    ['chain', false],
    ['api', new Date('2100-01-02Z')],
  ])
})
