import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { expect, test } from 'vitest'
import {
  challengeOf,
  challengeOfAll,
  isConfirmed,
  isTextSigned,
  readPasskey,
  signatureOfAll,
  writePasskey,
} from '../../src/people/passkey.ts'
import { readPersonKey } from '../../src/people/person-key.ts'

const origin = 'https://deposits.example'
const device = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const passkey = { person: 'max', origin, credential: 'AAEC', publicKey: device.publicKey }

type Confirmation = {
  client: Record<string, unknown>
  host: string
  flags: number
  key: KeyObject
  credential: string
}

/** What a device returns for the text "pay", with these changes. */
function confirmed(changes: Partial<Confirmation> = {}): string {
  const {
    client = {},
    host = 'deposits.example',
    flags = 0x05,
    key = device.privateKey,
    credential = 'AAEC',
  } = changes
  const said = { type: 'webauthn.get', challenge: challengeOf('pay'), origin, crossOrigin: false, ...client }
  const clientDataJSON = Buffer.from(JSON.stringify(said))
  const counter = Buffer.alloc(4)
  const authenticatorData = Buffer.concat([sha256(host), Buffer.of(flags), counter])
  const signature = sign('sha256', Buffer.concat([authenticatorData, sha256(clientDataJSON)]), key)
  return JSON.stringify({
    credential,
    authenticatorData: authenticatorData.toString('base64url'),
    clientDataJSON: clientDataJSON.toString('base64url'),
    signature: signature.toString('base64url'),
  })
}

function sha256(text: string | Buffer): Buffer {
  return createHash('sha256').update(text).digest()
}

const other = generateKeyPairSync('ec', { namedCurve: 'P-256' })

test('a text is signed if the person unlocked their device for exactly this text at this console', () => {
  expect(isConfirmed(challengeOf('pay'), confirmed(), passkey)).toBe(true)
})

test.each<[string, string]>([
  ['another text', confirmed({ client: { challenge: challengeOf('pay twice') } })],
  ['the making of a passkey', confirmed({ client: { type: 'webauthn.create' } })],
  ['another console', confirmed({ client: { origin: 'https://deposits.example.evil.example' } })],
  ['a page within another', confirmed({ client: { crossOrigin: true } })],
  ['a device that was made for another host', confirmed({ host: 'evil.example' })],
  ['nobody at the device', confirmed({ flags: 0x04 })],
  ['a locked device', confirmed({ flags: 0x01 })],
  ['another key', confirmed({ key: other.privateKey })],
  ['another passkey', confirmed({ credential: 'AAED' })],
  ['no JSON', 'pay'],
  ['too much', JSON.stringify({ ...(JSON.parse(confirmed()) as object), more: 1 })],
  ['nothing', ''],
])('%s signs nothing', (_what, assertion) => {
  expect(isConfirmed(challengeOf('pay'), assertion, passkey)).toBe(false)
})

test('one confirmation signs each text of a list, and no other', () => {
  const texts = ['pay', 'pay again']
  const signature = signatureOfAll(texts, confirmed({ client: { challenge: challengeOfAll(texts) } }))
  const signed = (text: string, by = signature) => isTextSigned(text, by, passkey)
  expect([...texts, 'pay twice'].map((text) => signed(text))).toEqual([true, true, false])
  const list = [...texts, 'pay twice'].map(challengeOf)
  const longer = JSON.stringify({ ...(JSON.parse(signature) as object), list })
  expect(['pay', 'pay twice'].map((text) => signed(text, longer))).toEqual([false, false])
  expect(signed('pay', signatureOfAll(['pay'], confirmed()))).toBe(true)
  expect(signed('pay', confirmed({ client: { challenge: challengeOfAll(texts) } }))).toBe(false)
})

test('the text of a passkey is read in one way', () => {
  const text = writePasskey(passkey)
  expect(readPasskey(text)).toMatchObject({ person: 'max', origin, credential: 'AAEC' })
  expect(readPersonKey(text)?.hasSigned('pay', confirmed())).toBe(true)
  const { publicKey: small } = generateKeyPairSync('ec', { namedCurve: 'secp256k1' })
  const odd = [
    `${text} `,
    text.replace(origin, `${origin}/`),
    text.replace('passkey', 'Passkey'),
    text.slice(0, -4),
  ]
  expect([...odd, writePasskey({ ...passkey, publicKey: small })].map(readPasskey)).toEqual([
    null,
    null,
    null,
    null,
    null,
  ])
})
