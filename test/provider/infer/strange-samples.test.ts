import { expect, test } from 'vitest'
import { listingIn } from '../../../src/provider/infer/find-records.ts'
import { inferProfile } from '../../../src/provider/infer/infer-profile.ts'
import { writeProfile } from '../../../src/provider/infer/write-profile.ts'
import { parseLossless } from '../../../src/provider/lossless-json.ts'
import { parseProfile } from '../../../src/provider/profile/parse-profile.ts'
import { eventOf, hints, lives } from './lives.ts'

const parsed = (document: unknown) => parseLossless(JSON.stringify(document))
const genuine = lives.map(eventOf).map(parsed)

function written(payloads: readonly unknown[]): string {
  return writeProfile(inferProfile({ payloads, answers: [] }, hints), [])
}

test('what strangers sent neither steers the terminal nor leaves its line', () => {
  const hostile = parsed({
    id: 'evt\nrecord: evil',
    'type\u001b[2J': 'a',
    type: 'deposit.\u202esettled',
    'created\nat': '2026-11-20T10:00:00Z',
    data: { status: 'paid\n# done', 'a.b': 1, id: '\u001b]0;x\u0007' },
  })
  const text = written([...genuine, hostile])
  expect(text).not.toMatch(/[^\P{C}\n]/u)
  expect(parseProfile(text).faults).toEqual([])
})

test('a list under a name that no path can have is none, as in specifications', () => {
  const record = { id: '1' }
  const answer = { 'POST /v1.2': [record, record], '': [record, record], data: [record] }
  expect(listingIn(answer)).toEqual({ items: 'data', records: [record] })
})

test.each([
  ['another list as deep as is taken in', parsed(JSON.parse('['.repeat(64) + ']'.repeat(64)))],
  ['objects within objects', parsed(JSON.parse('{"a":'.repeat(60) + '1' + '}'.repeat(60)))],
  [
    'as many fields as are taken in',
    parsed(Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`f${n}`, n]))),
  ],
  [
    'names that objects have anyway',
    parseLossless('{"__proto__":{"id":1},"constructor":{"status":"paid"},"toString":1}'),
  ],
  ['no object', parsed('text')],
  ['nothing', parsed(null)],
])('%s among the payloads does not keep the profile from being made', (_what, hostile) => {
  const text = written([...genuine, hostile])
  expect(parseProfile(text).profile?.record.deposit.address.paths).toEqual(['source.address'])
})
