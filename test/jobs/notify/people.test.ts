import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { mismatchKinds } from '../../../src/core/mismatch.ts'
import { inTransaction } from '../../../src/store/database.ts'
import { type CaseAction, workOnCases } from '../../../src/store/mismatches/cases.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { type MailServer, mailInstalled, startMailServer } from '../../support/mail-server.ts'
import { notifyingSettings, notifyOnce } from '../../support/notified.ts'
import { addPeople } from '../../support/people.ts'
import { openNetworks, plant, plantedCauses } from '../../support/planted-causes.ts'

const [cause] = plantedCauses
if (cause === undefined) throw new Error('no causes')

describe.skipIf(!mailInstalled())('messages to people', () => {
  let books: Books
  let mail: MailServer

  beforeEach(async () => {
    books = await openBooks()
    await openNetworks(books)
    mail = await startMailServer()
    for (const name of ['one', 'two']) await plant(books, cause, name)
    await books.settle()
  })
  afterEach(async () => {
    await mail[Symbol.asyncDispose]()
    await books[Symbol.asyncDispose]()
  })

  const run = (now = () => new Date()) => {
    const people = '{ from: depositd@example.com, people: { erin: erin@example.com, Max: max@example.com } }'
    return notifyOnce(books, { settings: notifyingSettings(books, people, { SMTP_URL: mail.url }), now })
  }
  const act = (action: CaseAction, actor = 'erin') =>
    inTransaction(books.db, (tx) => workOnCases(tx, [1n, 2n], { ...action, actor }))
  const received = () => mail.mails().map(({ headers }) => [headers['to'], headers['subject']])

  test('a mention is sent once, to the person named, and not to the author', async () => {
    await act({ action: 'commented', text: 'See here, @max', mentions: ['max', 'erin'] })
    await run()
    await run()
    expect(received()).toEqual([['max@example.com', 'You were mentioned, and 1 more']])
    expect(mail.mails()[0]?.text).toContain(`Mismatch 1, ${cause.kind}, by erin: See here, @max`)
    expect(mail.mails()[0]?.text).toContain('https://depositd.example/mismatches/1\n')
  })

  test('an assignment by another person is sent, and one to oneself is not', async () => {
    await act({ action: 'assigned', to: 'max' })
    await act({ action: 'assigned', to: 'max' } as never, 'max')
    await run()
    await run()
    expect(received()).toEqual([['max@example.com', 'A mismatch was assigned to you, and 1 more']])
  })

  test('a mismatch that becomes overdue is sent to the person who has it', async () => {
    await act({ action: 'assigned', to: 'max' } as never, 'max')
    const opened = await sql<{ at: Date }>`select opened_at as at from mismatch`.execute(books.db)
    const dueMs = (opened.rows[0]?.at.getTime() ?? 0) + mismatchKinds[cause.kind].actWithinHours * 3_600_000
    const at = (minutes: number) => () => new Date(dueMs + minutes * 60_000)
    await run(at(-1))
    expect(received()).toEqual([])
    await run(at(1))
    await run(at(2))
    expect(received()).toEqual([['max@example.com', 'A mismatch assigned to you is overdue, and 1 more']])
  })

  test('a decision that waits is sent to those who may approve it, without the person who requested it', async () => {
    await addPeople(books.owner)
    await run()
    expect(received()).toEqual([])
    const { rows } = await sql<{ id: bigint }>`
      with requested as (
        insert into decision (uuid, kind, people, text) values (gen_random_uuid(), 'close', 2, '{}') returning id
      )
      insert into decision_event (decision_id, action, person, signature) select id, 'signed', 'Erin', 'x' from requested
      returning decision_id as id`.execute(books.owner)
    await run()
    await run()
    expect(received()).toEqual([['max@example.com', 'A decision waits for your approval']])
    const text = `Decision ${rows[0]?.id}, close, by Erin\n\nhttps://depositd.example/decisions/${rows[0]?.id}\n`
    expect(mail.mails()[0]?.text).toBe(text)
  })
})
