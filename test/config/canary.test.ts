import { expect, test } from 'vitest'
import { parseSettings } from '../../src/config/settings.ts'
import { isFault } from '../../src/core/errors.ts'
import { environment } from '../support/settings-text.ts'

const files: Record<string, string> = { '/keys/keys.pem': 'PEM' }

function parse(text: string, more: Record<string, string> = {}) {
  return parseSettings({ ...environment, ...more, DEPOSITD_CONFIG: '/keys/settings.yaml' }, (path) => {
    const found = path === '/keys/settings.yaml' ? text : files[path]
    if (found === undefined) throw new Error(`no such file: ${path}`)
    return found
  })
}

function faultsOf(text: string, more: Record<string, string> = {}): string {
  try {
    parse(text, more)
    return ''
  } catch (error) {
    if (!isFault(error, 'settings_bad')) throw error
    return error.details.faults.join('\n')
  }
}

test('no canary is sent by default', () => {
  expect(parse('').canary).toBeNull()
})

test('a canary is sent every minute, with a timeout of 10 s', () => {
  expect(parse('canary: { url: "https://pay.example/hooks" }').canary).toEqual({
    service: 'default',
    url: 'https://pay.example/hooks',
    everyMs: 60_000,
    timeoutMs: 10_000,
  })
})

/** A section of the service acme. */
const acme = (scheme: string) =>
  `services: { acme: { url: 'https://acme.example', profile: ./acme.yaml, auth: { header: Authorization, secret: SERVICE_API_ACME_KEY }, webhooks: { scheme: ${scheme} } } }`

test('a canary may be of another service, whose scheme counts', () => {
  const canary = 'canary: { service: acme, url: "https://pay.example/webhooks/acme/transfers" }'
  const more = { SERVICE_API_ACME_KEY: 'key of acme', WEBHOOK_SECRETS_ACME: 'secret of acme' }
  const { canary: read } = parse(`${acme('github')}\n${canary}`, more)
  expect(read).toMatchObject({ service: 'acme' })
  const open = { SERVICE_API_ACME_KEY: 'key of acme' }
  const keyed = acme('public-key, header: x-signature, algorithm: ed25519, publicKeys: keys.pem')
  expect(faultsOf(`${keyed}\n${canary}`, open)).toContain('depositd cannot sign')
  expect(faultsOf('canary: { service: acne, url: "https://pay.example" }')).toContain(
    'canary.service: knows no service acne; use default',
  )
})

test.each([
  ['http://pay.example/hooks', true],
  ['http://127.0.0.1.pay.example/hooks', true],
  ['https://pay.example/hooks', false],
  ['http://127.0.0.1:8080/hooks', false],
  ['http://[::1]:8080/hooks', false],
  ['http://localhost/hooks', false],
])('a scheme that sends its secret, to %s: refused is %j', (url, isRefused) => {
  const text = (scheme: string) => `${scheme}\ncanary: { url: "${url}" }`
  const shown = faultsOf(text('webhooks: { scheme: shared-secret, header: x-token }'))
  expect(shown.includes('the scheme shared-secret sends the secret itself')).toBe(isRefused)
  expect(faultsOf(text('webhooks: { scheme: standard-webhooks }'))).toBe('')
})

test.each([
  ['{}', 'canary.url'],
  ['{ url: "ftp://pay.example" }', 'must be an address of the form http:// or https://'],
  ['{ url: "https://me:word@pay.example" }', 'must not contain a user or a password'],
  ['{ url: "https://pay.example", every: 1s }', 'must be at least 5s'],
  ['{ url: "https://pay.example", timeout: 31s }', 'must be at most 30s'],
])('%s is refused', (canary, fault) => {
  expect(faultsOf(`canary: ${canary}`)).toContain(fault)
})

test('a scheme by which only the sender can sign allows no canary', () => {
  const scheme = 'webhooks: { scheme: public-key, header: x-sig, algorithm: ed25519, publicKeys: keys.pem }'
  expect(faultsOf(`${scheme}\ncanary: { url: "https://pay.example" }`)).toContain(
    'canary: only the sender holds the private key',
  )
})
