import { afterEach, expect, test } from 'vitest'
import { Fault } from '../../src/core/errors.ts'
import {
  createLiveScheme,
  type LiveScheme,
  type LiveSchemeEvent,
  type SchemeConfig,
} from '../../src/intake/live-scheme.ts'
import { makeSecret, schemeSettings, secretsOf, signStandardWebhook } from '../support/sign-webhook.ts'
import { until } from '../support/until.ts'

const at = new Date('2026-11-20T10:00:00.000Z')
const body = Buffer.from('{}')
const [older, newer] = [makeSecret(), makeSecret()]

const signingBy = (...secrets: string[]): SchemeConfig => ({
  signing: { scheme: 'standard-webhooks', headers: 'webhook', tolerance: 300_000 },
  keys: { secrets: secretsOf(...secrets), publicKeys: null },
})

const running: LiveScheme[] = []
afterEach(() => {
  for (const scheme of running.splice(0)) scheme.stop()
})

function start({ everyMs = 3_600_000, first = signingBy(older) } = {}) {
  const events: LiveSchemeEvent[] = []
  const settings = { read: (): SchemeConfig => first }
  const scheme = createLiveScheme(first, {
    read: () => settings.read(),
    everyMs,
    now: () => at,
    report: (event) => events.push(event),
  })
  running.push(scheme)
  const verifies = (secret: string) =>
    scheme.verify({ headers: signStandardWebhook({ secret, id: 'msg_1', body, at }), body, receivedAt: at })
      .kind === 'verified'
  return { scheme, events, settings, verifies, kinds: () => events.map(({ kind }) => kind) }
}

const bad = (fault: string) => () => {
  throw new Fault('settings_bad', { faults: [fault] })
}

test('what the settings say is in force from when they are read', () => {
  const { scheme, settings, verifies, events } = start()
  expect([verifies(older), verifies(newer)]).toEqual([true, false])
  settings.read = () => signingBy(newer, older)
  expect(verifies(newer)).toBe(false)
  scheme.reload()
  expect([verifies(older), verifies(newer)]).toEqual([true, true])
  settings.read = () => signingBy(newer)
  scheme.reload()
  expect([verifies(older), verifies(newer)]).toEqual([false, true])
  settings.read = () => ({ signing: { scheme: 'none' }, keys: { secrets: [], publicKeys: null } })
  scheme.reload()
  expect([verifies(older), scheme.signing()]).toEqual([true, { scheme: 'none' }])
  expect(events).toEqual([
    { kind: 'opened', scheme: 'standard-webhooks' },
    { kind: 'changed', scheme: 'standard-webhooks' },
    { kind: 'changed', scheme: 'standard-webhooks' },
    { kind: 'changed', scheme: 'none' },
  ])
})

test('who asks is answered even where nothing changed', () => {
  const { scheme, kinds } = start()
  scheme.reload()
  expect(kinds()).toEqual(['opened', 'unchanged'])
})

test.each<[string, () => SchemeConfig]>([
  ['settings that have a fault', bad('HTTP_PORT is no port')],
  ['a secret of another form', () => signingBy('not a secret')],
  ['no secret', () => signingBy()],
  [
    'only a secret that has ended',
    () => ({
      ...signingBy(),
      keys: { secrets: [{ text: newer, notBefore: null, notAfter: at }], publicKeys: null },
    }),
  ],
  [
    'a file without a key',
    () => ({
      signing: schemeSettings({ scheme: 'public-key', algorithm: 'ed25519', header: 'x' }),
      keys: { secrets: [], publicKeys: 'hello' },
    }),
  ],
])('%s: refused, and what was in force stays', (_what, read) => {
  const { scheme, settings, verifies, events } = start()
  settings.read = read
  scheme.reload()
  expect(events.at(-1)).toMatchObject({ kind: 'refused', error: { code: 'settings_bad' } })
  expect(verifies(older)).toBe(true)
  settings.read = () => signingBy(newer)
  scheme.reload()
  expect(verifies(newer)).toBe(true)
})

test('looks for itself, and tells of a fault that stays once', async () => {
  const { settings, verifies, kinds } = start({ everyMs: 1 })
  const lookedAt = async (read: () => SchemeConfig) => {
    let looks = 0
    settings.read = () => {
      looks++
      return read()
    }
    await until('it has looked more than once', () => looks > 2 || null)
  }
  await lookedAt(bad('one'))
  await lookedAt(bad('another'))
  await lookedAt(() => signingBy(newer))
  expect(verifies(newer)).toBe(true)
  expect(kinds()).toEqual(['opened', 'refused', 'refused', 'changed'])
})

test('does not start with settings that cannot be used', () => {
  expect(() => start({ first: signingBy('x') })).toThrow('WEBHOOK_SECRETS: secret 1 must be whsec_')
  const ended = { secrets: [{ text: older, notBefore: null, notAfter: at }], publicKeys: null }
  expect(() => start({ first: { ...signingBy(), keys: ended } })).toThrow('every secret has ended')
})
