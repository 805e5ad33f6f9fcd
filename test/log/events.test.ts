import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { events } from '../../src/log/log-event.ts'

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
