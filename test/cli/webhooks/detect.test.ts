import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { webhookSection } from '../../../src/config/webhook-settings.ts'
import { defaultService, type ServiceName } from '../../../src/core/evidence.ts'
import { createScheme } from '../../../src/intake/signature/create-scheme.ts'
import { openDatabase } from '../../../src/store/database.ts'
import { keepQuarantined } from '../../../src/store/quarantine.ts'
import type { Tables } from '../../../src/store/tables.ts'
import { line, type Sender } from '../../intake/detect/sender.ts'
import { keysOf, senders } from '../../intake/detect/senders.ts'
import { runCommand } from '../../support/command.ts'
import { temporaryFolderOfFile } from '../../support/folder.ts'
import { type TestDatabase, testDatabase } from '../../support/postgres.ts'

const folder = temporaryFolderOfFile()
let database: TestDatabase

beforeAll(async () => {
  database = await testDatabase()
})
afterAll(() => database.drop())

const depositd = (command: string, environment: Record<string, string> = {}) =>
  runCommand(command, { DATABASE_URL: database.url, ...environment })

function senderCalled(name: string): Sender {
  const sender = senders.find((one) => one.name === name)
  if (sender === undefined) throw new Error(`no sender ${name}`)
  return sender
}

function file(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

function capturesOf(sender: Sender, count: number) {
  return Array.from({ length: count }, (_, place) => {
    const at = new Date(Date.parse('2026-11-20T10:00:00Z') + place * 1000)
    const body = Buffer.from(`{"place":${place}}`)
    return { headers: sender.sign({ id: `evt_${place}`, at, body }), body, receivedAt: at }
  })
}

function captureFile(name: string, sender: Sender, count: number): string {
  const lines = capturesOf(sender, count).map(({ headers, body, receivedAt }) =>
    JSON.stringify({ headers, body: body.toString(), received_at: receivedAt.toISOString() }),
  )
  return file(name, lines.join('\n'))
}

const acme = senderCalled('HMAC-SHA512 with a prefix, over id, time in milliseconds and body, key in base64')
const secret = acme.secret ?? ''

test.each(['detect', 'profile'])('of several services, %s wants one to be named', async (command) => {
  const services = { acme: { url: 'https://acme.example', auth: { secret: 'SERVICE_API_ACME_KEY' } } }
  const settings = file('several.yaml', JSON.stringify({ services }))
  const { status, err } = await depositd(`webhooks ${command}`, { DEPOSITD_CONFIG: settings })
  expect(status).toBe(2)
  expect(err).toContain('there are several services: default, acme; name one of them with --service')
})

test('from a file of captures, the section of the settings file is printed, and the secret is not', async () => {
  const [captures, secretFile] = [captureFile('acme.jsonl', acme, 3), file('secret', `${secret}\n`)]
  const { status, out, err } = await depositd(
    `webhooks detect --secret-file ${secretFile} --from ${captures}`,
  )
  expect({ status, err }).toEqual({ status: 0, err: '' })
  expect(out).toMatchInlineSnapshot(`
    "# Verifies 3 of 3 captured deliveries.
    webhooks:
      scheme: hmac
      header: x-acme-proof
      prefix: sha512=
      template: "{id}.{timestamp}.{body}"
      id:
        header: x-acme-id
      timestamp:
        header: x-acme-time
        unit: ms
      algorithm: sha512
      key: base64
    "
  `)
  expect(out).not.toContain(secret)
  const scheme = createScheme(
    webhookSection.parse((parse(out) as { webhooks: unknown }).webhooks),
    keysOf(acme),
  )
  for (const capture of capturesOf(acme, 3)) expect(scheme(capture).kind).toBe('verified')
})

test('with --json it is one document; fewer than three captures are told of as such', async () => {
  const captures = captureFile('two.jsonl', acme, 2)
  const environment = { WEBHOOK_SECRETS: `YW5vdGhlciBzZWNyZXQ=,${secret}` }
  const shown = await depositd(`webhooks detect --from ${captures}`, environment)
  expect(shown.out).toContain('# Fewer than 3: capture more and repeat before you rely on this.')
  const { out } = await depositd(`webhooks detect --from ${captures} --json`, environment)
  expect(JSON.parse(out)).toEqual({
    webhooks: acme.settings,
    captures: 2,
    verified: 2,
    late: 0,
    alike: [],
  })
})

test('a public key is named as it was given', async () => {
  const rsa = senderCalled('RSA-SHA512, the key in a JWKS')
  const [captures, keys] = [captureFile('rsa.jsonl', rsa, 3), file('jwks.json', rsa.publicKeys ?? '')]
  const { status, out } = await depositd(`webhooks detect --public-keys ${keys} --from ${captures}`)
  expect(status).toBe(0)
  expect(parse(out)).toEqual({ webhooks: { ...rsa.settings, publicKeys: keys } })
})

test('from the quarantine, the scheme is found among what others sent', async () => {
  const db = openDatabase<Tables>({ url: database.url, poolMax: 1, applicationName: 'test' })
  const rows = capturesOf(acme, 4).map((capture, place) => ({
    ...capture,
    service: defaultService,
    headers: place === 3 ? { 'x-acme-proof': 'sha512=00' } : capture.headers,
    source: '203.0.113.9',
    reason: 'signature_missing',
  }))
  const ofAcme = rows.map((row) => ({ ...row, service: 'acme' as ServiceName, id: undefined }))
  await keepQuarantined(db, [...rows, ...ofAcme], { rowsMax: 100, bytesMax: 1_000_000 })
  await db.destroy()
  const named = await depositd('webhooks detect --service acme', { WEBHOOK_SECRETS_ACME: secret })
  expect(named.out).toContain('# Verifies 3 of 4 captured deliveries.')
  const { status, out } = await depositd('webhooks detect', { WEBHOOK_SECRETS: secret })
  expect(status).toBe(0)
  expect(out).toContain('# Verifies 3 of 4 captured deliveries.')
  expect(parse(out)).toEqual({ webhooks: acme.settings })
})

const noneVerifies = 'depositd: none of 3 captured deliveries verifies with this secret by any known scheme'

test('where nothing verifies, the line says so, and what was not tried, and the status is that of bad news', async () => {
  const captures = captureFile('again.jsonl', acme, 3)
  expect(await depositd(`webhooks detect --from ${captures}`, { WEBHOOK_SECRETS: 'other' })).toEqual({
    status: 1,
    out: '',
    err: `${noneVerifies}; deliveries without a path, for which no signature over it or the URL was tried: 3\n`,
  })
  const empty = file('empty.jsonl', '')
  expect(await depositd(`webhooks detect --from ${empty}`, { WEBHOOK_SECRETS: 'other' })).toMatchObject({
    status: 1,
    err: `depositd: ${empty} contains no captured deliveries\n`,
  })
})

test('a signature over the URL is found from the host of the deliveries, or from the public URL that is given', async () => {
  const sender = senderCalled('HMAC-SHA1 over body and URL')
  const captures = (name: string, more: object) =>
    file(
      name,
      capturesOf(sender, 3)
        .map(({ headers, body, receivedAt }) => {
          const whole = { ...line, headers: { ...headers, ...more }, body: body.toString() }
          return JSON.stringify({ ...whole, received_at: receivedAt.toISOString() })
        })
        .join('\n'),
    )
  const secrets = { WEBHOOK_SECRETS: sender.secret ?? '' }
  const section = async (from: string, option = '') =>
    depositd(`webhooks detect${option} --from ${from}`, secrets)
  const found = await section(captures('forwarded', { 'x-forwarded-host': 'deposits.example', host: 'a' }))
  expect(parse(found.out)).toEqual({ webhooks: sender.settings })
  const elsewhere = captures('internal', { host: 'depositd:8080' })
  expect(await section(elsewhere)).toMatchObject({
    status: 1,
    err: `${noneVerifies}; a sender that signs the URL may need --public-url\n`,
  })
  expect(parse((await section(elsewhere, ' --public-url https://deposits.example')).out)).toEqual({
    webhooks: sender.settings,
  })
  expect((await section(elsewhere, ' --public-url https://other.example')).err).toBe(`${noneVerifies}\n`)
})

test.each([
  [
    'webhooks detect --from none.jsonl --public-keys package.json',
    "--from cannot be read: ENOENT: no such file or directory, open 'none.jsonl'; give the path of a readable file",
  ],
  [
    'webhooks detect --secret-file none',
    "--secret-file cannot be read: ENOENT: no such file or directory, open 'none'; give the path of a readable file",
  ],
  ['webhooks detect', 'no secret given; use --secret-file or --public-keys, or set WEBHOOK_SECRETS'],
  ['webhooks detect --secret a', "unknown option '--secret'"],
  [
    'webhooks detect --public-keys package.json --public-url deposits.example',
    '--public-url is no address without a login, a query or a section; give it like https://deposits.example',
  ],
])('%s is wrong use: status 2, and a line that names the mend', async (command, message) => {
  const { status, out, err } = await depositd(command)
  expect({ status, out }).toEqual({ status: 2, out: '' })
  expect(err).toContain(message)
})

test('every line of a file that is no capture is named', async () => {
  const captures = file('bad.jsonl', 'none\n{"headers":{},"body":"{}","received_at":"now"}\n')
  const { status, err } = await depositd(`webhooks detect --from ${captures}`, { WEBHOOK_SECRETS: 'a' })
  expect(status).toBe(2)
  expect(err).toBe(
    `depositd: ${captures}, line 1: is no JSON object\n  ${captures}, line 2: received_at: is no time like ` +
      '2026-11-20T10:00:00Z; see "Captured deliveries" in docs/webhooks.md\n',
  )
})
