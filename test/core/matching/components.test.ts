import { expect, test } from 'vitest'
import { components } from '../../../src/core/matching/components.ts'

test('items that share no key stand alone, in order', () => {
  expect(components([['b'], ['a', 'c']])).toEqual([[0], [1]])
})

test('a chain of any length is one component', () => {
  const chain = Array.from({ length: 50_000 }, (_, place) => [`${place}`, `${place + 1}`])
  expect(components(chain).map((items) => items.length)).toEqual([50_000])
  expect(components(chain.toReversed())).toHaveLength(1)
})
