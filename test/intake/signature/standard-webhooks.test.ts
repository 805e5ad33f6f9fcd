import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { SignatureVerdict, WebhookDelivery } from '../../../src/intake/signature/scheme.ts'
import { makeSecret, signStandardWebhook, standardWebhooks } from '../../support/sign-webhook.ts'

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const published = {
  'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  'webhook-timestamp': '1614265330',
  'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
}
const body = Buffer.from('{"test": 2432232314}')
const signedAt = new Date(1614265330_000)
const verify = standardWebhooks(secret)
const delivery = (change: Partial<WebhookDelivery> = {}): WebhookDelivery => ({
  headers: published,
  body,
  receivedAt: signedAt,
  ...change,
})
const withHeaders = (headers: Record<string, string | undefined>): SignatureVerdict =>
  verify(delivery({ headers: { ...published, ...headers } }))
const refusedFor = (reason: string) => ({ kind: 'refused', reason })
const verified = { kind: 'verified', id: 'msg_p5jXN8AQM9LWM0D4loKWxJek' }
const signature = published['webhook-signature']

test('accepts the published vector', () => {
  expect(verify(delivery())).toEqual(verified)
})

test.each([
  ['no id', { 'webhook-id': undefined }, 'id_malformed'],
  ['an empty id', { 'webhook-id': '' }, 'id_malformed'],
  ['an id with a space, as two joined headers have', { 'webhook-id': 'msg_1, msg_2' }, 'id_malformed'],
  ['an id with a full stop', { 'webhook-id': 'msg.1' }, 'id_malformed'],
  ['an id beyond 256 characters', { 'webhook-id': 'm'.repeat(257) }, 'id_malformed'],
  ['an id that is not ASCII', { 'webhook-id': 'msg_é' }, 'id_malformed'],
  ['no timestamp', { 'webhook-timestamp': undefined }, 'timestamp_malformed'],
  ['a timestamp with a tail', { 'webhook-timestamp': '1614265330abc' }, 'timestamp_malformed'],
  ['a timestamp with a fraction', { 'webhook-timestamp': '1614265330.0' }, 'timestamp_malformed'],
  ['a negative timestamp', { 'webhook-timestamp': '-1614265330' }, 'timestamp_malformed'],
  ['a timestamp with an exponent', { 'webhook-timestamp': '16e8' }, 'timestamp_malformed'],
  ['a hexadecimal timestamp', { 'webhook-timestamp': '0x60378A32' }, 'timestamp_malformed'],
  ['a padded timestamp', { 'webhook-timestamp': '01614265330' }, 'timestamp_malformed'],
  ['a timestamp in milliseconds', { 'webhook-timestamp': '1614265330000' }, 'timestamp_malformed'],
  ['a timestamp one second later than signed', { 'webhook-timestamp': '1614265331' }, 'signature_wrong'],
  ['another id than signed', { 'webhook-id': 'msg_other' }, 'signature_wrong'],
  ['no signature', { 'webhook-signature': undefined }, 'signature_missing'],
  ['an empty signature', { 'webhook-signature': 'v1,' }, 'signature_missing'],
  ['a signature cut short', { 'webhook-signature': signature.slice(0, -1) }, 'signature_missing'],
  ['a signature without its version', { 'webhook-signature': signature.slice(3) }, 'signature_missing'],
  [
    'a signature of another version',
    { 'webhook-signature': signature.replace('v1', 'v2') },
    'signature_missing',
  ],
  [
    'only an asymmetric signature',
    { 'webhook-signature': signature.replace('v1', 'v1a') },
    'signature_missing',
  ],
  [
    'the same bytes spelled otherwise',
    { 'webhook-signature': signature.replace('E=', 'F=') },
    'signature_wrong',
  ],
  ['the URL alphabet', { 'webhook-signature': signature.replace('+', '-') }, 'signature_wrong'],
])('refuses %s', (_what, headers, reason) => {
  expect(withHeaders(headers)).toEqual(refusedFor(reason))
})

test.each([
  [-301, refusedFor('timestamp_too_new')],
  [-300, verified],
  [300, verified],
  [301, refusedFor('timestamp_too_old')],
])('a delivery %i seconds after its timestamp is %o', (seconds, verdict) => {
  expect(verify(delivery({ receivedAt: new Date(signedAt.getTime() + seconds * 1000) }))).toEqual(verdict)
})

test('one right signature among several is enough', () => {
  const wrong = `v1,${'A'.repeat(43)}=`
  expect(withHeaders({ 'webhook-signature': `${wrong} v1a,abc ${signature} ${wrong}` })).toEqual(verified)
})

test('old and new secret are both accepted while they are listed, and neither afterwards', () => {
  const [newer, older, revoked] = [makeSecret(), makeSecret(), makeSecret()]
  const either = standardWebhooks(newer, older)
  const from = (by: string) =>
    either(delivery({ headers: signStandardWebhook({ secret: by, id: 'msg_1', body, at: signedAt }) })).kind
  expect([from(newer), from(older), from(revoked)]).toEqual(['verified', 'verified', 'refused'])
})

const flip = (bytes: Buffer, bit: number): Buffer => {
  const copy = Buffer.from(bytes)
  const place = (bit >> 3) % copy.length
  copy[place] = (copy[place] ?? 0) ^ (1 << (bit & 7))
  return copy
}

test('whatever is signed is verified, and any flipped bit of it is refused', () => {
  const bodies = fc.uint8Array({ minLength: 1, maxLength: 300 }).map((bytes) => Buffer.from(bytes))
  fc.assert(
    fc.property(
      bodies,
      fc.nat(),
      fc.constantFrom('body', 'webhook-id', 'webhook-timestamp', 'webhook-signature'),
      (bytes, bit, part) => {
        const headers = signStandardWebhook({ secret, id: 'msg_1', body: bytes, at: signedAt })
        const whole = delivery({ headers, body: bytes })
        expect(verify(whole).kind).toBe('verified')
        const broken =
          part === 'body'
            ? { ...whole, body: flip(bytes, bit) }
            : {
                ...whole,
                headers: {
                  ...headers,
                  [part]: flip(Buffer.from(headers[part] ?? '', 'latin1'), bit).toString('latin1'),
                },
              }
        expect(verify(broken).kind).toBe('refused')
      },
    ),
    { numRuns: 2000 },
  )
})

test.each([
  ['no prefix', 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
  ['nothing', ''],
  ['only the prefix', 'whsec_'],
  ['a character outside base64', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS!'],
  ['the URL alphabet', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa-_'],
  ['a length no base64 has', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwA'],
  ['bits left over', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMR=='],
  ['fewer than 24 bytes', 'whsec_c2hvcnQ='],
  ['a line break at its end', `${secret}\n`],
])('a secret with %s is a settings fault that does not tell it', (_what, bad) => {
  const make = () => standardWebhooks(secret, bad)
  expect(make).toThrow('WEBHOOK_SECRETS: secret 2 must be whsec_')
  expect(make).not.toThrow(/MfKQ|c2hv/)
})

test('every bad secret is named at once, and none at all is refused', () => {
  expect(() => standardWebhooks('a', 'b')).toThrow(/secret 1 .*secret 2 /)
  expect(() => standardWebhooks()).toThrow('WEBHOOK_SECRETS is empty')
})
