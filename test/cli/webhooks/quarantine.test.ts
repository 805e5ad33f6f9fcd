import { createHmac } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { parse } from 'yaml'
import { createInboxWriter, writerLimits } from '../../../src/intake/inbox-writer.ts'
import { createQuarantine, quarantineLimits } from '../../../src/intake/quarantine.ts'
import { transfersPath } from '../../../src/intake/server.ts'
import { createScheme } from '../../../src/intake/signature/create-scheme.ts'
import type { SchemeSettings } from '../../../src/intake/signature/scheme.ts'
import { keepQuarantined } from '../../../src/store/quarantine.ts'
import { storeWebhooks } from '../../../src/store/webhooks.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { runCommand } from '../../support/command.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { deliver, startTestIntake, type TestIntake } from '../../support/intake.ts'
import { makeSecret, schemeSettings, signStandardWebhook } from '../../support/sign-webhook.ts'

let books: Books
beforeEach(async () => {
  books = await openBooks()
})
afterEach(() => books[Symbol.asyncDispose]())

const rightSecret = makeSecret()

function depositd(
  line: string,
  webhooks: Record<string, string> = {},
  secret: Record<string, string> = { WEBHOOK_SECRETS: rightSecret },
) {
  return runCommand(`webhooks quarantine ${line}`, {
    DATABASE_URL: books.url,
    SERVICE_URL: 'http://127.0.0.1:9',
    SERVICE_API_KEY: 'key',
    RPC_BASE: 'http://127.0.0.1:9',
    ...secret,
    ...webhooks,
  })
}

/** Runs an endpoint in front of the database of these tests while it is being sent to. */
async function whileListening(send: (intake: TestIntake) => Promise<void>, signing?: SchemeSettings) {
  const quarantine = createQuarantine({
    store: (rows) => keepQuarantined(books.db, rows, { rowsMax: 100, bytesMax: 1_000_000 }),
    limits: quarantineLimits,
    onDropped: () => undefined,
    onError: () => undefined,
  })
  const { write } = createInboxWriter({
    store: async (rows) => (await storeWebhooks(books.db, rows)).outcomes,
    ...writerLimits,
  })
  const secrets = [{ text: 'set wrongly at first', notBefore: null, notAfter: null }]
  const admitting =
    signing === undefined ? {} : { signing, verify: createScheme(signing, { secrets, publicKeys: null }) }
  const intake = await startTestIntake({ write, quarantine: quarantine.keep, admitting })
  await send(intake)
  await intake.stop()
  await quarantine.stop()
}

/** Signed by the secret that the endpoint should have had. */
async function sendGenuine(intake: TestIntake, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const body = Buffer.from(`{"event":"${id}"}`)
    const headers = signStandardWebhook({ secret: rightSecret, id, body, at: new Date() })
    expect((await deliver(intake, { id, body, headers })).status).toBe(401)
  }
}

async function inboxKeys(): Promise<string[]> {
  const rows = await books.db.selectFrom('inbox').select('source_key').orderBy('source_key').execute()
  return rows.map(({ source_key }) => source_key)
}

test('once the secret is corrected, retry takes in what was genuine, and what was not stays', async () => {
  await whileListening(async (intake) => {
    await sendGenuine(intake, ['a', 'b'])
    await deliver(intake, { id: 'forged', headers: { 'webhook-signature': `v1,${'A'.repeat(43)}=` } })
  })
  expect((await depositd('list')).out).toMatch(
    /^ID +RECEIVED +FROM +REASON +BYTES +SENDER\n 3 .* 127.0.0.1 +signature_wrong +13 +node\n/,
  )
  const first = await depositd('retry')
  expect([first.status, first.out]).toEqual([1, '2 accepted\n1 still refused: signature_wrong\n'])
  expect(await inboxKeys()).toEqual(['a', 'b'])
  const again = await depositd('retry')
  expect([again.status, again.out]).toEqual([1, '1 still refused: signature_wrong\n'])
  expect(await inboxKeys()).toEqual(['a', 'b'])
  expect((await depositd('drop --all --reason forged')).out).toBe('1 deleted\n')
  const { rows } = await sql<{ action: string; detail: string; login: string | null }>`
    select action, detail, login from accounting.audit_log where action like 'webhooks_%' order by entry desc limit 1`.execute(
    books.db,
  )
  expect(rows).toEqual([
    {
      action: 'webhooks_dropped',
      detail: expect.stringMatching(/^webhooks \d+: forged$/),
      login: expect.any(String),
    },
  ])
  expect(await depositd('retry')).toMatchObject({ status: 0, out: 'the quarantine is empty\n' })
})

test('a delivery is judged by the time at which it was received, not by that of the retry', async () => {
  await whileListening((intake) => sendGenuine(intake, ['a']))
  await sql`
    insert into quarantine (received_at, source, reason, headers, body, size)
    select received_at - interval '1 hour', source, reason, headers, body, size from quarantine`.execute(
    books.db,
  )
  const { out } = await depositd('retry --json')
  expect(JSON.parse(out).items).toMatchObject([
    { id: '1', outcome: 'stored' },
    { id: '2', outcome: 'timestamp_too_new' },
  ])
})

test('a delivery of a service that is no longer in the settings stays, and is named', async () => {
  await whileListening((intake) => sendGenuine(intake, ['a']))
  await sql`
    insert into quarantine (service, received_at, source, reason, headers, body, size)
    select 'gone', received_at, source, reason, headers, body, size from quarantine`.execute(books.db)
  const { status, out } = await depositd('retry')
  expect([status, out]).toEqual([1, '1 accepted\n1 still refused: service_unknown\n'])
  expect(await inboxKeys()).toEqual(['a'])
  expect((await depositd('list --json')).out).toContain('"service": "gone"')
})

test('what came again by the way of the sender meanwhile is a repeat', async () => {
  await whileListening(async (intake) => {
    await sendGenuine(intake, ['a'])
    await sendGenuine(intake, ['a'])
  })
  const { status, out } = await depositd('retry')
  expect([status, out]).toEqual([0, '1 accepted\n1 already stored, counted as duplicates\n'])
  expect(await inboxKeys()).toEqual(['a'])
})

test('ten retries at once take each delivery in once, and count none as a repeat', async () => {
  const ids = ['a', 'b', 'c', 'd', 'e']
  await whileListening((intake) => sendGenuine(intake, ids))
  await Promise.all(Array.from({ length: 10 }, () => depositd('retry')))
  expect(await inboxKeys()).toEqual(ids)
  expect((await sql`select from webhook_repeat`.execute(books.db)).rows).toEqual([])
  expect((await depositd('list')).out).toBe('the quarantine is empty\n')
})

test('a bearer token is not readable in the quarantine, and is verified all the same', async () => {
  const signing = { scheme: 'shared-secret', header: 'x-sent-by', prefix: 'Bearer ' } as const
  await whileListening(async ({ url }) => {
    const headers = { 'content-type': 'application/json', 'x-sent-by': 'Bearer the-right-one' }
    await fetch(url + transfersPath, { method: 'POST', headers, body: '{"id":"evt_1"}' })
  }, signing)
  expect((await depositd('show 1')).out).not.toContain('the-right-one')
  const file = join(await temporaryFolder(), 'depositd.yaml')
  writeFileSync(file, JSON.stringify({ webhooks: signing }))
  const { status, out } = await depositd('retry', { DEPOSITD_CONFIG: file, WEBHOOK_SECRETS: 'the-right-one' })
  expect([status, out]).toEqual([0, '1 accepted\n'])
  expect(await inboxKeys()).toEqual(['evt_1'])
})

test('a signature in a header that is called like a credential is verified anew once the secret is corrected', async () => {
  const section = { scheme: 'hmac', header: 'authorization', prefix: 'HMAC ' }
  await whileListening(async ({ url }) => {
    const body = '{"id":"evt_1"}'
    const mac = createHmac('sha256', 'the-right-one').update(body).digest('hex')
    const headers = { 'content-type': 'application/json', authorization: `HMAC ${mac}` }
    await fetch(url + transfersPath, { method: 'POST', headers, body })
  }, schemeSettings(section))
  const file = join(await temporaryFolder(), 'depositd.yaml')
  writeFileSync(file, JSON.stringify({ webhooks: section }))
  const { status, out } = await depositd('retry', { DEPOSITD_CONFIG: file, WEBHOOK_SECRETS: 'the-right-one' })
  expect([status, out]).toEqual([0, '1 accepted\n'])
  expect(await inboxKeys()).toEqual(['evt_1'])
})

test('of a sender that signs the URL the scheme is detected with the public URL, and its deliveries are accepted', async () => {
  const secret = { WEBHOOK_SECRETS: 'the-right-one' }
  const signed = 'https://deposits.example/webhooks/transfers?shop=1'
  await whileListening(async ({ url }) => {
    for (const id of ['a', 'b', 'c']) {
      const body = `{"id":"${id}"}`
      const mac = createHmac('sha256', 'the-right-one').update(signed + body)
      const headers = {
        'content-type': 'application/json',
        'x-square-hmacsha256-signature': mac.digest('base64'),
      }
      await fetch(`${url}${transfersPath}?shop=1`, { method: 'POST', headers, body })
    }
  })
  const detect = (option: string, environment = {}) =>
    runCommand(`webhooks detect${option}`, { DATABASE_URL: books.url, ...secret, ...environment })
  expect(await detect('')).toMatchObject({
    status: 1,
    err: 'depositd: none of 3 captured deliveries verifies with this secret by any known scheme; the sender of x-square-hmacsha256-signature signs the URL: give it with --public-url\n',
  })
  const section = { scheme: 'square', publicUrl: 'https://deposits.example' }
  const found = await detect(' --public-url https://deposits.example/')
  expect(parse(found.out)).toEqual({ webhooks: section })
  const environment = { PUBLIC_URL: 'https://deposits.example' }
  expect((await detect('', environment)).out).toBe(found.out)
  const { out } = await depositd('retry', { WEBHOOK_SCHEME: 'square', ...environment }, secret)
  expect(out).toBe('3 accepted\n')
  const { rows } = await sql<{ headers: object }>`select headers from inbox`.execute(books.db)
  expect(rows.map(({ headers }) => headers)).toEqual(
    Array(3).fill(
      expect.objectContaining({ ':path': '/webhooks/transfers?shop=1', 'verified-by': 'square' }),
    ),
  )
  expect(rows.filter(({ headers }) => 'host' in headers)).toEqual([])
})

test('show prints headers and body, and with --json a line of a file of captures', async () => {
  await whileListening((intake) => sendGenuine(intake, ['a']))
  const { out } = await depositd('show 1')
  expect(out).toContain('delivery 1: signature_wrong\n')
  expect(out).toContain('  webhook-id: a\n')
  expect(out).toContain('\n{"event":"a"}\n')
  const capture = JSON.parse((await depositd('show 1 --json')).out) as Record<string, string>
  expect(Buffer.from(capture.body_base64 ?? '', 'base64').toString()).toBe('{"event":"a"}')
  expect(capture).toMatchObject({ received_at: expect.stringMatching(/Z$/), headers: { 'webhook-id': 'a' } })
})

test('what came under another type than JSON is accepted if it is genuine', async () => {
  await whileListening(async (intake) => {
    const body = Buffer.from('{"event":"plain"}')
    const signed = signStandardWebhook({ secret: rightSecret, id: 'plain', body, at: new Date() })
    const headers = { ...signed, 'content-type': 'text/plain' }
    expect((await deliver(intake, { id: 'plain', body, headers })).status).toBe(415)
  })
  expect(await depositd('retry')).toMatchObject({ status: 0, out: '1 accepted\n' })
  expect(await inboxKeys()).toEqual(['plain'])
})

test('control characters of a stranger do not reach the terminal', async () => {
  await whileListening(async (intake) => {
    await deliver(intake, { id: 'x', body: '"\u001b[2J\u202e"', headers: { 'webhook-signature': 'v1,x' } })
  })
  const { out } = await depositd('show 1')
  for (const character of ['\u001b', '\u202e']) expect(out).not.toContain(character)
})

test.each([
  ['drop', 'no delivery given; give their numbers, or --all'],
  ['drop 1 --all', 'no delivery given'],
])('%s is wrong use, and says what to do', async (line, said) => {
  expect(await depositd(line)).toMatchObject({ status: 2, err: expect.stringContaining(said) })
})

test.each(['show 7', 'retry 7', 'retry x'])('%s names a delivery that is not found', async (line) => {
  expect(await depositd(line)).toMatchObject({
    status: 3,
    err: expect.stringMatching(/delivery \w not found/),
  })
})

test('without a signature only named deliveries are accepted', async () => {
  await whileListening((intake) => sendGenuine(intake, ['a', 'b']))
  const unsigned = (line: string) => depositd(line, { WEBHOOK_SCHEME: 'none' }, {})
  expect(await unsigned('retry')).toMatchObject({
    status: 2,
    err: expect.stringContaining('webhooks.scheme is none, which would accept every delivery'),
  })
  const { items } = JSON.parse((await depositd('list --json')).out)
  const id = items[0]?.id
  expect(await unsigned(`retry ${id}`)).toMatchObject({ status: 0, out: '1 accepted\n' })
  expect(JSON.parse((await depositd('list --json')).out).items).toHaveLength(1)
})

test('settings that cannot be used are named, and the quarantine stays as it is', async () => {
  await whileListening((intake) => sendGenuine(intake, ['a']))
  expect(await depositd('retry', { WEBHOOK_SECRETS: 'whsec_short' })).toMatchObject({
    status: 2,
    err: expect.stringContaining('WEBHOOK_SECRETS'),
  })
  expect(JSON.parse((await depositd('list --json')).out).items).toHaveLength(1)
})
