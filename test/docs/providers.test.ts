import { generateKeyPairSync, sign } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseSettingsFile } from '../../src/config/settings-file.ts'
import { createScheme } from '../../src/intake/signature/create-scheme.ts'
import { fences, tableRows } from '../support/markdown.ts'
import { secretsOf } from '../support/sign-webhook.ts'
import { readText, root } from './pages.ts'

const page = readText('docs/providers.md')
const files = fences(page)
  .filter(({ language }) => language === 'yaml')
  .map(({ text }) => {
    const { file, faults } = parseSettingsFile(text)
    expect(faults).toEqual([])
    if (file === null) throw new Error('it has no fault')
    return file
  })
const own = ['depositd', 'fireblocks', 'bvnk-layer1']
const names = readdirSync(join(root, 'profiles')).map((file) => file.replace('.yaml', ''))

test('every profile of a provider has a row and its settings', () => {
  const expected = names.filter((name) => !own.includes(name)).toSorted()
  const rows = tableRows(page).map(({ name }) => name)
  expect(rows.filter((name) => names.includes(name)).toSorted()).toEqual(expected)
  expect(files.map(({ service }) => service.profile).toSorted()).toEqual(expected)
})

test('every such profile states that it was built from documentation, with its sources', () => {
  for (const name of names.filter((one) => !own.includes(one))) {
    const text = readText(`profiles/${name}.yaml`)
    expect(text, name).toMatch(
      /^# Built from public documentation, looked up in \w+ \d{4}\. It was never run/m,
    )
    expect(text, name).toMatch(/^# {3}\w[^:]*: \S+\.\w+\//m)
  }
})

const body = Buffer.from('{"id":1}')

function verdict(profile: string, headers: Record<string, string>, keys: { secret?: string; pem?: string }) {
  const webhooks = files.find(({ service }) => service.profile === profile)?.webhooks
  if (webhooks === undefined) throw new Error(`no settings of ${profile}`)
  const secrets = keys.secret === undefined ? [] : secretsOf(keys.secret)
  const verify = createScheme(webhooks, { secrets, publicKeys: keys.pem ?? null })
  return verify({ headers, body, receivedAt: new Date(), method: 'POST', path: '/' }).kind
}

test('a signature of Circle verifies: ECDSA over the body, in DER and base64', () => {
  const { publicKey: pem, privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  const signature = (of: Buffer) => sign('sha256', of, privateKey).toString('base64')
  const headers = { 'x-circle-key-id': 'a-key', 'x-circle-signature': signature(body) }
  expect(verdict('circle-wallets', headers, { pem })).toBe('verified')
  const other = { ...headers, 'x-circle-signature': signature(Buffer.from('{}')) }
  expect(verdict('circle-wallets', other, { pem })).toBe('refused')
})

test('a signature of CryptoProcessing verifies: HMAC-SHA512 over the body, in hex', () => {
  // printf '{"id":1}' | openssl dgst -sha512 -hmac made-up
  const signature =
    '4d8412f82ace36e7f1bdb931170437b170057fde6b66c4380e0713cf802964cd' +
    'd134eda86737cd9bcf6d6e7367633b3a89ffbd5923c38cdc1903f9838ff0d6c1'
  const headers = { 'x-processing-key': 'public', 'x-processing-signature': signature }
  expect(verdict('cryptoprocessing', headers, { secret: 'made-up' })).toBe('verified')
  expect(verdict('cryptoprocessing', headers, { secret: 'another' })).toBe('refused')
})
