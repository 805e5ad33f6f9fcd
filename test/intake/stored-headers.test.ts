import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { quarantinedHeaders, storedHeaders } from '../../src/intake/admit-delivery.ts'
import { schemeSettings, secretsOf } from '../support/sign-webhook.ts'

const hashed = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`
const github = { scheme: 'github', header: 'x-hub-signature-256' } as const

test.each([
  'authorization',
  'proxy-authorization',
  'cookie',
  'x-webhook-token',
  'x-client-secret',
  'x-api-key',
  'apikey',
  'x-password',
])('of %s only the hash is kept', (name) => {
  expect(storedHeaders({ [name]: 'Bearer abc' }, github, [])).toEqual({ [name]: hashed('Bearer abc') })
})

test.each(['x-hub-signature-256', 'x-token-signature', 'webhook-timestamp', 'x-key-id', 'date'])(
  '%s is kept as it came',
  (name) => {
    expect(storedHeaders({ [name]: 'abc' }, github, [])).toEqual({ [name]: 'abc' })
  },
)

test('the header that holds the secret itself is hashed, whatever its name', () => {
  const signing = { scheme: 'shared-secret', header: 'x-signature', prefix: '' } as const
  expect(storedHeaders({ 'x-signature': 'abc', 'x-other': 'd' }, signing, [])).toEqual({
    'x-signature': hashed('abc'),
    'x-other': 'd',
  })
})

test('what tells of the way and not of the webhook is passed over', () => {
  const headers = {
    host: 'x',
    connection: 'close',
    'content-length': '2',
    'x-forwarded-for': '::1',
    accept: '*/*',
  }
  expect(storedHeaders(headers, github, [])).toEqual({})
})

test('a header that came several times is one', () => {
  expect(storedHeaders({ 'set-cookie': ['a', 'b'], 'x-many': ['1', '2'] }, github, [])).toEqual({
    'set-cookie': hashed('a, b'),
    'x-many': '1, 2',
  })
})

test('a value that holds a secret of ours is hashed, whatever its name', () => {
  const headers = { 'x-hook-auth': 'Bearer the-right-one', 'x-other': 'd' }
  expect(storedHeaders(headers, github, secretsOf('another', 'the-right-one'))).toEqual({
    'x-hook-auth': hashed('Bearer the-right-one'),
    'x-other': 'd',
  })
})

test('what the scheme verifies by is kept as it came, though it is called like a credential or like the way', () => {
  const signing = schemeSettings({
    scheme: 'hmac',
    header: 'authorization',
    template: '{id}.{timestamp}.{body}',
    id: { header: 'cf-event' },
    timestamp: { header: 'x-token-time' },
  })
  const headers = { authorization: 'HMAC ab', 'cf-event': 'evt_1', 'x-token-time': '1795000000' }
  expect(storedHeaders({ ...headers, 'cf-ray': '1', cookie: 'a' }, signing, [])).toEqual({
    ...headers,
    cookie: hashed('a'),
  })
  const svix = schemeSettings({ scheme: 'svix', headers: 'x-token' })
  expect(storedHeaders({ 'x-token-id': 'msg_1', 'x-token': 'b' }, svix, [])).toEqual({
    'x-token-id': 'msg_1',
    'x-token': hashed('b'),
  })
})

test.each([
  ['a credential in the query', '/hooks?token=abc', github, hashed('/hooks?token=abc')],
  ['a secret of ours', '/hooks/the-right-one', github, hashed('/hooks/the-right-one')],
  [
    'a credential in a query that is signed',
    '/hooks?token=abc',
    { scheme: 'square' } as const,
    '/hooks?token=abc',
  ],
  ['a word in the path', '/token/hooks?a=1', { scheme: 'none' } as const, '/token/hooks?a=1'],
])('a quarantined path with %s', (...[, path, signing, kept]) => {
  const delivery = { headers: {}, body: Buffer.alloc(0), receivedAt: new Date(), method: 'POST', path }
  const headers = quarantinedHeaders(delivery, signing, secretsOf('the-right-one'))
  expect(headers).toEqual({ ':method': 'POST', ':path': kept })
})

test('what a well-known scheme verifies by is kept as it came', () => {
  const headers = { 'x-hubspot-signature-v3': 'a', 'x-hubspot-request-timestamp': '1', ':path': '/' }
  const { ':path': _, ...kept } = headers
  expect(storedHeaders(headers, { scheme: 'hubspot', tolerance: 0 }, [])).toEqual(kept)
})
