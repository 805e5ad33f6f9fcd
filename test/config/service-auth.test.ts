import { generateKeyPairSync } from 'node:crypto'
import { expect, test } from 'vitest'
import { secretsOf } from '../../src/config/secrets-of.ts'
import { parseSettings, type Settings } from '../../src/config/settings.ts'
import { isFault } from '../../src/core/errors.ts'

type Changes = Record<string, string | undefined>

const good = {
  DATABASE_URL: 'postgres://db/depositd',
  SERVICE_URL: 'https://service.example',
  WEBHOOK_SECRETS: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  RPC_BASE: 'https://base.example',
  DEPOSITD_CONFIG: '/etc/depositd/settings.yaml',
}
const key = { SERVICE_API_KEY: 'hunter2-key' }

function parse(auth: string, changes: Changes = key): Settings {
  return parseSettings({ ...good, ...changes }, () => (auth === '' ? '' : `service: { auth: ${auth} }`))
}

function faultsOf(auth: string, changes?: Changes): readonly string[] {
  try {
    parse(auth, changes)
    return []
  } catch (error) {
    if (!isFault(error, 'settings_bad')) throw error
    expect(error.message).not.toContain('hunter2')
    return error.details.faults.map((fault) => fault.replace(/^DEPOSITD_CONFIG, (line \d+, )?/, ''))
  }
}

test.each(['', '{}', '{ scheme: header }'])('the section %j sends the key as X-API-KEY', (section) => {
  expect(parse(section).services[0].auth).toEqual({
    headers: { 'X-API-KEY': 'hunter2-key' },
    proof: { kind: 'fixed' },
    secrets: [{ name: 'SERVICE_API_KEY', text: 'hunter2-key' }],
    credential: 'SERVICE_API_KEY',
  })
})

const both = { ...key, SERVICE_API_SECRET: 'hunter2-secret' }

test('a signature is by SHA-256 in hexadecimal over a time in seconds, if the file says no more', () => {
  const { auth } = parse("{ scheme: hmac, header: X-Sign, template: '{body}' }", {
    SERVICE_API_SECRET: 'hunter2-secret',
  }).services[0]
  expect(auth).toEqual({
    headers: {},
    proof: {
      kind: 'signature',
      template: [{ kind: 'value', name: 'body' }],
      algorithm: 'sha256',
      encoding: 'hex',
      header: 'X-Sign',
      value: '{signature}',
      timestamp: { unit: 's', ahead: 0 },
      nonce: { form: 'uuid' },
      key: Buffer.from('hunter2-secret'),
      apiKey: '',
    },
    secrets: [{ name: 'SERVICE_API_SECRET', text: 'hunter2-secret' }],
    credential: 'SERVICE_API_SECRET',
  })
})

test('a token file is found beside the settings file', () => {
  const { proof } = parse('{ scheme: token-file, path: ./token }', {}).services[0].auth
  expect(proof).toMatchObject({ path: '/etc/depositd/token', header: 'Authorization', prefix: 'Bearer ' })
})

const hmac = (rest: string, template = '{body}') =>
  `{ scheme: hmac, header: X-Sign, template: '${template}', ${rest} }`

test.each<[string, string[]]>([
  ['[bearer]', ['service.auth: must be keys with values']],
  [
    '{ scheme: bearer }',
    ['service.auth.scheme: must be one of header, basic, token-file, hmac, ed25519, none'],
  ],
  ['{ user: me }', ['service.auth: unknown key user']],
  [
    '{ header: "X Key", secret: hunter2 }',
    [
      'service.auth.header: must be the name of a header',
      'service.auth.secret: must be the name of a setting of the environment that begins with SERVICE_API_ and holds the secret',
    ],
  ],
  [
    '{ secret: DATABASE_URL }',
    [expect.stringMatching(/^service\.auth\.secret: .* begins with SERVICE_API_/) as string],
  ],
  [
    '{ secret: SERVICE_API_KEY_FILE }',
    [expect.stringMatching(/^service\.auth\.secret: .* begins with SERVICE_API_/) as string],
  ],
  [
    '{ header: Authorization, prefix: Bearer }',
    ["service.auth.prefix: must end with a blank, in quotes: 'Bearer '"],
  ],
  ['{ header: Host }', ['service.auth.header: must not be Host, which depositd sets itself']],
  [
    '{ headers: { "X Y": a, accept: b, X-Api-Key: { secret: SERVICE_API_TWO }, X-Auth-Token: hunter2, X-Way: "ä", X-List: [1] } }',
    [
      'service.auth.headers.X-Way: must be printable ASCII',
      'service.auth.headers.X-List: must be text, or a secret by the name of its setting, like { secret: SERVICE_API_TOKEN }',
    ],
  ],
  [
    '{ headers: { "X Y": a, accept: b, X-Api-Key: { secret: SERVICE_API_TWO }, X-Auth-Token: hunter2 } }',
    [
      'service.auth.headers.X Y: must be the name of a header',
      'service.auth.headers.X-Auth-Token: holds a secret: set it in the environment, and its name here, { secret: SERVICE_API_… }',
      'service.auth.headers.accept: must not be accept, which depositd sets itself',
      'service.auth.headers.X-Api-Key: X-Api-Key is set twice; keep one',
    ],
  ],
  ['{ scheme: basic }', ['service.auth.user: is missing']],
  ['{ scheme: basic, user: "a:b" }', ['service.auth.user: must be a user without a colon']],
  [
    '{ scheme: basic, user: me, headers: { authorization: { secret: SERVICE_API_TWO } } }',
    ['service.auth.headers.authorization: authorization is set twice; keep one'],
  ],
  ['{ scheme: token-file }', ['service.auth.path: is missing']],
  ['{ scheme: hmac }', ['service.auth.template: is missing', 'service.auth.header: is missing']],
  [
    hmac('algorithm: md5, encoding: base32, secretEncoding: utf8, timestamp: { unit: m }'),
    [
      'service.auth.algorithm: must be one of sha256, sha384, sha512',
      'service.auth.encoding: must be one of hex, base64',
      'service.auth.secretEncoding: must be one of text, hex, base64',
      'service.auth.timestamp.unit: must be one of s, ms, iso',
    ],
  ],
  [
    hmac('value: "{sig}"', '{body}{url}'),
    [
      'service.auth.template: must contain no braces except {method}, {path}, {pathname}, {query}, {body}, {timestamp}, {nonce}, {apiKey}, and digests like {sha256-hex:{body}}',
      'service.auth.value: must contain no braces except {signature}, {apiKey}, {timestamp}, {nonce}',
      'service.auth.value: must contain {signature}',
    ],
  ],
  [
    hmac('apiKey: { header: X-Key }', '{sha256:{timestamp}{sha256:{body}}}'),
    [
      expect.stringMatching(/^service\.auth\.template: must contain no braces/) as string,
      'service.auth.timestamp.header: is missing: the template signs {timestamp}, so it has to be sent',
    ],
  ],
  [
    hmac('timestamp: { header: x-sign }', '{nonce}'),
    [
      'service.auth.timestamp.header: x-sign is set twice; keep one',
      'service.auth.nonce.header: is missing: the template signs {nonce}, so it has to be sent',
    ],
  ],
])('the section %s is a fault with its place', (section, faults) => {
  expect(faultsOf(section)).toEqual(faults)
})

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey

test.each([
  ['text', 'hunter2', 'in PEM'],
  ['text', rsa.export({ format: 'pem', type: 'pkcs8' }).toString(), 'in PEM'],
  ['hex', 'c0ffee', 'of 32 bytes, or in PKCS #8'],
])('a private key as %s that is none of Ed25519 is refused', (encoding, secret, form) => {
  const section = `{ scheme: ed25519, header: X-Sign, template: '{body}', secretEncoding: ${encoding} }`
  expect(faultsOf(section, { SERVICE_API_SECRET: secret })).toEqual([
    `SERVICE_API_SECRET must be an Ed25519 private key ${form}`,
  ])
})

test('secrets that are missing, unusable or unused are named at once, and never shown', () => {
  const section = hmac(
    'secretEncoding: base64, apiKey: { header: X-Key }, headers: { X-Pass: { secret: SERVICE_API_PASS }, X-Id: { secret: SERVICE_API_ID } }',
  )
  const environment = {
    SERVICE_API_SECRET: 'hunter2',
    SERVICE_API_ID: 'hunter2\nhunter2',
    SERVICE_API_OLD_FILE: '/run/old',
  }
  expect(faultsOf(section, environment)).toEqual([
    'SERVICE_API_PASS is missing, and service.auth.headers.X-Pass needs it: set it, or SERVICE_API_PASS_FILE to a file with the secret, or SECRETS_DIR to a folder with a file SERVICE_API_PASS',
    'SERVICE_API_ID must be one line of printable ASCII, since service.auth sends it in a header',
    'SERVICE_API_SECRET must be base64, as service.auth.secretEncoding says',
    'SERVICE_API_KEY is missing',
    'SERVICE_API_OLD_FILE is unknown: no section auth of a service in DEPOSITD_CONFIG uses it; unset it, or name it there as a secret',
  ])
})

test.each<[string, string, boolean]>([
  ['hex', 'c0FFee', true],
  ['hex', 'c0ffe', false],
  ['hex', 'c0ffeg', false],
  ['base64', 'aGk=', true],
  ['base64', 'aGk', false],
  ['base64', 'aG-_', false],
])('in %s, the secret %s is accepted: %s', (encoding, text, isAccepted) => {
  const faults = faultsOf(hmac(`secretEncoding: ${encoding}`), { SERVICE_API_SECRET: text })
  expect(faults).toHaveLength(isAccepted ? 0 : 1)
})

test('a key that the scheme does not use must not be set', () => {
  const problem =
    'SERVICE_API_KEY is unknown: no section auth of a service in DEPOSITD_CONFIG uses it; unset it, or name it there as a secret'
  for (const section of ['{ scheme: none }', '{ scheme: token-file, path: t }'])
    expect([faultsOf(section, {}), faultsOf(section)]).toEqual([[], [problem]])
  expect(faultsOf(hmac(''), both)).toEqual([problem])
  expect(faultsOf(hmac('', '{apiKey}'), both)).toEqual([])
  expect(faultsOf(hmac("value: '{apiKey} {signature}'"), both)).toEqual([])
})

test('the log hides every secret, also as it is sent', () => {
  const headers = 'headers: { X-Pass: { secret: SERVICE_API_PASS } }'
  const basic = parse(`{ scheme: basic, user: me, ${headers} }`, { ...key, SERVICE_API_PASS: 'hunter2-pass' })
  expect(secretsOf(basic)).toEqual(
    expect.arrayContaining(['hunter2-key', 'hunter2-pass', Buffer.from('me:hunter2-key').toString('base64')]),
  )
  expect(secretsOf(parse(hmac('apiKey: { header: X-Key }'), both))).toEqual(
    expect.arrayContaining(['hunter2-key', 'hunter2-secret']),
  )
})
