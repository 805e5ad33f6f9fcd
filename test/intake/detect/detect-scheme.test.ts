import { createHash, createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { webhookSection } from '../../../src/config/webhook-settings.ts'
import { detectScheme, toSection } from '../../../src/intake/detect/detect-scheme.ts'
import { createScheme } from '../../../src/intake/signature/create-scheme.ts'
import type { WebhookDelivery } from '../../../src/intake/signature/scheme.ts'
import { line, type Sender } from './sender.ts'
import { keysOf, senders } from './senders.ts'

const start = Date.parse('2026-11-20T10:00:00.123Z')

/** What stands in any request beside the signature, some of it looking like an id, a time or a signature. */
const noise = {
  host: 'deposits.example',
  'content-type': 'application/json',
  'user-agent': 'Acme-Hooks/2.1',
  'x-request-id': '9f1c2d3e4b5a69788796a5b4c3d2e1f0a1b2c3d4e5f60718293a4b5c6d7e8f90',
  'x-amzn-trace-id': 'Root=1-67891233-abcdef012345678912345678',
  'x-forwarded-for': '203.0.113.9, 10.0.0.1',
}

function captured(sender: Sender, place: number): WebhookDelivery {
  const at = new Date(start + place * 61_007)
  const body = Buffer.from(JSON.stringify({ event: `deposit-${place}`, amount: '1'.repeat(place + 1) }))
  const headers = sender.sign({ id: `evt_${place}x7`, at, body })
  const requestLine = { ':method': line.method, ':path': line.path }
  return { headers: { ...noise, ...headers, ...requestLine }, body, receivedAt: new Date(at.getTime() + 900) }
}

function three(sender: Sender): WebhookDelivery[] {
  return [0, 1, 2].map((place) => captured(sender, place))
}

describe.each(senders)('$name', (sender) => {
  test('is found from three captured deliveries, and the section of the settings file that is printed verifies them', () => {
    const captures = three(sender)
    const found = detectScheme(captures, keysOf(sender))
    if (found.kind !== 'found') throw new Error('nothing was found')
    expect(found).toMatchObject({ verified: [0, 1, 2], late: 0, alike: [] })
    const section = toSection(found.settings, sender.publicKeys === undefined ? null : './keys.pem')
    expect(section).toEqual({
      ...sender.settings,
      ...(sender.publicKeys !== undefined && { publicKeys: './keys.pem' }),
    })
    const scheme = createScheme(webhookSection.parse(section), keysOf(sender))
    for (const capture of captures) expect(scheme(capture).kind).toBe('verified')
  })

  test('is not found by another secret or key', () => {
    const other = senders.find(({ publicKeys }) => publicKeys !== sender.publicKeys)?.publicKeys
    const keys = keysOf({ secret: 'another secret', ...(other !== undefined && { publicKeys: other }) })
    expect(detectScheme([captured(sender, 0)], keys).kind).toBe('none')
  })
})

const [standard, stripe, token] = ['Standard Webhooks', 'Stripe', 'a shared secret in a header'].map(
  (name) => {
    const sender = senders.find((one) => one.name === name)
    if (sender === undefined) throw new Error(`no sender ${name}`)
    return sender
  },
) as [Sender, Sender, Sender]

test('forged deliveries among the captured ones do not hide the scheme, and are told apart', () => {
  const forged = [0, 1].map((place) => ({ ...captured(standard, place), body: Buffer.from('{}') }))
  const found = detectScheme([...forged, ...three(standard)], keysOf(standard))
  expect(found).toMatchObject({ kind: 'found', verified: [2, 3, 4] })
})

test.each([
  ['under the same names of headers', () => ({})],
  ['under ever other names of headers', (place: number) => ({ [`x-noise-${place % 50}`]: 'x' })],
])('what one client floods the quarantine with, %s, hides no other client', (_under, others) => {
  const flood = Array.from({ length: 490 }, (_, place) => ({
    ...captured(standard, place % 3),
    headers: { ...captured(standard, place % 3).headers, 'webhook-signature': 'v1,forged', ...others(place) },
    source: '203.0.113.66',
  }))
  const genuine = three(standard).map((capture) => ({ ...capture, source: '198.51.100.1' }))
  const found = detectScheme([...flood, ...genuine], keysOf(standard))
  expect(found).toMatchObject({ kind: 'found', verified: [490, 491, 492] })
})

test('captures that waited long after they were signed are found, and told of: they need a longer tolerance', () => {
  const captures = three(stripe)
  const late = captures.map((capture) => ({ ...capture, receivedAt: new Date(start + 86_400_000) }))
  const found = detectScheme([...late, captured(stripe, 3)], keysOf(stripe))
  expect(found).toMatchObject({ kind: 'found', verified: [0, 1, 2, 3], late: 3 })
})

test('what one capture cannot tell apart is told: an id that two headers hold', () => {
  const sender: Sender = {
    ...standard,
    sign: (sending) => {
      const { 'webhook-signature': signature = '', 'webhook-timestamp': time = '' } = standard.sign(sending)
      return { 'x-id': sending.id, 'x-copy': sending.id, 'x-time': time, 'x-sign': signature }
    },
  }
  const found = detectScheme([captured(sender, 0)], keysOf(sender))
  expect(found).toMatchObject({
    settings: { scheme: 'hmac', id: { header: 'x-id' } },
    alike: [{ scheme: 'hmac', id: { header: 'x-copy' } }],
  })
})

test('a shared secret is recognised where only its hash was kept', () => {
  const hash = createHash('sha256').update('token-of-ours').digest('hex')
  const captures = three(token).map((capture) => ({
    ...capture,
    headers: { ...capture.headers, 'x-webhook-token': `sha256:${hash}` },
  }))
  const found = detectScheme(captures, keysOf(token))
  expect(found).toMatchObject({ kind: 'found', settings: token.settings, verified: [0, 1, 2] })
})

/** Signs as it says, beside the noise of any request. */
function senderOf(secret: string, sign: Sender['sign']): Sender {
  return { name: 'a sender', secret, settings: {}, sign }
}

const mac = (secret: string, ...parts: (string | Buffer)[]) =>
  parts.reduce((made, part) => made.update(part), createHmac('sha256', secret)).digest('hex')

test('a secret that happens to stand in another header hides no signature, and is none by itself', () => {
  const signing = senderOf('acme', ({ body }) => ({
    'user-agent': 'hooks-by-acme',
    'x-sent-by': 'acme',
    'x-mac': mac('acme', body),
  }))
  expect(detectScheme(three(signing), keysOf(signing))).toMatchObject({
    settings: { scheme: 'hmac', header: 'x-mac' },
    alike: [],
  })
  const silent = senderOf('acme', () => ({ 'user-agent': 'hooks-by-acme' }))
  expect(detectScheme(three(silent), keysOf(silent)).kind).toBe('none')
})

test('a path that is signed is found as such, also if a secret happens to stand in another header', () => {
  const sender = senderOf('acme', ({ body }) => ({
    'x-sent-by': 'acme',
    'x-mac': mac('acme', `${line.path}.`, body),
  }))
  expect(detectScheme(three(sender), keysOf(sender))).toMatchObject({
    settings: { scheme: 'hmac', header: 'x-mac', template: '{path}.{body}' },
    alike: [],
  })
})

test('of two signatures that verify as many the one that signs the time as well is preferred', () => {
  const sender = senderOf('acme', ({ at, body }) => {
    const time = String(Math.floor(at.getTime() / 1000))
    return { 'x-sig': `ts=${time},v0=${mac('acme', body)},v1=${mac('acme', `${time}.`, body)}` }
  })
  expect(detectScheme(three(sender), keysOf(sender))).toMatchObject({
    settings: { field: 'v1', template: '{timestamp}.{body}' },
    alike: [{ field: 'v0', template: '{body}' }],
  })
})

test('without any capture nothing is found', () => {
  expect(detectScheme([], keysOf(standard))).toEqual({ kind: 'none', tried: 0 })
})

test('a request that was made to be searched for ever is given up, and the others are searched', () => {
  const parts = Array.from({ length: 200 }, (_, place) => [`x-${place}`, `${1e9 + place}`])
  const signatures = Array.from({ length: 100 }, (_, place) => [`y-${place}`, 'ab'.repeat(32)])
  const endless = {
    headers: Object.fromEntries([...parts, ...signatures]) as Record<string, string>,
    body: Buffer.from('{}'),
    receivedAt: new Date(start),
  }
  const found = detectScheme([endless, ...three(stripe)], keysOf(stripe))
  expect(found).toMatchObject({ kind: 'found', verified: [1, 2, 3] })
  expect(detectScheme([endless], keysOf(stripe))).toMatchObject({ kind: 'none' })
  // A large body makes each try dear, so that it gets fewer of them.
  const dear = { ...endless, body: Buffer.alloc(1024 * 1024, '1') }
  expect(detectScheme([dear], keysOf(stripe))).toEqual({ kind: 'none', tried: 1024 })
})
