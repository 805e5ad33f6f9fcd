import { PassThrough } from 'node:stream'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { reportNotStored } from '../../src/ops/log-trail.ts'

function watch() {
  const lines: { event: string; suppressed?: number; err?: { message: string } }[] = []
  const output = new PassThrough().on('data', (line) => lines.push(JSON.parse(String(line))))
  const clock = { seconds: 1000 }
  return { lines, clock, notStored: reportNotStored(pino(output), () => clock.seconds * 1000) }
}

test('webhooks that one commit failed for have one line', () => {
  const { lines, notStored } = watch()
  for (const message of ['connection lost', 'connection refused']) {
    const error = new Error(message)
    for (let number = 0; number < 500; number++) notStored(error)
  }
  expect(lines.map(({ err }) => err?.message)).toEqual(['connection lost', 'connection refused'])
})

test('while the database is away there are a few lines a second, and how many more there were', () => {
  const { lines, clock, notStored } = watch()
  for (let number = 0; number < 1000; number++) notStored(new Error(`refused ${number}`))
  expect(lines).toHaveLength(10)
  clock.seconds++
  notStored(new Error('refused'))
  expect(lines.slice(10)).toMatchObject([{ event: 'webhook_not_stored', suppressed: 990 }])
})
