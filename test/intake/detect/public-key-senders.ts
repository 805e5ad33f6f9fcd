import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import type { Sender } from './sender.ts'

const ed25519 = generateKeyPairSync('ed25519')
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const pem = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' }).toString()
const jwks = (key: KeyObject) => JSON.stringify({ keys: [key.export({ format: 'jwk' })] })
const seconds = (at: Date) => Math.floor(at.getTime() / 1000).toString()

export const publicKeySenders: readonly Sender[] = [
  {
    name: 'ed25519 over time and body',
    secret: null,
    publicKeys: pem(ed25519.publicKey),
    sign: ({ at, body }) => ({
      'x-signature-timestamp': seconds(at),
      'x-signature-ed25519': sign(
        null,
        Buffer.concat([Buffer.from(seconds(at)), body]),
        ed25519.privateKey,
      ).toString('hex'),
    }),
    settings: {
      scheme: 'public-key',
      header: 'x-signature-ed25519',
      algorithm: 'ed25519',
      encoding: 'hex',
      template: '{timestamp}{body}',
      timestamp: { header: 'x-signature-timestamp' },
    },
  },
  {
    name: 'RSA-SHA512, the key in a JWKS',
    secret: null,
    publicKeys: jwks(rsa.publicKey),
    sign: ({ body }) => ({ 'acme-signature': sign('sha512', body, rsa.privateKey).toString('base64') }),
    settings: { scheme: 'public-key', header: 'acme-signature', algorithm: 'rsa-sha512' },
  },
  {
    name: 'RSA-PSS',
    secret: null,
    publicKeys: pem(rsa.publicKey),
    sign: ({ body }) => ({
      'acme-signature': sign('sha256', body, {
        key: rsa.privateKey,
        padding: 6,
        saltLength: 32,
      }).toString('base64'),
    }),
    settings: { scheme: 'public-key', header: 'acme-signature', algorithm: 'rsa-pss-sha256' },
  },
  {
    name: 'ECDSA in DER',
    secret: null,
    publicKeys: pem(ec.publicKey),
    sign: ({ body }) => ({ 'x-ec': sign('sha256', body, ec.privateKey).toString('base64') }),
    settings: { scheme: 'public-key', header: 'x-ec', algorithm: 'ecdsa-sha256' },
  },
  {
    name: 'ECDSA with both numbers side by side, over id and body',
    secret: null,
    publicKeys: jwks(ec.publicKey),
    sign: ({ id, body }) => ({
      'x-event': id,
      'x-ec': sign('sha256', Buffer.concat([Buffer.from(`${id}:`), body]), {
        key: ec.privateKey,
        dsaEncoding: 'ieee-p1363',
      }).toString('base64url'),
    }),
    settings: {
      scheme: 'public-key',
      header: 'x-ec',
      algorithm: 'ecdsa-sha256',
      encoding: 'base64url',
      signatureForm: 'p1363',
      template: '{id}:{body}',
      id: { header: 'x-event' },
    },
  },
]
