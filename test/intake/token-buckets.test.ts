import { expect, test } from 'vitest'
import { createTokenBuckets } from '../../src/intake/token-buckets.ts'

const times = (count: number, ask: () => boolean) => Array.from({ length: count }, ask).filter(Boolean).length

test('so many at once, then so many per second, and never more than at once after a pause', () => {
  const allowed = createTokenBuckets({ perSecond: 10, atOnce: 5, namesMax: 100 })
  expect(times(20, () => allowed('a', 0))).toBe(5)
  expect(times(20, () => allowed('a', 250))).toBe(2)
  expect(times(20, () => allowed('a', 3_600_000))).toBe(5)
})

test('a clock that steps back gives nothing and takes nothing', () => {
  const allowed = createTokenBuckets({ perSecond: 10, atOnce: 2, namesMax: 100 })
  expect(times(1, () => allowed('a', 10_000))).toBe(1)
  expect(times(20, () => allowed('a', 0))).toBe(1)
})

test('names do not touch each other, and only the latest are remembered', () => {
  const allowed = createTokenBuckets({ perSecond: 0, atOnce: 1, namesMax: 2 })
  expect(['a', 'b', 'a', 'b'].map((name) => allowed(name, 0))).toEqual([true, true, false, false])
  expect(allowed('c', 0)).toBe(true)
  expect(['b', 'a'].map((name) => allowed(name, 0))).toEqual([false, true])
})
