import { expect, test } from 'vitest'
import { faultOfSeal, noHash, withHash } from '../../../src/ledger/seal.ts'

const own = { journals: '5', root: 'a'.repeat(64), sealedAt: '2026-01-01T10:00:00.000000Z' }
const first = withHash({ ...own, number: '1', after: '0', last: '5', previous: noHash })
const second = withHash({ ...own, number: '2', after: '5', last: '10', previous: first.hash })

test('a seal that follows on the one before it has no fault', () => {
  expect(faultOfSeal(first, null)).toBeNull()
  expect(faultOfSeal(second, first)).toBeNull()
})

test.each([
  ['whose hash is not that of its fields', { ...second, root: 'b'.repeat(64) }, 'the seal itself is altered'],
  [
    'that is over another seal',
    withHash({ ...second, previous: noHash }),
    'it does not continue the seal before it',
  ],
  ['that begins elsewhere', withHash({ ...second, after: '6' }), 'it does not continue the seal before it'],
  [
    'with a gap before it',
    withHash({ ...second, number: '3' }),
    'it follows seal 1: the seals between are missing',
  ],
])('a seal %s has a fault, though all else fits', (_what, seal, fault) => {
  expect(faultOfSeal(seal, first)).toBe(fault)
})
