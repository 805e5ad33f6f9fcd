import { expect, test } from 'vitest'
import { createPostponed } from '../../../src/service/running/loop.ts'

test('what fails waits ever longer, up to a bound, until it succeeds', () => {
  let time = 0
  const postponed = createPostponed(() => time)
  const pauses = Array.from({ length: 12 }, () => {
    postponed.failed('a')
    const from = time
    while (postponed.waiting().includes('a')) time += 1000
    return (time - from) / 1000
  })
  expect(pauses).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300, 300])
  expect(postponed.failed('a')).toBe(13)
  postponed.done('a')
  expect(postponed.waiting()).toEqual([])
  expect(postponed.failed('a')).toBe(1)
})

test('what is put off waits that long, and has not failed', () => {
  let time = 0
  const postponed = createPostponed(() => time)
  postponed.putOff('a', 500)
  time = 499
  expect(postponed.waiting()).toEqual(['a'])
  time = 500
  expect(postponed.waiting()).toEqual([])
  expect(postponed.failed('a')).toBe(1)
})
