import { createHmac } from 'node:crypto'
import { request } from 'node:http'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { transfersPath } from '../../src/intake/server.ts'
import { createScheme } from '../../src/intake/signature/create-scheme.ts'
import { memoryWriter, startTestIntake, type TestIntake } from '../support/intake.ts'
import { schemeSettings, secretsOf } from '../support/sign-webhook.ts'

const secret = 'the secret of the sender'
const publicUrl = 'https://deposits.example/hooks'
const path = `${transfersPath}?shop=a%2Fb`
const body = '{"id":"evt_1"}'
const settings = schemeSettings({ scheme: 'square', publicUrl })
const verify = createScheme(settings, { secrets: secretsOf(secret), publicKeys: null })

const inbox = memoryWriter()
let intake: TestIntake
beforeEach(async () => {
  inbox.rows.clear()
  intake = await startTestIntake({ write: inbox.write, admitting: { verify, signing: settings } })
})
afterEach(() => intake.stop())

type Sending = { at?: string; signedUrl?: string; host?: string }

/** As a proxy forwards it that serves `publicUrl`. */
function send({ at = path, signedUrl = publicUrl + path, host = 'depositd:8080' }: Sending = {}) {
  const signature = createHmac('sha256', secret)
    .update(signedUrl + body)
    .digest('base64')
  const headers = {
    'content-type': 'application/json',
    host,
    'x-forwarded-host': 'deposits.example',
    'x-square-hmacsha256-signature': signature,
  }
  return new Promise<number | undefined>((resolve, reject) => {
    const sending = request(intake.url + at, { method: 'POST', headers }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode))
    })
    sending.on('error', reject).end(body)
  })
}

test('the URL that the sender signed is that of the settings and the path received, whatever the host', async () => {
  expect(await send()).toBe(202)
  const [row] = [...inbox.rows.values()]
  expect(row?.headers).toEqual({
    'content-type': 'application/json',
    'x-square-hmacsha256-signature': expect.any(String),
    ':method': 'POST',
    ':path': path,
    'verified-by': 'square',
  })
  expect(verify({ headers: row?.headers ?? {}, body: Buffer.from(body), receivedAt: new Date() }).kind).toBe(
    'verified',
  )
})

test('another query, path or signed URL is refused, and quarantined with what may have been signed', async () => {
  expect(await send({ at: `${path}c` })).toBe(401)
  expect(await send({ at: `${transfersPath}/?shop=a%2Fb` })).toBe(401)
  expect(await send({ signedUrl: `https://depositd:8080${path}` })).toBe(401)
  expect(inbox.rows.size).toBe(0)
  const kept = intake.quarantined.map(({ headers }) => headers)
  expect(kept.map((headers) => headers[':path'])).toEqual([`${path}c`, `${transfersPath}/?shop=a%2Fb`, path])
  expect(kept[0]).toMatchObject({
    ':method': 'POST',
    host: 'depositd:8080',
    'x-forwarded-host': 'deposits.example',
  })
})
