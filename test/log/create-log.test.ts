import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { expect, test } from 'vitest'
import { openDaemonLog } from '../../src/cli/start.ts'
import { secretsOf } from '../../src/config/secrets-of.ts'
import { parseSettings, type Settings } from '../../src/config/settings.ts'
import { Fault } from '../../src/core/errors.ts'
import { createLog, describeThrown, type LogSettings } from '../../src/log/create-log.ts'
import { createHidden } from '../../src/log/hide-secrets.ts'
import { logEvent } from '../../src/log/log-event.ts'
import { temporaryFolder } from '../support/folder.ts'
import { until } from '../support/until.ts'

/** The log is written behind the program's back; this line is the last. */
const lastLine = 'the last line'

async function logged(write: (log: Logger) => void, asked: Partial<LogSettings> = {}): Promise<string> {
  const file = join(await temporaryFolder(), 'deeper', 'depositd.log')
  const log = createLog({ level: 'info', file, ...asked })
  write(log)
  log.fatal(lastLine)
  const written = () => (existsSync(file) ? readFileSync(file, 'utf8') : '')
  const text = await until('writing the log', () => (written().includes(lastLine) ? written() : null))
  return text.replace(/.*\n$/, '')
}

test('what is no secret is written as JSON, from the level on that is asked for', async () => {
  const text = await logged(
    (log) => {
      log.info({ kind: 'unreported' }, 'mismatch')
      log.warn({ err: new Error('gone') }, 'queue')
    },
    { level: 'warn' },
  )
  expect(JSON.parse(text)).toMatchObject({ level: 40, msg: 'queue', err: { message: 'gone' } })
})

const apiKey = 'sk_live_9f8e7d6c'
const rpcKey = 'aB3dEfGh1jKlMnOp'
const webhookSecret = 'c2VjcmV0IG9mIHRoZSB3ZWJob29r'
const rotatedSecret = 'bmV3IHNlY3JldCBvZiBpdA=='
const settings = parseSettings(
  {
    DATABASE_URL: 'postgres://me:p%40ss%2Fword@db/x',
    QUEUE_URL: 'redis://:queuepass@queue',
    SERVICE_URL: 'https://service.example',
    SERVICE_API_KEY: apiKey,
    WEBHOOK_SECRETS: `whsec_${webhookSecret}`,
    RPC_BASE: `https://rpc.example/v2/${rpcKey}, https://other.example/?token=queryToken1`,
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
    OTEL_EXPORTER_OTLP_HEADERS: 'x-team=collectorKey1',
  },
  () => '',
)
const realSecrets = [
  apiKey,
  rpcKey,
  webhookSecret,
  'p@ss/word',
  'p%40ss%2Fword',
  'queuepass',
  'queryToken1',
  'collectorKey1',
]

/** Ways in which a secret gets into what is logged, all of which have happened to somebody. */
const ways: [string, (text: string) => unknown][] = [
  ['a message', (text) => new Error(`connecting with ${text} failed`)],
  ['a cause', (text) => new Error('failed', { cause: new Error('deeper', { cause: new Error(text) }) })],
  [
    'one of several errors',
    (text) => new AggregateError([new Error(text), new Error('other')], 'all failed'),
  ],
  ['an address in a message', (text) => new Error(`GET https://host.example/v2/${text}/x?key=${text}: 401`)],
  ['the user of an address', (text) => new Error(`connect redis://:${encodeURIComponent(text)}@queue:6379`)],
  ['JSON in a message', (text) => new Error(JSON.stringify({ headers: { 'x-api-key': text } }))],
  ['a header', (text) => new Error(`authorization: Basic ${Buffer.from(text).toString('base64')}`)],
  ['what a library hung on its error', (text) => Object.assign(new Error('no'), { config: { auth: text } })],
  ['the details of a fault', (text) => new Fault('remote_failed', { what: 'x', problem: `said ${text}` })],
  ['what is no error', (text) => `rejected: ${text}`],
]

test.each(ways)('no secret of the settings gets into the log by %s', async (_way, thrownOf) => {
  const hidden = createHidden()
  hidden.add(secretsOf(settings))
  const text = await logged(
    (log) => {
      for (const real of realSecrets) {
        logEvent(log, 'traces_not_sent', { err: thrownOf(real) })
        logEvent(log.child({ part: 'service' }), 'quarantine_not_stored', { err: thrownOf(real) })
      }
    },
    { hidden },
  )
  const lines = text.trim().split('\n')
  expect(lines).toHaveLength(2 * realSecrets.length)
  for (const line of lines) expect(() => JSON.parse(line)).not.toThrow()
  for (const real of realSecrets) expect(text).not.toContain(real)
})

test('after a rotation the old secret is hidden as the new one is', async () => {
  const file = join(await temporaryFolder(), 'depositd.log')
  const [service] = settings.services
  const webhooks = { ...service.webhooks, keys: keysOf(rotatedSecret) }
  const rotated: Settings = { ...settings, services: [{ ...service, webhooks }] }
  const { log, readSettings } = openDaemonLog(settings, () => rotated, file)
  readSettings()
  logEvent(log, 'settings_refused', { err: new Error(`${webhookSecret} and ${rotatedSecret}`) })
  const text = await until('writing the log', () => (existsSync(file) && readFileSync(file, 'utf8')) || null)
  expect(JSON.parse(text)).toMatchObject({ err: { message: '[redacted] and [redacted]' } })
})

function keysOf(text: string) {
  return { secrets: [{ text, notBefore: null, notAfter: null }], publicKeys: null }
}

test('a secret of digits alone is hidden in texts, and leaves numbers as they are', async () => {
  const hidden = createHidden()
  hidden.add(['123456'])
  const fields = { rows: 123456, groups: 1123456, journals: 0 }
  const text = await logged((log) => logEvent(log, 'batch_applied', fields), { level: 'debug', hidden })
  expect(JSON.parse(text)).toMatchObject(fields)
  const other = await logged((log) => logEvent(log, 'traces_not_sent', { err: 'PIN 123456' }), { hidden })
  expect(JSON.parse(other).err.message).toBe('PIN [redacted]')
})

test.each([
  'GET http://127.0.0.1:8080/webhooks/transfers: 503',
  'relation "deposit" does not exist',
  'tx 0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060 is not there',
  'no api key is set; a password is needed',
])('what is no secret stays as it is: %s', async (message) => {
  const hidden = createHidden()
  hidden.add(secretsOf(settings))
  const text = await logged((log) => logEvent(log, 'traces_not_sent', { err: new Error(message) }), {
    hidden,
  })
  expect(JSON.parse(text)).toMatchObject({ err: { message } })
})

test('of what was thrown, type, code and causes are written, and no stack of what has a code of ours', async () => {
  const cause = Object.assign(new TypeError('deeper'), { code: 'ECONNREFUSED', request: { secret: 1 } })
  const fault = new Fault('remote_failed', { what: 'x', problem: 'y' }, { cause })
  const text = await logged((log) => logEvent(log, 'traces_not_sent', { err: fault }))
  expect(JSON.parse(text).err).toEqual({
    type: 'Fault',
    message: fault.message,
    code: 'remote_failed',
    details: { what: 'x', problem: 'y' },
    cause: { type: 'TypeError', message: 'deeper', code: 'ECONNREFUSED', stack: expect.any(String) },
  })
})

test('of a long message the beginning is written, whoever wrote it', () => {
  const long = `the node said ${'a-b '.repeat(20_000)}`
  const thrown = new AggregateError(
    Array.from(
      { length: 12 },
      () => new Fault('remote_failed', { what: 'x', problem: long }, { cause: long }),
    ),
    long,
    { cause: long },
  )
  const err = describeThrown(thrown)
  expect(JSON.stringify(err).length).toBeLessThan(120_000)
  for (const message of [err.message, err.cause?.message, err.errors?.[0]?.cause?.message]) {
    expect(message).toMatch(/^the node said a-b .*… \(80014 characters\)$/)
    expect(message?.length).toBeLessThan(2100)
  }
  expect(err.errors?.[0]?.details).toEqual({ what: 'x', problem: expect.stringMatching(/^the .{1,2100}$/) })
})

test('no half of a secret stays where a message is cut', () => {
  const key = 'sk_live_9f8e7d6c'
  for (let length = 1900; length < 2100; length++) {
    const { message } = describeThrown(new Error(`${'a '.repeat(length / 2)}${key} ${'b'.repeat(500)}`))
    expect(message.replaceAll(key, '')).not.toContain('sk_')
  }
})
