import { PassThrough } from 'node:stream'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { logEvent } from '../../src/log/log-event.ts'

function memoryLog(level = 'debug') {
  const lines: Record<string, unknown>[] = []
  const output = new PassThrough().on('data', (line) => lines.push(JSON.parse(String(line))))
  return { lines, log: pino({ level }, output) }
}

test('a line has the name, level and text of its event, and the fields', () => {
  const { lines, log } = memoryLog()
  logEvent(log, 'webhook_refused', { outcome: 'bad_signature', reason: 'signature_wrong' })
  logEvent(log, 'policy_changed')
  expect(lines).toMatchObject([
    {
      event: 'webhook_refused',
      level: 40,
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
  logEvent(log, 'webhooks_unsigned')
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
