import { expect, test } from 'vitest'
import { createRetryBackoff } from '../../../src/service/running/loop.ts'

test('what fails waits ever longer, up to a bound, until it succeeds', () => {
  let time = 0
  const backoff = createRetryBackoff(() => time)
  const pauses = Array.from({ length: 12 }, () => {
    backoff.failed('a')
    const from = time
    while (backoff.waiting().includes('a')) time += 1000
    return (time - from) / 1000
  })
  expect(pauses).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300, 300])
  expect(backoff.failed('a')).toBe(13)
  backoff.done('a')
  expect(backoff.waiting()).toEqual([])
  expect(backoff.failed('a')).toBe(1)
})

test('what is put off waits that long, and has not failed', () => {
  let time = 0
  const backoff = createRetryBackoff(() => time)
  backoff.delay('a', 500)
  time = 499
  expect(backoff.waiting()).toEqual(['a'])
  time = 500
  expect(backoff.waiting()).toEqual([])
  expect(backoff.failed('a')).toBe(1)
})
