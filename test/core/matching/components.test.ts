import { expect, test } from 'vitest'
import { components } from '../../../src/core/matching/components.ts'

const joined = (items: readonly string[][]) => components(items, (keys) => keys)

test('items that share no key stand alone, in order', () => {
  expect(joined([['b'], ['a', 'c']])).toEqual([[['b']], [['a', 'c']]])
})

test('a chain of any length is one component', () => {
  const chain = Array.from({ length: 50_000 }, (_, place) => [`${place}`, `${place + 1}`])
  expect(joined(chain)).toEqual([chain])
  expect(joined(chain.toReversed())).toHaveLength(1)
})
