import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseSettings } from '../../src/config/settings.ts'
import type { WebhookAuthSettings } from '../../src/config/webhook-settings.ts'
import { isFault } from '../../src/core/errors.ts'
import { temporaryFolder } from '../support/folder.ts'

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const good = {
  DATABASE_URL: 'postgres://db/depositd',
  SERVICE_URL: 'https://service.example',
  SERVICE_API_KEY: 'key',
  RPC_BASE: 'https://base.example',
  DEPOSITD_CONFIG: '/etc/depositd/settings.yaml',
}

type Changes = Record<string, string | undefined>

/** Of other files every text is its own path. */
function parse(section: string, changes: Changes = { WEBHOOK_SECRETS: secret }): WebhookAuthSettings {
  const readText = (path: string) => {
    if (path.endsWith('settings.yaml')) return section === '' ? '' : `webhooks: ${section}`
    if (path.endsWith('missing.pem')) throw new Error('ENOENT: no such file')
    return path
  }
  return parseSettings({ ...good, ...changes }, readText).services[0].webhooks
}

function faultsOf(section: string, changes?: Changes): readonly string[] {
  try {
    parse(section, changes)
    return []
  } catch (error) {
    if (!isFault(error, 'settings_bad')) throw error
    expect(error.message).not.toContain('MfKQ')
    return error.details.faults.map((fault) => fault.replace(/^DEPOSITD_CONFIG, (line \d+, )?/, ''))
  }
}

const tolerance = 300_000

test.each<[string, object]>([
  ['', { scheme: 'standard-webhooks', headers: 'webhook', tolerance }],
  ['{ tolerance: 10m }', { scheme: 'standard-webhooks', headers: 'webhook', tolerance: 600_000 }],
  ['{ scheme: svix }', { scheme: 'svix', headers: 'svix', tolerance }],
  ['{ scheme: stripe }', { scheme: 'stripe', header: 'stripe-signature', tolerance }],
  ['{ scheme: github }', { scheme: 'github', header: 'x-hub-signature-256' }],
  [
    '{ scheme: square, publicUrl: https://a.example/b/ }',
    { scheme: 'square', publicUrl: 'https://a.example/b' },
  ],
  [
    '{ scheme: hubspot, publicUrl: http://a.example }',
    { scheme: 'hubspot', publicUrl: 'http://a.example', tolerance },
  ],
  ['{ scheme: shared-secret, header: X-Token }', { scheme: 'shared-secret', header: 'x-token', prefix: '' }],
  [
    '{ scheme: hmac, header: X-Signature }',
    {
      scheme: 'hmac',
      header: 'x-signature',
      prefix: '',
      algorithm: 'sha256',
      encoding: 'hex',
      key: 'utf8',
      template: '{body}',
      tolerance,
    },
  ],
])('the section %j has its defaults', (section, signing) => {
  expect(parse(section).signing).toEqual(signing)
})

const hmac = (rest: string) => `{ scheme: hmac, header: x-signature, ${rest} }`

test.each<[string, string[]]>([
  [
    '{ scheme: hmca }',
    [
      'webhooks.scheme: must be one of standard-webhooks, svix, stripe, github, square, hubspot, hmac, public-key, shared-secret, capture, none',
    ],
  ],
  ['{ scheme: github, tolerance: 1m }', ['webhooks: unknown key tolerance']],
  ['{ scheme: none, header: x }', ['webhooks: unknown key header']],
  ['{ scheme: hmac }', ['webhooks.header: is missing']],
  ['{ scheme: hmac, header: "x y" }', ['webhooks.header: must be the name of a header']],
  [
    hmac("template: '{id}{id}'"),
    [
      'webhooks.template: must contain {body} once',
      'webhooks.template: must contain {id} at most once',
      'webhooks.id: is missing, though the template contains it',
    ],
  ],
  [
    hmac("template: '{body}{query}'"),
    ['webhooks.template: must contain {id}, {timestamp}, {method}, {url}, {path}, {body} only, not {query}'],
  ],
  [hmac("template: '{path}{path}{body}'"), ['webhooks.template: must contain {path} at most once']],
  [
    hmac("template: '{path}{id}{body}', id: { header: x-id }"),
    ['webhooks.template: needs a separator beside {id}'],
  ],
  [
    hmac("template: '{id}{url}{body}', id: { header: x-id }, publicUrl: https://a.example"),
    ['webhooks.template: needs a separator beside {id}'],
  ],
  [hmac('publicUrl: https://a.example'), ['webhooks.publicUrl: is not signed: add {url} to the template']],
  ...['a.example', 'ftp://a.example', 'https://u@a.example', 'https://a.example/?', 'https://a.example#'].map(
    (address): [string, string[]] => [
      `{ scheme: square, publicUrl: "${address}" }`,
      [
        'webhooks.publicUrl: must be an address like https://deposits.example, without a login, a query or a section',
      ],
    ],
  ),
  ['{ scheme: github, publicUrl: https://a.example }', ['webhooks: unknown key publicUrl']],
  [
    '{ scheme: square }',
    [
      'webhooks.publicUrl is missing, and square signs the URL: set it, or PUBLIC_URL, to the address at which the sender reaches depositd, like https://deposits.example, without the path /webhooks/transfers',
    ],
  ],
  [
    hmac("template: '{url}{body}'"),
    [
      expect.stringContaining(
        'webhooks.publicUrl is missing, and the template contains {url}: set it',
      ) as string,
    ],
  ],
  [hmac('id: { header: x-id }'), ['webhooks.id: is not signed: add {id} to the template']],
  [
    hmac('timestamp: { header: x-time }'),
    ['webhooks.timestamp: is not signed: add {timestamp} to the template'],
  ],
  ['{ scheme: public-key, header: x, algorithm: ed25519 }', ['webhooks.publicKeys: is missing']],
  ['[hmac]', ['webhooks: must be keys with values']],
])('the section %s is a fault with its place', (section, faults) => {
  expect(faultsOf(section)).toEqual(faults)
})

test('the environment names the scheme where the file does not', () => {
  const named = { WEBHOOK_SECRETS: secret, WEBHOOK_SCHEME: 'stripe' }
  expect(parse('{ tolerance: 1m }', named).signing).toMatchObject({ scheme: 'stripe', tolerance: 60_000 })
  expect(parse('{ scheme: stripe }', named).signing.scheme).toBe('stripe')
  expect(faultsOf('{ scheme: github }', named)).toEqual([
    'WEBHOOK_SCHEME is stripe, and webhooks.scheme github; keep one'.replace(
      'and ',
      'and DEPOSITD_CONFIG says ',
    ),
  ])
  expect(faultsOf('', { ...named, WEBHOOK_SCHEME: 'hmac' })).toEqual(['webhooks.header: is missing'])
})

test('the public URL is that of the section, else PUBLIC_URL, and it is read only if the URL is signed', () => {
  const environment = { WEBHOOK_SECRETS: secret, PUBLIC_URL: 'https://b.example/' }
  const urlOf = (section: string) => parse(section, environment).signing
  expect(urlOf('{ scheme: square }')).toEqual({ scheme: 'square', publicUrl: 'https://b.example' })
  expect(urlOf('{ scheme: hubspot, publicUrl: https://a.example }')).toMatchObject({
    publicUrl: 'https://a.example',
  })
  expect(urlOf(hmac("template: '{url}{body}'"))).toMatchObject({ publicUrl: 'https://b.example' })
  expect(urlOf(hmac("template: '{method}{path}{body}'"))).not.toHaveProperty('publicUrl')
  expect(faultsOf('{ scheme: square }', { ...environment, PUBLIC_URL: 'b.example' })).toEqual([
    'PUBLIC_URL must be an address that begins with http:// or https://',
  ])
})

test('a scheme without secrets takes none, and the others do not do without', () => {
  expect(parse('{ scheme: none }', {}).keys).toMatchObject({ secrets: [], publicKeys: null })
  expect(faultsOf('{ scheme: none }')).toEqual([
    'WEBHOOK_SECRETS is set, and webhooks.scheme none uses none; unset it or choose another scheme',
  ])
  for (const scheme of ['standard-webhooks', 'svix', 'stripe', 'github'])
    expect(faultsOf(`{ scheme: ${scheme} }`, {})).toEqual(['WEBHOOK_SECRETS is missing'])
})

const keysIn = (path: string) => `{ scheme: public-key, header: x, algorithm: ed25519, publicKeys: ${path} }`

test('the file of public keys is found beside the settings file', () => {
  expect(parse(keysIn('./keys.pem'), {}).keys.publicKeys).toBe('/etc/depositd/keys.pem')
  expect(parse(keysIn('/run/keys.pem'), {}).keys.publicKeys).toBe('/run/keys.pem')
  expect(faultsOf(keysIn('missing.pem'), {})).toEqual([
    'webhooks.publicKeys cannot be read: ENOENT: no such file',
  ])
})

const secretsOf = (text: string) => parse('{ scheme: github }', { WEBHOOK_SECRETS: text }).keys.secrets
const time = '2026-12-01T00:00:00Z'

test('secrets are separated by commas or lines, and each may say when it counts', () => {
  const text = `one, It's two not-after=${time}\n\nthree not-before=2026-12-01T01:00+01:00  not-after=2026-12-02T00:00:00.5Z\n`
  expect(secretsOf(text)).toEqual([
    { text: 'one', notBefore: null, notAfter: null },
    { text: "It's two", notBefore: null, notAfter: new Date(time) },
    { text: 'three', notBefore: new Date(time), notAfter: new Date('2026-12-02T00:00:00.5Z') },
  ])
})

test('secrets are read from a file, one per line', async () => {
  const file = join(await temporaryFolder(), 'secrets')
  writeFileSync(file, `one not-after=${time}\ntwo\n`)
  const { secrets } = parse('{ scheme: github }', { WEBHOOK_SECRETS_FILE: file }).keys
  expect(secrets.map(({ text }) => text)).toEqual(['one', 'two'])
})

test.each<[string, string]>([
  [`${secret} not-after=tomorrow`, 'secret 1 needs a time like 2026-12-01T00:00:00Z as its bound'],
  [`${secret} not-after=2026-12-01`, 'secret 1 needs a time like 2026-12-01T00:00:00Z as its bound'],
  [
    `${secret} not-after=2026-13-01T00:00:00Z`,
    'secret 1 needs a time like 2026-12-01T00:00:00Z as its bound',
  ],
  [`${secret} not-after=2026-12-01T00:00:00`, 'secret 1 needs a time like 2026-12-01T00:00:00Z as its bound'],
  [`${secret} not-after=`, 'secret 1 needs a time like 2026-12-01T00:00:00Z as its bound'],
  [`a,${secret} not-befor=${time}`, 'secret 2 must be the secret, then not-before=TIME'],
  [`${secret} notbefore=${time}`, 'secret 1 must be the secret, then not-before=TIME'],
  [`${secret} not-after=${time} ${secret}`, 'secret 1 must be the secret, then not-before=TIME'],
  [`${secret} not-after=${time} not-after=${time}`, 'secret 1 must be the secret, then not-before=TIME'],
  [`${secret} not-before=${time} not-after=${time}`, 'secret 1 ends before it begins'],
  [`${secret},`, 'has an empty entry'],
  [`${secret}\n,${secret}`, 'has an empty entry'],
])('the secrets %j are a fault that does not tell them', (text, fault) => {
  expect(faultsOf('', { WEBHOOK_SECRETS: text })).toEqual([expect.stringContaining(fault)])
})
