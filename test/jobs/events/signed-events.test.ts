import { createHmac, createPublicKey, verify } from 'node:crypto'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openPoster } from '../../../src/outbox/post-webhook.ts'
import { openSecretVault } from '../../../src/outbox/secret-vault.ts'
import { makeSecret, readSecret } from '../../../src/outbox/signing-key.ts'
import { rotateEndpoint } from '../../../src/store/change-endpoints.ts'
import { inTransaction } from '../../../src/store/database.ts'
import { listAttempts } from '../../../src/store/event-deliveries.ts'
import { endpointVaultPurpose } from '../../../src/store/event-endpoints.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { openEventReceiver, type ReceivedEvent } from '../../support/event-receiver.ts'
import { addEndpoint, endpointNamed, eventVault, sendEvents } from '../../support/sent-events.ts'

let stack: AsyncDisposableStack
let books: Books
beforeEach(async () => {
  stack = new AsyncDisposableStack()
  books = stack.use(await openBooks())
})
afterEach(() => stack.disposeAsync())

const contentOf = ({ headers, body }: ReceivedEvent) =>
  `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`

const signaturesOf = ({ headers }: ReceivedEvent) => headers['webhook-signature']?.split(' ') ?? []

function hmacOf(secret: string, event: ReceivedEvent): string {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  return `v1,${createHmac('sha256', key).update(contentOf(event)).digest('base64')}`
}

function isSignedWith(publicKey: string, event: ReceivedEvent): boolean {
  const x = Buffer.from(publicKey.replace('whpk_', ''), 'base64').toString('base64url')
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  return signaturesOf(event).some((one) => {
    const [scheme, signature = ''] = one.split(',')
    return (
      scheme === 'v1a' && verify(null, Buffer.from(contentOf(event)), key, Buffer.from(signature, 'base64'))
    )
  })
}

test('with HMAC the headers are those of Standard Webhooks, and the time is that of the attempt', async () => {
  const { url, received } = stack.use(await openEventReceiver())
  const sending = stack.use(sendEvents(books))
  const secret = makeSecret('v1')
  await addEndpoint(books, { url, secret })
  await sending.happen(1)
  sending.clock.pass(100)
  await sending.deliver()
  const [event] = received
  if (event === undefined) throw new Error('it arrived')
  expect(event.headers).toMatchObject({
    'webhook-id': event.id,
    'webhook-timestamp': `${Math.floor(sending.clock.now.getTime() / 1000)}`,
    'content-type': 'application/json',
  })
  expect(signaturesOf(event)).toEqual([hmacOf(secret, event)])
})

test('a rotation to ed25519 signs with both until the overlap ends, and a second one ends the first', async () => {
  const { url, received } = stack.use(await openEventReceiver())
  const sending = stack.use(sendEvents(books))
  const secrets = [makeSecret('v1'), makeSecret('v1a'), makeSecret('v1')] as const
  await addEndpoint(books, { url, secret: secrets[0] })
  const rotate = (secret: string) => {
    const endsAt = new Date(sending.clock.now.getTime() + 60_000)
    return inTransaction(books.db, (tx) =>
      rotateEndpoint(tx, eventVault, { name: 'shop', by: 'erin', secret, endsAt }),
    )
  }
  const next = async () => {
    await sending.happen(1)
    await sending.deliver()
    const event = received.at(-1)
    if (event === undefined) throw new Error('it arrived')
    return event
  }
  const publicKey = readSecret(secrets[1])?.publicKey ?? ''
  await rotate(secrets[1])
  const both = await next()
  expect(signaturesOf(both)).toContain(hmacOf(secrets[0], both))
  expect(isSignedWith(publicKey, both)).toBe(true)
  sending.clock.pass(61)
  const after = await next()
  expect(signaturesOf(after)).toHaveLength(1)
  expect(isSignedWith(publicKey, after)).toBe(true)
  await rotate(secrets[0])
  await rotate(secrets[2])
  const last = await next()
  expect(signaturesOf(last)).toEqual([hmacOf(secrets[2], last), hmacOf(secrets[0], last)])
  expect((await endpointNamed(books)).secrets).toHaveLength(2)
})

test('an earlier secret stops signing when its overlap ends, also while the sender is at work', async () => {
  const answer = async ({ deposit }: ReceivedEvent) => {
    if (deposit !== '1') return 204
    sending.clock.pass(61)
    await sending.happen(2)
    return 204
  }
  const { url, received } = stack.use(await openEventReceiver(answer))
  const sending = stack.use(sendEvents(books))
  await addEndpoint(books, { url })
  const endsAt = new Date(sending.clock.now.getTime() + 60_000)
  await inTransaction(books.db, (tx) =>
    rotateEndpoint(tx, eventVault, { name: 'shop', by: 'erin', secret: makeSecret('v1'), endsAt }),
  )
  await sending.happen(1)
  await sending.deliver()
  expect(received.map((event) => signaturesOf(event).length)).toEqual([2, 1])
})

test('secrets are in no text of the database', async () => {
  const secret = makeSecret('v1')
  await addEndpoint(books, { url: 'https://shop.example/', secret })
  const { rows } = await sql<{ text: string }>`
    select s::text || encode(s.sealed, 'escape') as text from event_endpoint_secret s`.execute(books.owner)
  expect(rows).toHaveLength(1)
  expect(rows[0]?.text).not.toContain(secret.slice(6))
})

test.each([
  ['a private address', 'http://10.0.0.1:9/', undefined],
  ['loopback', 'http://127.0.0.1:9/', undefined],
  ['a link-local address', 'http://169.254.169.254/latest', undefined],
  ['loopback by IPv6', 'http://[::1]:9/', undefined],
  ['a name that resolves to a private address', 'http://shop.example:9/', ['10.0.0.1']],
  ['a name of which one address is private', 'http://shop.example:9/', ['93.184.216.34', '127.0.0.1']],
])('%s is refused, and tried again later', async (_what, url, addresses) => {
  const resolve = (
    _name: string,
    _options: object,
    done: (error: null, found: { address: string; family: number }[]) => void,
  ) =>
    done(
      null,
      (addresses ?? []).map((address) => ({ address, family: 4 })),
    )
  const poster = openPoster({ allowPrivate: false, timeoutMs: 1000, resolve })
  const sending = stack.use(sendEvents(books, { poster }))
  await addEndpoint(books, { url })
  await sending.happen(1)
  await sending.deliver()
  const endpoint = await endpointNamed(books)
  expect(endpoint).toMatchObject({ waiting: 1, state: 'active' })
  expect(await listAttempts(books.db, endpoint.id, { limit: 5 })).toMatchObject([
    { problem: 'address_refused', status: null },
  ])
})

test('a name that resolves to loopback only later is refused too: each connection checks the address that it uses', async () => {
  const { url, received } = stack.use(await openEventReceiver())
  let looks = 0
  const poster = openPoster({
    allowPrivate: false,
    timeoutMs: 1000,
    resolve: (_name, _options, done) =>
      done(null, [{ address: ++looks === 1 ? '192.0.2.1' : '127.0.0.1', family: 4 }]),
  })
  const sending = stack.use(sendEvents(books, { poster }))
  await addEndpoint(books, { url: url.replace('127.0.0.1', 'shop.example') })
  await sending.happen(1)
  for (let tries = 0; tries < 3; tries++) {
    await sending.deliver()
    sending.clock.pass(60)
  }
  expect(looks).toBeGreaterThan(1)
  expect(received).toEqual([])
})

test('without the key, or with another one, nothing is sent, and the failure is reported', async () => {
  const { url, received } = stack.use(await openEventReceiver())
  const keyless = stack.use(sendEvents(books, { vault: null }))
  await addEndpoint(books, { url })
  await keyless.happen(1)
  await keyless.deliver()
  expect(keyless.failed.map(String)).toEqual([expect.stringContaining('EVENTS_KEY is missing')])
  const other = openSecretVault(Buffer.alloc(32, 8), endpointVaultPurpose)
  const wrong = stack.use(sendEvents(books, { vault: other }))
  await wrong.deliver()
  expect(wrong.failed.map(String)).toEqual([expect.stringContaining('EVENTS_KEY is not the key')])
  expect(received).toEqual([])
  const able = stack.use(sendEvents(books))
  await able.deliver()
  expect(received).toHaveLength(1)
})
