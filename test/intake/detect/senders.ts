import { createHash, createHmac, generateKeyPairSync, sign } from 'node:crypto'
import type { Keys } from '../../../src/intake/signature/scheme.ts'
import { publicKeySenders } from './public-key-senders.ts'
import { requestSenders } from './request-senders.ts'
import type { Sender } from './sender.ts'

export function keysOf({ secret, publicKeys }: Pick<Sender, 'secret' | 'publicKeys'>): Keys {
  return {
    secrets: secret === null ? [] : [{ text: secret, notBefore: null, notAfter: null }],
    publicKeys: publicKeys ?? null,
  }
}

const bytes = createHash('sha256').update('a secret for tests').digest()
const whsec = `whsec_${bytes.toString('base64')}`
const seconds = (at: Date) => Math.floor(at.getTime() / 1000).toString()
const millis = (at: Date) => at.getTime().toString()

function hmac(algorithm: string, key: string | Buffer, ...parts: (string | Buffer)[]) {
  const made = createHmac(algorithm, key)
  for (const part of parts) made.update(part)
  return made
}

const ed25519 = generateKeyPairSync('ed25519')
const rawEd25519 = Buffer.from(ed25519.publicKey.export({ format: 'jwk' }).x ?? '', 'base64url')

const known: readonly Sender[] = [
  {
    name: 'Standard Webhooks',
    secret: whsec,
    sign: ({ id, at, body }) => ({
      'webhook-id': id,
      'webhook-timestamp': seconds(at),
      'webhook-signature': `v1,${hmac('sha256', bytes, `${id}.${seconds(at)}.`, body).digest('base64')}`,
    }),
    settings: { scheme: 'standard-webhooks' },
  },
  {
    name: 'Standard Webhooks with a public key',
    secret: `whpk_${rawEd25519.toString('base64')}`,
    sign: ({ id, at, body }) => {
      const content = Buffer.concat([Buffer.from(`${id}.${seconds(at)}.`), body])
      return {
        'webhook-id': id,
        'webhook-timestamp': seconds(at),
        'webhook-signature': `v1a,${sign(null, content, ed25519.privateKey).toString('base64')}`,
      }
    },
    settings: { scheme: 'standard-webhooks' },
  },
  {
    name: 'Svix',
    secret: whsec,
    sign: ({ id, at, body }) => ({
      'svix-id': id,
      'svix-timestamp': seconds(at),
      'svix-signature': `v1,${hmac('sha256', bytes, `${id}.${seconds(at)}.`, body).digest('base64')}`,
    }),
    settings: { scheme: 'svix' },
  },
  {
    name: 'Standard Webhooks under headers of its own',
    secret: whsec,
    sign: ({ id, at, body }) => ({
      'x-acme-id': id,
      'x-acme-timestamp': seconds(at),
      'x-acme-signature': `v1,${hmac('sha256', bytes, `${id}.${seconds(at)}.`, body).digest('base64')}`,
    }),
    settings: { scheme: 'standard-webhooks', headers: 'x-acme' },
  },
  {
    name: 'Stripe',
    secret: whsec,
    sign: ({ at, body }) => ({
      'stripe-signature': `t=${seconds(at)},v1=${hmac('sha256', whsec, `${seconds(at)}.`, body).digest('hex')},v0=00`,
    }),
    settings: { scheme: 'stripe' },
  },
  {
    name: 'GitHub',
    secret: "It's a Secret to Everybody",
    sign: ({ body }) => ({
      'x-hub-signature-256': `sha256=${hmac('sha256', "It's a Secret to Everybody", body).digest('hex')}`,
    }),
    settings: { scheme: 'github' },
  },
]

const hmacs: readonly Sender[] = [
  {
    name: 'HMAC of the body in hexadecimal',
    secret: 'plain words',
    sign: ({ body }) => ({ 'x-signature': hmac('sha256', 'plain words', body).digest('hex') }),
    settings: { scheme: 'hmac', header: 'x-signature' },
  },
  {
    name: 'HMAC-SHA1 in base64, key in hexadecimal',
    secret: bytes.toString('hex'),
    sign: ({ body }) => ({ digest: hmac('sha1', bytes, body).digest('base64') }),
    settings: { scheme: 'hmac', header: 'digest', algorithm: 'sha1', encoding: 'base64', key: 'hex' },
  },
  {
    name: 'HMAC-SHA512 with a prefix, over id, time in milliseconds and body, key in base64',
    secret: bytes.toString('base64'),
    sign: ({ id, at, body }) => ({
      'x-acme-id': id,
      'x-acme-time': millis(at),
      'x-acme-proof': `sha512=${hmac('sha512', bytes, `${id}.${millis(at)}.`, body).digest('hex')}`,
    }),
    settings: {
      scheme: 'hmac',
      header: 'x-acme-proof',
      prefix: 'sha512=',
      algorithm: 'sha512',
      key: 'base64',
      template: '{id}.{timestamp}.{body}',
      id: { header: 'x-acme-id' },
      timestamp: { header: 'x-acme-time', unit: 'ms' },
    },
  },
  {
    name: 'HMAC-SHA384 in base64url over time in ISO 8601, line break and body, key in the whsec_ form',
    secret: whsec,
    sign: ({ at, body }) => ({
      'x-time': at.toISOString(),
      'x-mac': hmac('sha384', bytes, `${at.toISOString()}\n`, body).digest('base64url'),
    }),
    settings: {
      scheme: 'hmac',
      header: 'x-mac',
      algorithm: 'sha384',
      encoding: 'base64url',
      key: 'whsec',
      template: '{timestamp}\n{body}',
      timestamp: { header: 'x-time', unit: 'iso' },
    },
  },
  {
    name: 'Slack',
    secret: 'slack words',
    sign: ({ at, body }) => ({
      'x-slack-request-timestamp': seconds(at),
      'x-slack-signature': `v0=${hmac('sha256', 'slack words', `v0:${seconds(at)}:`, body).digest('hex')}`,
    }),
    settings: {
      scheme: 'hmac',
      header: 'x-slack-signature',
      prefix: 'v0=',
      template: 'v0:{timestamp}:{body}',
      timestamp: { header: 'x-slack-request-timestamp' },
    },
  },
  {
    name: 'time and HMAC in one header, the time behind the body',
    secret: 'plain words',
    sign: ({ at, body }) => ({
      'acme-signature': `ts=${seconds(at)};h1=${hmac('sha256', 'plain words', body, `|${seconds(at)}`).digest('hex')}`,
    }),
    settings: {
      scheme: 'hmac',
      header: 'acme-signature',
      field: 'h1',
      template: '{body}|{timestamp}',
      timestamp: { header: 'acme-signature', field: 'ts' },
    },
  },
]

const shared: readonly Sender[] = [
  {
    name: 'a bearer token',
    secret: 'token-of-ours',
    sign: () => ({ authorization: 'Bearer token-of-ours' }),
    settings: { scheme: 'shared-secret', header: 'authorization', prefix: 'Bearer ' },
  },
  {
    name: 'a shared secret in a header',
    secret: 'token-of-ours',
    sign: () => ({ 'x-webhook-token': 'token-of-ours' }),
    settings: { scheme: 'shared-secret', header: 'x-webhook-token' },
  },
]

export const senders: readonly Sender[] = [
  ...known,
  ...hmacs,
  ...requestSenders,
  ...publicKeySenders,
  ...shared,
]
