import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createScheme } from '../../../src/intake/signature/create-scheme.ts'
import type { Keys, WebhookDelivery } from '../../../src/intake/signature/scheme.ts'
import { makeSecret, schemeSettings, secretsOf } from '../../support/sign-webhook.ts'
import { requestSenders } from '../detect/request-senders.ts'
import { line, publicUrl, type Sender } from '../detect/sender.ts'
import { keysOf, senders } from '../detect/senders.ts'

const at = new Date('2026-11-20T10:00:00.000Z')
const id = 'evt_1'
const body = Buffer.from('{"type":"deposit.settled","amount":"12500000"}')
const tolerance = 300_000

/** A HMAC's secret of the same form, that the sender does not sign with. */
function otherSecret(secret: string): string {
  if (secret.startsWith('whsec_')) return makeSecret()
  if (secret.startsWith('whpk_')) {
    const { publicKey } = generateKeyPairSync('ed25519')
    return `whpk_${Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url').toString('base64')}`
  }
  // Swapping two characters keeps hexadecimal and base64 what they are.
  return secret.replace(/^(.)(.)/, (_, first: string, second: string) =>
    first === second ? 'ab' : second + first,
  )
}

const pairs: Record<string, () => { publicKey: ReturnType<typeof generateKeyPairSync>['publicKey'] }> = {
  ed25519: () => generateKeyPairSync('ed25519'),
  rsa: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ecdsa: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
}

function otherKeys(sender: Sender): Keys {
  const kind = String(sender.settings.algorithm).split('-')[0] ?? ''
  const other = sender.publicKeys === undefined ? null : pairs[kind]?.().publicKey
  return {
    secrets: sender.secret === null ? [] : secretsOf(otherSecret(sender.secret)),
    publicKeys: other?.export({ type: 'spki', format: 'pem' }).toString() ?? null,
  }
}

describe.each(senders)('$name', (sender) => {
  const settings = schemeSettings(sender.settings)
  const verify = createScheme(settings, keysOf(sender))
  const headers = sender.sign({ id, at, body })
  const whole: WebhookDelivery = { headers, body, receivedAt: at, ...line }
  const signsBody = settings.scheme !== 'shared-secret'
  const signsTime =
    JSON.stringify(settings).includes('timestamp') ||
    'headers' in settings ||
    ['stripe', 'hubspot'].includes(settings.scheme)
  const signsLine = requestSenders.includes(sender)
  const signsId = 'headers' in settings || ('id' in settings && settings.id !== undefined)
  const kindOf = (change: Partial<WebhookDelivery>) => verify({ ...whole, ...change }).kind

  test('is verified as it was sent, and tells the id only where that was signed', () => {
    const signed = { ':method': line.method, ':path': line.path }
    expect(verify(whole)).toEqual({
      kind: 'verified',
      id: signsId ? id : null,
      ...(signsLine && { line: signed }),
    })
    const stored = { headers: { ...headers, ...signed }, body, receivedAt: at }
    expect(verify(stored).kind).toBe('verified')
  })

  test('is refused with another secret or key', () => {
    expect(createScheme(settings, otherKeys(sender))(whole)).toEqual({
      kind: 'refused',
      reason: 'signature_wrong',
    })
  })

  if (signsBody)
    test('is refused with any byte of the body changed, and with one more or less', () => {
      const changed = [...body.keys()].map((place) => {
        const copy = Buffer.from(body)
        copy[place] = (copy[place] ?? 0) ^ 1
        return copy
      })
      const bodies = [
        ...changed,
        body.subarray(1),
        body.subarray(0, -1),
        Buffer.concat([body, Buffer.from(' ')]),
      ]
      expect(bodies.filter((bytes) => kindOf({ body: bytes }) === 'verified')).toEqual([])
      expect(kindOf({ body: Buffer.alloc(0) })).toBe('refused')
    })

  test.each(Object.keys(headers))('is refused without its header %s', (name) => {
    const { [name]: _, ...others } = headers
    expect(kindOf({ headers: others })).toBe('refused')
    expect(kindOf({ headers: { ...headers, [name]: '' } })).toBe('refused')
    expect(kindOf({ headers: { ...headers, [name]: [headers[name] ?? ''] } })).toBe('refused')
  })

  test.each(Object.keys(headers))('is refused with any character of %s changed, lost or doubled', (name) => {
    // What a list holds beside time and signature is not read.
    const text = (headers[name] ?? '').replace(/,v0=.*/, '')
    const changed = Array.from(text, (character, place) => {
      const [before, after] = [text.slice(0, place), text.slice(place + 1)]
      return [
        before + (character === '0' ? '1' : '0') + after,
        before + after,
        // An empty place in a list says nothing.
        before + character + (/[,;]/.test(character) ? 'x' : character) + after,
      ]
    }).flat()
    const believed = changed.filter(
      (value) => kindOf({ headers: { ...headers, [name]: value } }) === 'verified',
    )
    expect(believed).toEqual([])
  })

  if (signsLine)
    test('is refused at another path or public URL, and if the request line is not known', () => {
      const paths = ['', '/', line.path.slice(0, -1), `${line.path}0`, line.path.replace('%20', ' ')]
      expect(paths.map((path) => kindOf({ path }))).toEqual(paths.map(() => 'refused'))
      expect(kindOf({ method: undefined, path: undefined })).toBe('refused')
      if (JSON.stringify(settings).includes('method') || settings.scheme === 'hubspot')
        for (const method of ['PUT', undefined]) expect(kindOf({ method })).toBe('refused')
      if (!('publicUrl' in settings)) return
      const other = createScheme(
        { ...settings, publicUrl: publicUrl.replace('https', 'http') },
        keysOf(sender),
      )
      expect(other(whole).kind).toBe('refused')
    })

  if (signsTime)
    test('is refused once it is older than the tolerance, or comes from the future', () => {
      const ages = [-tolerance - 1000, -tolerance, tolerance, tolerance + 1000]
      const verdicts = ages.map((ms) => verify({ ...whole, receivedAt: new Date(at.getTime() + ms) }))
      expect(verdicts.map((verdict) => (verdict.kind === 'refused' ? verdict.reason : verdict.kind))).toEqual(
        ['timestamp_too_new', 'verified', 'verified', 'timestamp_too_old'],
      )
    })

  if (sender.secret !== null)
    test('counts a secret from its beginning on and before its end', () => {
      const [secret] = keysOf(sender).secrets
      const kindWith = (bounds: { notBefore?: Date; notAfter?: Date }) =>
        createScheme(settings, {
          secrets: [{ text: secret?.text ?? '', notBefore: null, notAfter: null, ...bounds }],
          publicKeys: null,
        })(whole).kind
      const later = new Date(at.getTime() + 1)
      expect(kindWith({ notBefore: at, notAfter: later })).toBe('verified')
      expect(kindWith({ notBefore: later })).toBe('refused')
      expect(kindWith({ notAfter: at })).toBe('refused')
    })

  if (sender.secret !== null)
    test('is verified by either of two secrets, and does not start without one', () => {
      const both = [...otherKeys(sender).secrets, ...keysOf(sender).secrets]
      for (const secrets of [both, both.toReversed()])
        expect(createScheme(settings, { secrets, publicKeys: null })(whole).kind).toBe('verified')
      expect(() => createScheme(settings, { secrets: [], publicKeys: null })).toThrow(
        'WEBHOOK_SECRETS is empty',
      )
      expect(() => createScheme(settings, { secrets: secretsOf(''), publicKeys: null })).toThrow(
        'secret 1 must be',
      )
    })
})

test('nothing is asked of a sender only where that was spelled out', () => {
  const verify = createScheme({ scheme: 'none' }, { secrets: [], publicKeys: null })
  const headers = { 'webhook-id': 'msg_1' }
  expect(verify({ headers, body, receivedAt: at })).toEqual({ kind: 'verified', id: null })
})

test('an id cannot be made longer at the cost of what is signed behind it', () => {
  const settings = schemeSettings({
    scheme: 'hmac',
    header: 'x-mac',
    template: '{id}:{body}',
    id: { header: 'x-id' },
  })
  const sender = senders.find(({ name }) => name === 'HMAC of the body in hexadecimal')
  const secret = sender?.secret ?? ''
  // The sender signed `evt_1:{"a":1}`, once as id and body, and somebody sends it on with the boundary moved.
  const mac = sender?.sign({ id, at, body: Buffer.from('evt:1:{"a":1}') })['x-signature'] ?? ''
  const verify = createScheme(settings, { secrets: secretsOf(secret), publicKeys: null })
  const send = (name: string, text: string) =>
    verify({ headers: { 'x-mac': mac, 'x-id': name }, body: Buffer.from(text), receivedAt: at })
  expect(send('evt', '1:{"a":1}')).toEqual({ kind: 'verified', id: 'evt' })
  expect(send('evt:1', '{"a":1}')).toEqual({ kind: 'refused', reason: 'id_malformed' })
})

test('of many signatures in one header only the first ten are tried', () => {
  const sender = senders.find(({ name }) => name === 'HMAC of the body in hexadecimal')
  const right = sender?.sign({ id, at, body })['x-signature'] ?? ''
  const verify = createScheme(schemeSettings(sender?.settings ?? {}), {
    secrets: secretsOf(sender?.secret ?? ''),
    publicKeys: null,
  })
  const wrong = Array.from({ length: 10 }, () => '0'.repeat(64))
  const send = (signatures: string[]) =>
    verify({ headers: { 'x-signature': signatures.join(', ') }, body, receivedAt: at }).kind
  expect(send([...wrong.slice(1), right])).toBe('verified')
  expect(send([...wrong, right])).toBe('refused')
})

test('a shared secret that no header can hold is a fault at the start, and not a refusal of all that comes', () => {
  const settings = schemeSettings({ scheme: 'shared-secret', header: 'x-token' })
  for (const text of ['geheim-äöü', 'a\tb'])
    expect(() => createScheme(settings, { secrets: secretsOf(text), publicKeys: null })).toThrow(
      'WEBHOOK_SECRETS: secret 1 must be text in ASCII',
    )
})
