import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { events, logEvent } from '../../src/log/log-event.ts'

function memoryLog(level = 'debug') {
  const lines: Record<string, unknown>[] = []
  const output = new PassThrough().on('data', (line) => lines.push(JSON.parse(String(line))))
  return { lines, log: pino({ level }, output) }
}

test('a line has the name, level and text of its event, and the fields', () => {
  const { lines, log } = memoryLog()
  logEvent(log, 'webhook_refused', {
    service: 'acme',
    outcome: 'bad_signature',
    reason: 'signature_wrong',
    suppressed: 0,
  })
  logEvent(log, 'policy_changed')
  expect(lines).toMatchObject([
    {
      event: 'webhook_refused',
      level: 40,
      service: 'acme',
      outcome: 'bad_signature',
      reason: 'signature_wrong',
      msg: 'webhook refused',
    },
    { event: 'policy_changed', level: 30 },
  ])
})

test('the level of the log decides what is written', () => {
  const { lines, log } = memoryLog('warn')
  logEvent(log, 'policy_changed')
  logEvent(log, 'webhooks_unsigned', { service: 'default' })
  expect(lines).toMatchObject([{ event: 'webhooks_unsigned' }])
})

test('an event that is not in the list, or other fields than its own, do not compile', () => {
  const { lines, log } = memoryLog()
  // @ts-expect-error There is no such event.
  expect(() => logEvent(log, 'webhook_lost', {})).toThrow()
  // @ts-expect-error A field is missing.
  logEvent(log, 'webhook_refused', { outcome: 'bad_signature' })
  // @ts-expect-error It has no such field.
  logEvent(log, 'history_changed', { network: 'base', height: 1 })
  expect(lines).toHaveLength(2)
})

const root = join(import.meta.dirname, '../../src')
const sources = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.startsWith('log/'))
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))

test('nothing is logged past the list of events', () => {
  const direct =
    /\blog\s*\.(trace|debug|info|warn|error|fatal)\(|^import (?!type).*\bpino\b(?!.*type Logger } from)/m
  expect(sources.length).toBeGreaterThan(300)
  expect(sources.filter(({ text }) => direct.test(text)).map(({ path }) => path)).toEqual([])
})

test('every event of the list is told by somebody', () => {
  const reported = sources.map(({ text }) => text).join('\n')
  expect(
    Object.keys(events).filter(
      (name) => !new RegExp(`logEvent\\(\\s*[\\w.]*log,\\s*'${name}'`).test(reported),
    ),
  ).toEqual([])
})

test('names of events and fields are words in lower case, and none covers what every line has', () => {
  const ours = new Set(['level', 'time', 'pid', 'hostname', 'event', 'msg'])
  for (const [name, { fields }] of Object.entries(events)) {
    expect(name).toMatch(/^[a-z]+(_[a-z]+)*$/)
    expect(
      Object.keys(fields).filter((field) => ours.has(field) || !/^[a-z]+[a-zA-Z]*$/.test(field)),
    ).toEqual([])
  }
})
