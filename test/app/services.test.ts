import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { followServices, type Services } from '../../src/app/services.ts'
import { createSettingsReader } from '../../src/config/settings.ts'
import type { ServiceName } from '../../src/core/evidence.ts'
import type { SettingsReading } from '../../src/ops/observe.ts'
import { temporaryFolder } from '../support/folder.ts'
import { makeSecret, signStandardWebhook } from '../support/sign-webhook.ts'
import { until } from '../support/until.ts'

const [older, newer, ofAcme] = [makeSecret(), makeSecret(), makeSecret()]
const body = Buffer.from('{}')
const never = 3_600_000

const acme = (more = '') =>
  `services: { acme: { url: "https://acme.example", auth: { secret: SERVICE_API_ACME }${more} } }\n`

const running: Services[] = []
afterEach(() => {
  for (const services of running.splice(0)) services.stop()
})

async function start({ everyMs = never, secrets = older, file = '' } = {}) {
  const folder = await temporaryFolder()
  const write = (name: string, text: string) => {
    const path = join(folder, name)
    writeFileSync(path, text)
    return path
  }
  const environment = {
    DATABASE_URL: 'postgres://db/depositd',
    SERVICE_URL: 'https://service.example',
    SERVICE_API_KEY: 'key',
    RPC_BASE: 'https://base.example',
    SECRETS_DIR: folder,
    WEBHOOK_SECRETS_FILE: write('secrets', secrets),
    DEPOSITD_CONFIG: write('settings.yaml', file),
  }
  write('SERVICE_API_ACME', 'key of acme')
  write('WEBHOOK_SECRETS_ACME', ofAcme)
  const readSettings = createSettingsReader(environment, (path) => readFileSync(path, 'utf8'))
  const readings: SettingsReading[] = []
  let changes = 0
  const services = followServices(readSettings(), {
    readSettings,
    everyMs,
    report: (reading) => readings.push(reading),
  })
  running.push(services)
  services.onChange(() => changes++)
  const verifies = (secret: string, name = 'default') => {
    const receivedAt = new Date()
    const headers = signStandardWebhook({ secret, id: 'msg_1', body, at: receivedAt })
    const verify = services.open().get(name as ServiceName)?.admission.verify
    return verify?.({ headers, body, receivedAt }).kind === 'verified'
  }
  const reload = (name: string, text: string) => {
    write(name, text)
    services.reload()
    return readings.at(-1)
  }
  return { services, readings, write, reload, verifies, changes: () => changes }
}

test('rotated secrets verify from the moment they are read', async () => {
  const { reload, verifies, services, changes, readings } = await start()
  expect([verifies(older), verifies(newer)]).toEqual([true, false])
  reload('secrets', `${newer},${older}`)
  expect([verifies(older), verifies(newer)]).toEqual([true, true])
  reload('secrets', newer)
  expect([verifies(older), verifies(newer)]).toEqual([false, true])
  services.reload()
  expect(readings.map(({ kind }) => kind)).toEqual(['opened', 'changed', 'changed', 'unchanged'])
  expect(changes()).toBe(2)
})

test('a service is added, changed, paused and removed', async () => {
  const { reload, verifies, services } = await start()
  const read = () => services.followed().services.map(({ name, url, isPaused }) => [name, url, isPaused])
  const [ours] = read()
  expect(reload('settings.yaml', acme())).toMatchObject({
    kind: 'changed',
    services: { default: 'standard-webhooks', acme: 'standard-webhooks' },
    restart: [],
  })
  expect([verifies(ofAcme, 'acme'), verifies(older, 'acme'), verifies(older)]).toEqual([true, false, true])
  reload('settings.yaml', acme().replace('acme.example', 'new.example'))
  expect(read()).toEqual([ours, ['acme', 'https://new.example', false]])
  expect(reload('settings.yaml', acme(', paused: true'))).toMatchObject({
    services: { acme: 'standard-webhooks, paused' },
  })
  expect(read()).toEqual([ours, ['acme', 'https://acme.example', true]])
  expect(verifies(ofAcme, 'acme')).toBe(true)
  reload('settings.yaml', '')
  expect(read()).toEqual([ours])
  expect(verifies(ofAcme, 'acme')).toBe(false)
})

test('the secrets of a service may come later than the service', async () => {
  const { reload, verifies } = await start()
  const file = acme().replaceAll('acme', 'beta').replace('SERVICE_API_ACME', 'SERVICE_API_BETA')
  expect(reload('settings.yaml', file)).toMatchObject({ kind: 'refused' })
  expect(reload('SERVICE_API_BETA', 'key of beta')).toMatchObject({ kind: 'refused' })
  expect(reload('WEBHOOK_SECRETS_BETA', newer)).toMatchObject({ kind: 'changed' })
  expect(verifies(newer, 'beta')).toBe(true)
})

test('a changed profile is a change', async () => {
  const { write, reload, services } = await start()
  const profile = readFileSync('profiles/depositd.yaml', 'utf8')
  write('acme.yaml', profile)
  reload('settings.yaml', acme(', profile: ./acme.yaml'))
  expect(reload('acme.yaml', `${profile}\n# nothing else\n`)).toMatchObject({ kind: 'unchanged' })
  const reworded = profile.replace('settled: settled', 'done: settled')
  expect(reload('acme.yaml', reworded)).toMatchObject({ kind: 'changed' })
  const { words } = services.open().get('acme' as ServiceName)?.profile.record.status ?? {}
  expect(words).toMatchObject({ done: 'settled' })
})

test('what needs a restart is reported, and is not active before it', async () => {
  const { reload } = await start()
  expect(reload('settings.yaml', `schedule: { poll: "0 * * * * *" }\n${acme()}`)).toMatchObject({
    kind: 'changed',
    restart: ['schedule'],
  })
})

test.each<[string, string, string, string]>([
  ['a file with a fault', 'settings.yaml', 'services: { Acme: {} }', 'services.Acme'],
  ['a profile that does not exist', 'settings.yaml', acme(', profile: ./none.yaml'), 'none.yaml'],
  ['a secret of another form', 'secrets', 'not a secret', 'secret 1 must be whsec_'],
  ['no secret', 'secrets', '', 'WEBHOOK_SECRETS'],
  [
    'a secret that has ended',
    'secrets',
    `${newer} not-after=2020-01-01T00:00:00Z`,
    'WEBHOOK_SECRETS: every secret has ended',
  ],
  [
    'a secret of another service that has ended',
    'WEBHOOK_SECRETS_ACME',
    `${newer} not-after=2020-01-01T00:00:00Z`,
    'WEBHOOK_SECRETS_ACME: every secret has ended',
  ],
])('%s: refused as a whole, and everything stays as it was', async (...[, name, text, fault]) => {
  const { write, reload, services, verifies, changes } = await start({ file: acme() })
  const before = services.followed()
  write('settings.yaml', `${acme()}policy: { webhookWithin: 1m }`)
  const reading = reload(name, text)
  expect(reading).toMatchObject({ kind: 'refused', error: { code: 'settings_bad' } })
  expect(String(reading?.kind === 'refused' && reading.error)).toContain(fault)
  expect(services.followed()).toBe(before)
  expect([verifies(older), verifies(ofAcme, 'acme'), changes()]).toEqual([true, true, 0])
  write('settings.yaml', acme(', paused: true'))
  write('WEBHOOK_SECRETS_ACME', ofAcme)
  expect(reload('secrets', newer)).toMatchObject({ kind: 'changed' })
  expect(verifies(newer)).toBe(true)
})

test('without a request the files are read too, and a problem that stays is reported once', async () => {
  const { write, readings, verifies } = await start({ everyMs: 1 })
  const untilReported = (count: number) =>
    until(`${count} readings are reported`, () => readings.length === count || null)
  write('secrets', 'one')
  await untilReported(2)
  write('secrets', '')
  await untilReported(3)
  write('secrets', newer)
  await untilReported(4)
  expect(verifies(newer)).toBe(true)
  expect(readings.map(({ kind }) => kind)).toEqual(['opened', 'refused', 'refused', 'changed'])
})

test('does not start with settings that cannot be used', async () => {
  await expect(start({ secrets: 'x' })).rejects.toThrow('WEBHOOK_SECRETS: secret 1 must be whsec_')
  const ended = `${older} not-after=2020-01-01T00:00:00Z`
  await expect(start({ secrets: ended })).rejects.toThrow('every secret has ended')
})
