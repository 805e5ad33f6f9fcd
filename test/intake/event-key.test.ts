import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { eventKey } from '../../src/intake/admit-delivery.ts'

const body = Buffer.from('{"id":"evt_1"}')
const digest = `sha256:${createHash('sha256').update(body).digest('hex')}`

test('the id in the body is the key', () => {
  expect(eventKey(body, (bytes) => bytes.subarray(7, 12).toString())).toBe('evt_1')
})

test.each([
  ['none', null],
  ['an empty one', ''],
  ['one with a space, which marks other bodies of one id', 'evt 1'],
  ['one with a NUL', 'evt\u0000'],
  ['one that is not ASCII', 'événement'],
  ['one too long for the index', 'x'.repeat(257)],
])('where the body has %s, the key is the hash of the body', (_what, id) => {
  expect(eventKey(body, () => id)).toBe(digest)
})
