import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { NoticeAttempt } from '../../../src/jobs/notify/notify.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { type MailServer, mailInstalled, startMailServer } from '../../support/mail-server.ts'
import { notifyingSettings, notifyOnce } from '../../support/notified.ts'
import { honestNetworks, openNetworks, plant, plantedCauses } from '../../support/planted-causes.ts'

const [network] = honestNetworks
const [cause] = plantedCauses
if (network === undefined || cause === undefined) throw new Error('no causes')

const minuteMs = 60_000

describe.skipIf(!mailInstalled())('messages about causes, by e-mail', () => {
  let books: Books
  let mail: MailServer
  let nowMs: number

  beforeEach(async () => {
    books = await openBooks()
    await openNetworks(books)
    mail = await startMailServer()
    nowMs = Date.now()
  })
  afterEach(async () => {
    await mail[Symbol.asyncDispose]()
    await books[Symbol.asyncDispose]()
  })

  const settings = (more = '') =>
    notifyingSettings(
      books,
      `{ from: depositd@example.com, digest: null, channels: { mail: { type: email, to: [ops@example.com] ${more} } } }`,
      { SMTP_URL: mail.url },
    )
  const run = (changes: Partial<Parameters<typeof notifyOnce>[1]> = {}) =>
    notifyOnce(books, { settings: settings(), now: () => new Date(nowMs), ...changes })
  const later = async (minutes: number) => {
    nowMs += minutes * minuteMs
    await run()
  }
  const plantOne = async (name: string) => {
    await plant(books, cause, name)
    await books.settle()
  }
  const subjects = () => mail.mails().map(({ headers }) => headers['subject'] ?? '')

  test('one is sent for a cause, with what a person needs to begin', async () => {
    await plantOne('one')
    await plantOne('two')
    await run()
    await later(1)
    expect(subjects()).toEqual([`${cause.kind} on ${cause.network} (service default)`])
    const [first] = mail.mails()
    expect(first?.text).toMatch(/^Opened: 2 open mismatches, severe, since \d{4}-\d\d-\d\d \d\d:\d\d UTC\.\n/)
    expect(first?.text).toContain(`\nLoss: 200 USDC on ${cause.network}.\n`)
    expect(first?.text).toContain('\nFirst step: ')
    expect(first?.text).toContain(`\nhttps://depositd.example/mismatches?kind=${cause.kind}&service=default&`)
    expect(first?.headers).toMatchObject({ from: 'depositd@example.com', to: 'ops@example.com' })
  })

  test('a cause that has doubled gets an answer to its message, at most one in five minutes', async () => {
    await plantOne('one')
    await run()
    await plantOne('two')
    await later(1)
    expect(mail.mails()).toHaveLength(1)
    await later(5)
    await plantOne('three')
    await later(6)
    const [first, second, ...more] = mail.mails()
    expect(more).toEqual([])
    expect(second?.headers['subject']).toBe(`Re: ${first?.headers['subject']}`)
    expect(second?.headers['in-reply-to']).toBe(first?.headers['message-id'])
    expect(second?.headers['references']).toBe(first?.headers['message-id'])
    expect(second?.text).toMatch(/^Grown: 2 open mismatches/)
  })

  test('a cause that ends is said to have ended, and one that comes back to be open again', async () => {
    await plantOne('one')
    await run()
    await sql`update mismatch set cleared_at = now(), cleared_how = 'evidence'`.execute(books.db)
    await later(1)
    await later(1)
    await sql`update mismatch set cleared_at = null, cleared_how = null`.execute(books.db)
    await later(1)
    await later(1)
    const texts = mail.mails().map(({ text }) => text.split(':')[0])
    expect(texts).toEqual(['Opened', 'Ended', 'Open again'])
    expect(
      new Set(
        mail
          .mails()
          .slice(1)
          .map(({ headers }) => headers['in-reply-to']),
      ),
    ).toEqual(new Set([mail.mails()[0]?.headers['message-id']]))
  })

  test('a channel gets only the severities, kinds and services of its settings', async () => {
    await plantOne('one')
    await run({ settings: settings(', severities: [info]') })
    await run({ settings: settings(', kinds: [webhook_missing]') })
    await run({ settings: settings(', services: []') })
    expect(mail.mails()).toEqual([])
    await run({ settings: settings(`, severities: [severe], kinds: [${cause.kind}], services: [default]`) })
    expect(mail.mails()).toHaveLength(1)
  })

  test('a message whose sending was not noted is sent again with the same id', async () => {
    await plantOne('one')
    let isSent = false
    const note = (point: unknown) => {
      isSent ||= point === 'notify.sent'
    }
    subscribe('depositd.failpoint', note)
    const killed = () => {
      if (isSent) throw new Error('killed')
      return new Date(nowMs)
    }
    await expect(run({ now: killed })).rejects.toThrow('killed')
    unsubscribe('depositd.failpoint', note)
    await later(0.5)
    expect(mail.mails()).toHaveLength(1)
    await later(2)
    await later(10)
    const ids = mail.mails().map(({ headers }) => headers['message-id'])
    expect(ids).toHaveLength(2)
    expect(new Set(ids).size).toBe(1)
  })

  test('several processes send it once', async () => {
    for (const other of plantedCauses.slice(0, 5)) await plant(books, other, 'one')
    await books.settle()
    for (let round = 0; round < 3; round++)
      await Promise.all(['a', 'b', 'c', 'd', 'e'].map((holder) => run({ holder })))
    expect(subjects().toSorted()).toEqual(
      plantedCauses
        .slice(0, 5)
        .map(({ kind, network: of }) => `${kind} on ${of} (service default)`)
        .toSorted(),
    )
  })

  test('a server that is down gets the messages later, in order', async () => {
    const attempts: NoticeAttempt[] = []
    await mail.stop()
    await plantOne('one')
    await run({ attempts })
    nowMs += 6 * minuteMs
    await plantOne('two')
    await run({ attempts })
    await run({ attempts })
    expect(attempts.map(({ channel, tries }) => ({ channel, tries }))).toEqual([
      { channel: 'mail', tries: 1 },
      { channel: 'mail', tries: 2 },
    ])
    expect(attempts[0]?.problem).toMatch(/ECONNREFUSED/)
    await mail.start()
    nowMs += 5 * minuteMs
    await run({ attempts })
    expect(mail.mails().map(({ text }) => text.split(':')[0])).toEqual(['Opened', 'Grown'])
  })

  test('a quiet day of deposits in order sends nothing', async () => {
    for (const name of ['one', 'two']) await plant(books, { network, kind: null }, name)
    await books.settle()
    const daily = notifyingSettings(
      books,
      '{ from: depositd@example.com, channels: { mail: { type: email, to: [ops@example.com] } }, people: { max: max@example.com } }',
      { SMTP_URL: mail.url },
    )
    for (let minute = 0; minute < 1440; minute += 5) {
      nowMs += 5 * minuteMs
      await run({ settings: daily })
    }
    const { rows } = await sql`select from notification_message`.execute(books.db)
    expect(rows).toEqual([])
    expect(mail.mails()).toEqual([])
  }, 120_000)
})
