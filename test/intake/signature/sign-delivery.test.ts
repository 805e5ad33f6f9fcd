import { describe, expect, test } from 'vitest'
import { createScheme } from '../../../src/intake/signature/create-scheme.ts'
import { signDelivery } from '../../../src/intake/signature/sign-delivery.ts'
import { makeSecret, schemeSettings, secretsOf } from '../../support/sign-webhook.ts'
import { line, publicUrl } from '../detect/sender.ts'
import { keysOf, senders } from '../detect/senders.ts'

const at = new Date('2026-11-20T10:00:00.000Z')
const unsigned = {
  id: 'canary0a1b',
  at,
  body: Buffer.from('{"type":"depositd.canary","price":"$& $1"}'),
  url: publicUrl + line.path,
}

/** Those whose secret both sides have. */
const symmetric = senders.filter(({ secret }) => secret !== null && !secret.startsWith('whpk_'))
const asymmetric = senders.filter(({ secret }) => secret === null || secret.startsWith('whpk_'))

test('there are schemes of both kinds', () => {
  expect(symmetric.length).toBeGreaterThan(8)
  expect(asymmetric.length).toBeGreaterThan(2)
})

describe.each(symmetric)('$name', (sender) => {
  const settings = schemeSettings(sender.settings)
  const { secrets } = keysOf(sender)

  test('what is signed by its secret is verified, and signed as its sender signs', () => {
    const headers = signDelivery({ settings, secrets }, unsigned)
    const verify = createScheme(settings, keysOf(sender))
    expect(verify({ headers: headers ?? {}, body: unsigned.body, receivedAt: at, ...line }).kind).toBe(
      'verified',
    )
    expect(verify({ headers: {}, body: unsigned.body, receivedAt: at }).kind).toBe('refused')
  })

  test('the first secret that counts then signs', () => {
    const [right] = secrets
    const ended = { text: 'ended', notBefore: null, notAfter: at }
    const later = { text: 'later', notBefore: new Date(at.getTime() + 1), notAfter: null }
    const whole = right === undefined ? [] : [ended, later, right]
    expect(signDelivery({ settings, secrets: whole }, unsigned)).toEqual(
      signDelivery({ settings, secrets }, unsigned),
    )
    expect(signDelivery({ settings, secrets: [ended, later] }, unsigned)).toBeNull()
  })
})

test.each(asymmetric)('$name: what verifies cannot sign', (sender) => {
  const settings = schemeSettings(sender.settings)
  expect(signDelivery({ settings, secrets: keysOf(sender).secrets }, unsigned)).toBeNull()
})

test('a secret beside a public key of Standard Webhooks signs', () => {
  const settings = schemeSettings({ scheme: 'standard-webhooks' })
  const secret = makeSecret()
  const headers = signDelivery({ settings, secrets: secretsOf(`whpk_${'A'.repeat(43)}=`, secret) }, unsigned)
  const verify = createScheme(settings, { secrets: secretsOf(secret), publicKeys: null })
  expect(verify({ headers: headers ?? {}, body: unsigned.body, receivedAt: at })).toEqual({
    kind: 'verified',
    id: unsigned.id,
  })
})

test('behind a public URL with a path the sender signs that path, and depositd receives the rest', () => {
  const settings = schemeSettings({ scheme: 'square', publicUrl: 'https://pay.example/deposits' })
  const secrets = secretsOf('a secret')
  const verify = createScheme(settings, { secrets, publicKeys: null })
  const kindAt = (url: string) => {
    const headers = signDelivery({ settings, secrets }, { ...unsigned, url }) ?? {}
    return verify({ headers, body: unsigned.body, receivedAt: at, method: 'POST', path: '/hooks?a=1' }).kind
  }
  expect(kindAt('https://pay.example/deposits/hooks?a=1')).toBe('verified')
  expect(kindAt('https://10.0.0.1:8080/hooks?a=1')).toBe('verified')
  expect(kindAt('https://pay.example/depositss/hooks?a=1')).toBe('refused')
})

test('where nothing is asked of senders nothing is signed', () => {
  expect(signDelivery({ settings: { scheme: 'none' }, secrets: [] }, unsigned)).toEqual({})
})
