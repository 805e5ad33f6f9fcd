import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { judgeNotifications } from '../../../src/app/notifications.ts'
import { openScheme } from '../../../src/intake/signature/create-scheme.ts'
import type { NoticeAttempt } from '../../../src/jobs/notify/notify.ts'
import { readUnsent } from '../../../src/store/notifications.ts'
import { type Books, openBooks } from '../../support/books.ts'
import {
  type HookReceiver,
  hookSecret,
  notifyingSettings,
  notifyOnce,
  startHooks,
} from '../../support/notified.ts'
import { openNetworks, plant, plantedCauses } from '../../support/planted-causes.ts'

const [cause, other] = plantedCauses
if (cause === undefined || other === undefined) throw new Error('no causes')

let books: Books
let hooks: HookReceiver

beforeEach(async () => {
  books = await openBooks()
  await openNetworks(books)
  hooks = await startHooks()
})
afterEach(async () => {
  await hooks[Symbol.asyncDispose]()
  await books[Symbol.asyncDispose]()
})

const chat = (digest = 'null') =>
  notifyingSettings(books, `{ digest: ${digest}, channels: { chat: { type: slack } } }`, {
    NOTIFICATION_URL_CHAT: `${hooks.url}/services/T0/B0/a-long-secret-of-the-channel`,
  })
const plantAll = async (...causes: readonly (typeof cause)[]) => {
  for (const one of causes) await plant(books, one, 'one')
  await books.settle()
}
const texts = () => hooks.requests.map(({ body }) => (JSON.parse(body) as { text: string }).text)

test('a channel of Slack gets a text whose title is the cause', async () => {
  await plantAll(cause)
  await notifyOnce(books, { settings: chat() })
  const [request] = hooks.requests
  expect(request?.path).toBe('/services/T0/B0/a-long-secret-of-the-channel')
  expect(Object.keys(JSON.parse(request?.body ?? ''))).toEqual(['text'])
  const [title, ...lines] = texts()[0]?.split('\n') ?? []
  expect(title).toBe(`*${cause.kind} on ${cause.network} (service default)*`)
  expect(lines.at(-1)).toMatch(/^https:\/\/depositd\.example\/mismatches\?kind=\w+&amp;/)
})

test('a webhook is signed, and each attempt has the same id and body', async () => {
  const settings = notifyingSettings(books, '{ digest: null, channels: { own: { type: webhook } } }', {
    NOTIFICATION_URL_OWN: `${hooks.url}/own`,
    NOTIFICATION_SECRET_OWN: hookSecret,
  })
  await plantAll(cause)
  hooks.answer(500)
  await notifyOnce(books, { settings })
  hooks.answer(204)
  await notifyOnce(books, { settings, now: () => new Date(Date.now() + 180_000) })
  await notifyOnce(books, { settings, now: () => new Date(Date.now() + 900_000) })
  const [first, second, ...more] = hooks.requests
  expect(more).toEqual([])
  expect(second?.body).toBe(first?.body)
  expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id'])
  expect(JSON.parse(first?.body ?? '')).toMatchObject({
    type: 'cause.opened',
    data: {
      kind: cause.kind,
      network: cause.network,
      service: 'default',
      count: 1,
      side: expect.any(String),
    },
  })
  const scheme = { scheme: 'standard-webhooks', headers: 'webhook', tolerance: 300_000 } as const
  const secrets = [{ text: hookSecret, notBefore: null, notAfter: null }]
  const verify = openScheme(scheme, { secrets, publicKeys: null }, new Date())
  for (const { headers, body } of hooks.requests) {
    const delivery = { headers, body: Buffer.from(body), receivedAt: new Date() }
    expect(verify(delivery)).toMatchObject({ kind: 'verified' })
  }
})

test('a channel that fails is a warning that contains no secret, until it works', async () => {
  const attempts: NoticeAttempt[] = []
  const settings = chat()
  await plantAll(cause, other)
  hooks.answer(403)
  await notifyOnce(books, { settings, attempts })
  expect(attempts).toEqual([{ channel: 'chat', problem: 'answered 403', tries: 1 }])
  expect(judgeNotifications(settings, await readUnsent(books.db))).toEqual([
    {
      part: 'notifications',
      state: 'warning',
      says: 'chat accepts no message (answered 403); 2 wait',
    },
  ])
  hooks.answer(200)
  await notifyOnce(books, { settings, now: () => new Date(Date.now() + 180_000) })
  expect(hooks.requests).toHaveLength(3)
  expect(judgeNotifications(settings, await readUnsent(books.db))).toMatchObject([{ state: 'fine' }])
})

test('nothing stored contains the address of a channel', async () => {
  const settings = notifyingSettings(books, '{ digest: null, channels: { chat: { type: slack } } }', {
    NOTIFICATION_URL_CHAT: 'http://127.0.0.1:1/services/a-long-secret-of-the-channel',
  })
  await plantAll(cause)
  await notifyOnce(books, { settings })
  const { rows } = await sql<{ all: string }>`
    select string_agg(n::text || m::text, '') as all from notification n, notification_message m`.execute(
    books.db,
  )
  expect(rows[0]?.all).not.toContain('a-long-secret')
})

test('the digest comes once a day, after its time, with every open cause and those that have ended', async () => {
  await plantAll(cause, other)
  const settings = chat("'08:00'")
  const run = (time: string) => notifyOnce(books, { settings, now: () => new Date(`${time}:00Z`) })
  await run('2030-01-01T07:59')
  expect(hooks.requests).toHaveLength(2)
  await run('2030-01-01T08:00')
  await run('2030-01-01T23:00')
  expect(texts().slice(2)).toEqual([
    expect.stringContaining('*Mismatches on 2030-01-01: 2 open causes, 0 ended in the last day*'),
  ])
  for (const { kind, network } of [cause, other])
    expect(texts()[2]).toContain(
      `Calls for a person: ${kind} on ${network} (service default): 1 open mismatch`,
    )
  await sql`update mismatch set cleared_at = now(), cleared_how = 'evidence' where kind = ${other.kind}`.execute(
    books.db,
  )
  await run('2030-01-02T07:00')
  await run('2030-01-02T08:00')
  expect(texts().at(-1)).toContain(`Ended: ${other.kind} on ${other.network} (service default).`)
  await sql`update mismatch set cleared_at = now(), cleared_how = 'evidence'`.execute(books.db)
  await run('2030-01-04T07:00')
  const before = hooks.requests.length
  await run('2030-01-06T08:00')
  expect(hooks.requests).toHaveLength(before)
})
