import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createSettingsReader } from '../../src/config/settings.ts'
import { temporaryFolder } from '../support/folder.ts'

async function start(section: string) {
  const folder = await temporaryFolder()
  const path = (name: string) => join(folder, name)
  const write = (name: string, text: string) => writeFileSync(path(name), text)
  write('settings.yaml', `webhooks: ${section}`)
  write('secrets', 'one\n')
  write('keys.pem', 'key one')
  write('public-url', 'https://one.example')
  const environment = {
    DATABASE_URL: 'postgres://db/depositd',
    SERVICE_URL: 'https://service.example',
    SERVICE_API_KEY: 'key',
    RPC_BASE: 'https://base.example',
    DEPOSITD_CONFIG: path('settings.yaml'),
    PUBLIC_URL_FILE: path('public-url'),
    ...(section.includes('public-key') ? {} : { WEBHOOK_SECRETS_FILE: path('secrets') }),
  }
  const read = createSettingsReader(environment, (name) => readFileSync(name, 'utf8'))
  return { read, write, remove: (name: string) => rmSync(path(name)) }
}

const publicKey = '{ scheme: public-key, header: x, algorithm: ed25519, publicKeys: keys.pem }'

test('as long as no file changes, nothing is parsed again', async () => {
  const { read, write } = await start('{ scheme: github }')
  const first = read()
  write('secrets', 'one\n')
  expect(read()).toBe(first)
})

test('a change of the secrets, of the settings file, of the key file and of the public URL is seen', async () => {
  const { read, write } = await start('{ scheme: github }')
  expect(read().services[0].webhooks.keys.secrets[0]?.text).toBe('one')
  write('secrets', 'two')
  expect(read().services[0].webhooks.keys.secrets[0]?.text).toBe('two')
  write('settings.yaml', 'webhooks: { scheme: stripe }')
  expect(read().services[0].webhooks.signing.scheme).toBe('stripe')

  write('settings.yaml', 'webhooks: { scheme: square }')
  expect(read().services[0].webhooks.signing).toMatchObject({ publicUrl: 'https://one.example' })
  write('public-url', 'https://two.example')
  expect(read().services[0].webhooks.signing).toMatchObject({ publicUrl: 'https://two.example' })

  const other = await start(publicKey)
  expect(other.read().services[0].webhooks.keys.publicKeys).toBe('key one')
  other.write('keys.pem', 'key two')
  expect(other.read().services[0].webhooks.keys.publicKeys).toBe('key two')
})

test.each([
  ['the secrets', '{ scheme: github }', 'secrets', 'WEBHOOK_SECRETS_FILE cannot be read'],
  ['the settings file', '{ scheme: github }', 'settings.yaml', 'DEPOSITD_CONFIG cannot be read'],
  ['the key file', publicKey, 'keys.pem', 'webhooks.publicKeys cannot be read'],
])('where %s cannot be read any more, that is a fault until it can', async (...[, section, name, fault]) => {
  const { read, write, remove } = await start(section)
  read()
  remove(name)
  expect(read).toThrow(fault)
  expect(read).toThrow(fault)
  write(name, name === 'settings.yaml' ? `webhooks: ${section}` : 'two')
  expect(() => read()).not.toThrow()
})
