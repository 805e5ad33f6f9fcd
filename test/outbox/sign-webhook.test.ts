import { createPublicKey, verify } from 'node:crypto'
import { expect, test } from 'vitest'
import { makeSecret, readSecret, type SigningKey, signedHeaders } from '../../src/outbox/signing-key.ts'

/** The message of the published Standard Webhooks test vectors. */
const message = {
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  timestamp: '1614265330',
  body: '{"test": 2432232314}',
}
const hmacSecret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const hmacSignature = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='
const ed25519Secret = 'whsk_VEVTVFNJR05JTkdLRVlET05PVFVTRVRISVNGT1JBTlk='
const ed25519Signature =
  'v1a,tQ9V2XOqn7jL/DQenEFpqIugdBVtiMmER5mhSkXBNwM0mkATuDe6KYYUuxqtaiHeYGb7KaaBRdM5WqyeFiL8Ag=='

function keyOf(secret: string): SigningKey {
  const key = readSecret(secret)
  if (key === null) throw new Error('the secret of a test is one')
  return key
}

test.each([
  ['v1', hmacSecret, hmacSignature],
  ['v1a', ed25519Secret, ed25519Signature],
])('signs the published Standard Webhooks vector of %s', (scheme, secret, signature) => {
  expect(keyOf(secret).scheme).toBe(scheme)
  expect(signedHeaders([keyOf(secret)], message)).toEqual({
    'webhook-id': message.id,
    'webhook-timestamp': message.timestamp,
    'webhook-signature': signature,
  })
})

test('signs by every key, in their order, with a space between', () => {
  const headers = signedHeaders([keyOf(ed25519Secret), keyOf(hmacSecret)], message)
  expect(headers['webhook-signature']).toBe(`${ed25519Signature} ${hmacSignature}`)
})

test('the public key verifies what the secret signed; a v1 secret has none', () => {
  const key = keyOf(makeSecret('v1a'))
  const [prefix, base64 = ''] = key.publicKey?.split('_') ?? []
  expect(prefix).toBe('whpk')
  const x = Buffer.from(base64, 'base64').toString('base64url')
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  const signature = Buffer.from(key.sign('content').slice('v1a,'.length), 'base64')
  expect(verify(null, Buffer.from('content'), publicKey, signature)).toBe(true)
  expect(keyOf(makeSecret('v1')).publicKey).toBeNull()
})

test('an ed25519 secret may carry its public key behind it, and only its own', () => {
  const [, base64 = ''] = ed25519Secret.split('_')
  const [, publicBase64 = ''] = keyOf(ed25519Secret).publicKey?.split('_') ?? []
  const both = Buffer.concat([Buffer.from(base64, 'base64'), Buffer.from(publicBase64, 'base64')])
  const long = `whsk_${both.toString('base64')}`
  expect(keyOf(long).sign('content')).toBe(keyOf(ed25519Secret).sign('content'))
  const other = `whsk_${Buffer.concat([both.subarray(0, 32), Buffer.alloc(32, 1)]).toString('base64')}`
  expect(readSecret(other)).toBeNull()
})

test('secrets that are made are read, and no two are the same', () => {
  for (const scheme of ['v1', 'v1a'] as const) {
    expect(keyOf(makeSecret(scheme)).scheme).toBe(scheme)
    expect(makeSecret(scheme)).not.toBe(makeSecret(scheme))
  }
})

test.each([
  '',
  'whsec_',
  'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  'whsec_MfKQ9',
  'whsec_not base64!',
  'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS',
  `whsec_${Buffer.alloc(23).toString('base64')}`,
  `whsec_${Buffer.alloc(65).toString('base64')}`,
  `whsk_${Buffer.alloc(31).toString('base64')}`,
  `whpk_${Buffer.alloc(32).toString('base64')}`,
])('refuses %j as a secret', (secret) => expect(readSecret(secret)).toBeNull())
