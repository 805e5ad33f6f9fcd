import { expect, test } from 'vitest'
import { secretsOf } from '../../src/config/secrets-of.ts'
import { parseSettings, type Settings } from '../../src/config/settings.ts'
import { isFault } from '../../src/core/errors.ts'

type Changes = Record<string, string | undefined>

const good = {
  DATABASE_URL: 'postgres://db/depositd',
  SERVICE_URL: 'https://service.example',
  SERVICE_API_KEY: 'key-of-default',
  WEBHOOK_SECRETS: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  SERVICE_API_ACME_KEY: 'key-of-acme',
  WEBHOOK_SECRETS_ACME: 'hunter2-of-acme',
  RPC_BASE: 'https://base.example',
  DEPOSITD_CONFIG: '/etc/depositd/settings.yaml',
}
const acme = `services:
  acme:
    url: https://acme.example
    profile: ./acme.yaml
    auth: { header: Authorization, prefix: 'Bearer ', secret: SERVICE_API_ACME_KEY }
    webhooks: { scheme: github }
    senders: { base: ['0x00000000000000000000000000000000000000aa'] }
service:
  senders: { base: ['0x00000000000000000000000000000000000000bb'] }`

const parse = (changes: Changes = {}, file = acme): Settings =>
  parseSettings(
    Object.fromEntries(Object.entries({ ...good, ...changes }).filter(([, text]) => text !== undefined)),
    () => file,
  )

function faultsOf(changes: Changes, file = acme): readonly string[] {
  try {
    parse(changes, file)
    return []
  } catch (error) {
    if (!isFault(error, 'settings_bad')) throw error
    expect(error.message).not.toContain('hunter2')
    return error.details.faults.map((fault) => fault.replace(/^DEPOSITD_CONFIG, (line \d+, )?/, ''))
  }
}

test('a service of the file stands beside the default one, with its own key, secret and profile', () => {
  const settings = parse()
  expect(settings.services).toMatchObject([
    { name: 'default', url: 'https://service.example', auth: { headers: { 'X-API-KEY': 'key-of-default' } } },
    {
      name: 'acme',
      url: 'https://acme.example',
      profilePath: '/etc/depositd/acme.yaml',
      timeoutMs: 15_000,
      auth: { headers: { Authorization: 'Bearer key-of-acme' } },
      webhooks: { signing: { scheme: 'github' }, keys: { secrets: [{ text: 'hunter2-of-acme' }] } },
    },
  ])
  expect([...settings.senders].toSorted()).toEqual(
    ['aa', 'bb'].map((end) => `base/0x00000000000000000000000000000000000000${end}`),
  )
  expect([...settings.checkedOutflows].toSorted()).toEqual(['acme/base', 'default/base'])
  expect(secretsOf(settings)).toEqual(expect.arrayContaining(['key-of-acme', 'hunter2-of-acme']))
})

const shown = (section: string) => `services: { acme: { url: 'https://acme.example', ${section} } }`
const ownKey = 'auth: { secret: SERVICE_API_ACME_KEY }'

test.each<[string, string, Changes, string[]]>([
  [
    'the key of the default service',
    shown(''),
    { SERVICE_API_ACME_KEY: undefined },
    [
      'services.acme.auth.secret is SERVICE_API_KEY, a secret of the default service: name another one, like SERVICE_API_ACME_KEY',
    ],
  ],
  [
    'no secret of its webhooks',
    shown(ownKey),
    { WEBHOOK_SECRETS_ACME: undefined },
    ['WEBHOOK_SECRETS_ACME is missing'],
  ],
  [
    'an empty secret of its webhooks',
    shown(ownKey),
    { WEBHOOK_SECRETS_ACME: 'whsec_a,,whsec_b' },
    ['WEBHOOK_SECRETS_ACME has an empty entry'],
  ],
  [
    'a secret that its scheme does not use',
    shown(`${ownKey}, webhooks: { scheme: none }`),
    {},
    [
      'WEBHOOK_SECRETS_ACME is set, and services.acme.webhooks.scheme none uses none; unset it or choose another scheme',
    ],
  ],
  [
    'no public URL for a signed one',
    shown(`${ownKey}, webhooks: { scheme: square }`),
    {},
    [
      expect.stringMatching(
        /^services\.acme\.webhooks\.publicUrl is missing, and square signs the URL/,
      ) as string,
    ],
  ],
  [
    'a sender on no network',
    shown(`${ownKey}, senders: { moon: ['x'] }`),
    {},
    ['services.acme.senders.moon: must be a network of the settings'],
  ],
  [
    'another address than HTTP',
    `services: { acme: { url: 'ftp://acme.example', ${ownKey} } }`,
    {},
    ['services.acme.url: must be an address of the form http:// or https://'],
  ],
  [
    'the name of the default service',
    `services: { default: { url: 'https://acme.example', ${ownKey} } }`,
    {},
    ['services.default: is the name of the service that SERVICE_URL names'],
  ],
  [
    'a name that is a path',
    `services: { a/b: { url: 'https://acme.example', ${ownKey} } }`,
    {},
    ['services.a/b: must be a name of lower-case letters, digits and hyphens'],
  ],
])('a service with %s is refused', (...[, file, changes, faults]) => {
  expect(faultsOf(changes, file)).toEqual(faults)
})
