import { expect, test } from 'vitest'
import type { SignatureVerdict, WebhookDelivery } from '../../../src/intake/signature/scheme.ts'
import { standardWebhooks } from '../../support/sign-webhook.ts'

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
  ['an id with a space, as two joined headers have', { 'webhook-id': 'msg_1, msg_2' }, 'id_malformed'],
  ['an id with a full stop', { 'webhook-id': 'msg.1' }, 'id_malformed'],
  ['an id beyond 256 characters', { 'webhook-id': 'm'.repeat(257) }, 'id_malformed'],
  ['no timestamp', { 'webhook-timestamp': undefined }, 'timestamp_malformed'],
  ['a timestamp with a tail', { 'webhook-timestamp': '1614265330abc' }, 'timestamp_malformed'],
  ['a timestamp with an exponent', { 'webhook-timestamp': '16e8' }, 'timestamp_malformed'],
  ['a timestamp in milliseconds', { 'webhook-timestamp': '1614265330000' }, 'timestamp_malformed'],
  ['no signature', { 'webhook-signature': undefined }, 'signature_missing'],
  ['an empty signature', { 'webhook-signature': 'v1,' }, 'signature_missing'],
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

test('one right signature among several is enough', () => {
  const wrong = `v1,${'A'.repeat(43)}=`
  expect(withHeaders({ 'webhook-signature': `${wrong} v1a,abc ${signature} ${wrong}` })).toEqual(verified)
})

test.each([
  ['no prefix', 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
  ['nothing', ''],
  ['the URL alphabet', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa-_'],
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
