import { expect, test } from 'vitest'
import { components } from '../../../src/core/matching/components.ts'

const places = (keysOfItems: string[][]) => components(keysOfItems).map(({ items }) => items)

test('items that share no key stand alone, in order', () => {
  expect(components([['b'], ['a', 'c']])).toEqual([
    { items: [0], keys: new Set(['b']) },
    { items: [1], keys: new Set(['a', 'c']) },
  ])
})

test('a chain of any length is one component', () => {
  const chain = Array.from({ length: 50_000 }, (_, place) => [`${place}`, `${place + 1}`])
  expect(places(chain).map((items) => items.length)).toEqual([50_000])
  expect(places(chain.toReversed())).toHaveLength(1)
})
