import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { expect, test } from 'vitest'
import { createScheme, parsePublicKeys } from '../../../src/intake/signature/create-scheme.ts'
import { schemeSettings } from '../../support/sign-webhook.ts'

const body = Buffer.from('{}')
const ed25519 = [generateKeyPairSync('ed25519'), generateKeyPairSync('ed25519')] as const
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const weak = generateKeyPairSync('rsa', { modulusLength: 1024 })
const bound = generateKeyPairSync('rsa-pss', {
  modulusLength: 2048,
  hashAlgorithm: 'sha512',
  mgf1HashAlgorithm: 'sha512',
})
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })

const pem = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' }).toString()
const jwk = (key: KeyObject, more: object = {}) => ({ ...key.export({ format: 'jwk' }), ...more })
const jwks = (...keys: object[]) => JSON.stringify({ keys })

function verifierFor(algorithm: string, text: string) {
  const settings = schemeSettings({ scheme: 'public-key', header: 'x-sig', algorithm })
  const verify = createScheme(settings, { secrets: [], publicKeys: text })
  return (signature: Buffer) =>
    verify({ headers: { 'x-sig': signature.toString('base64') }, body, receivedAt: new Date() }).kind
}

test.each([
  [
    'PEM blocks with words between them',
    `current:\n${pem(ed25519[0].publicKey)}\nnext:\n${pem(ed25519[1].publicKey)}`,
  ],
  ['a JWKS', jwks(jwk(ed25519[0].publicKey), jwk(ed25519[1].publicKey))],
  [
    'a JWKS with keys of other kinds and uses',
    jwks({ kty: 'unheard-of' }, jwk(rsa.publicKey), jwk(ed25519[0].publicKey), jwk(ed25519[1].publicKey)),
  ],
])('a signature by any key of %s is verified', (_what, text) => {
  const verify = verifierFor('ed25519', text)
  for (const { privateKey } of ed25519) expect(verify(sign(null, body, privateKey))).toBe('verified')
  expect(verify(sign(null, body, generateKeyPairSync('ed25519').privateKey))).toBe('refused')
})

test('a single JWK and a PEM of an RSA key by itself are read', () => {
  expect(parsePublicKeys(JSON.stringify(jwk(ec.publicKey)))).toHaveLength(1)
  expect(parsePublicKeys(rsa.publicKey.export({ type: 'pkcs1', format: 'pem' }).toString())).toHaveLength(1)
})

test('a key for encryption verifies nothing', () => {
  expect(() => verifierFor('rsa-sha256', jwks(jwk(rsa.publicKey, { use: 'enc' })))).toThrow(
    'holds no public key',
  )
})

test.each<[string, string, string]>([
  ['nothing', 'ed25519', ''],
  ['words', 'ed25519', 'hello'],
  ['a JSON document of another kind', 'ed25519', '{"keys":"none"}'],
  ['a PEM block that is cut', 'ed25519', pem(ed25519[0].publicKey).slice(0, 60)],
  ['a private key', 'ed25519', ed25519[0].privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()],
  ['a private key as JWK', 'ed25519', jwks(jwk(ed25519[0].privateKey))],
  ['a shared key as JWK', 'ed25519', jwks({ kty: 'oct', k: createHash('sha256').digest('base64url') })],
  ['a key for another algorithm', 'ecdsa-sha256', pem(ed25519[0].publicKey)],
  ['an RSA-PSS key that is bound to another hash', 'rsa-pss-sha256', pem(bound.publicKey)],
  ['an RSA key that is too short', 'rsa-sha256', pem(weak.publicKey)],
])('%s for a key file is a fault', (_what, algorithm, text) => {
  expect(() => verifierFor(algorithm, text)).toThrow(
    new RegExp(`webhooks.publicKeys: the file holds no public key.* for ${algorithm}`),
  )
})

test('more than sixteen keys are a fault, for each costs', () => {
  const keys = Array.from({ length: 17 }, () => jwk(generateKeyPairSync('ed25519').publicKey))
  expect(() => verifierFor('ed25519', jwks(...keys))).toThrow('more than 16 keys for ed25519')
  expect(() => verifierFor('ed25519', jwks(...keys.slice(1)))).not.toThrow()
})

test.each([
  Buffer.alloc(0),
  Buffer.alloc(1),
  Buffer.alloc(64),
  Buffer.alloc(71, 0x30),
  Buffer.alloc(4096, 0xff),
])('bytes that are no signature are refused: %o', (signature) => {
  const files = { ed25519: ed25519[0], 'rsa-sha256': rsa, 'rsa-pss-sha256': rsa, 'ecdsa-sha256': ec }
  for (const [algorithm, { publicKey }] of Object.entries(files))
    expect(verifierFor(algorithm, pem(publicKey))(signature)).toBe('refused')
})

test('the more keys there are, the fewer signatures of one delivery are tried: strangers pay for none of them', () => {
  const pairs = Array.from({ length: 10 }, () => generateKeyPairSync('ed25519'))
  const settings = schemeSettings({ scheme: 'public-key', header: 'x-sig', algorithm: 'ed25519' })
  const publicKeys = pairs.map(({ publicKey }) => pem(publicKey)).join('\n')
  const verify = createScheme(settings, { secrets: [], publicKeys })
  const right = sign(null, body, pairs[9]?.privateKey ?? '').toString('base64')
  const wrong = Buffer.alloc(64, 1).toString('base64')
  const send = (...signatures: string[]) =>
    verify({ headers: { 'x-sig': signatures.join(' ') }, body, receivedAt: new Date() }).kind
  expect(send(wrong, right)).toBe('verified')
  expect(send(wrong, wrong, right)).toBe('refused')
})
