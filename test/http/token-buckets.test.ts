import { expect, test } from 'vitest'
import { createTokenBuckets } from '../../src/http/token-buckets.ts'

/** Two a second and five at once, with a clock that the test moves. */
function bucketsAt(limit = { perSecond: 2, burst: 5 }, namesMax?: number) {
  let nowMs = 1000
  const buckets = createTokenBuckets(limit, namesMax)
  const take = (count: number, name = 'a') =>
    Array.from({ length: count }, () => buckets.take(name, nowMs).allowed).filter(Boolean).length
  return {
    take,
    verdict: () => buckets.take('a', nowMs),
    giveBack: () => buckets.giveBack('a', nowMs),
    pass: (ms: number) => (nowMs += ms),
  }
}

test('a full bucket grants its burst and nothing more, for each name separately', () => {
  const { take } = bucketsAt()
  expect(take(20)).toBe(5)
  expect(take(20, 'b')).toBe(5)
})

test('a bucket refills by the second, and never above its burst', () => {
  const { take, pass } = bucketsAt()
  take(5)
  pass(1000)
  expect(take(5)).toBe(2)
  pass(1_000_000)
  expect(take(20)).toBe(5)
})

test('a refusal takes no token, so repeated requests do not prolong the wait', () => {
  const { take, pass } = bucketsAt()
  take(50)
  pass(500)
  expect(take(1)).toBe(1)
})

test('the verdict names the tokens left, when the bucket is full again, and when the next token is available', () => {
  const { verdict, take } = bucketsAt()
  expect(verdict()).toEqual({ allowed: true, remaining: 4, resetSeconds: 1, retryAfterSeconds: 0 })
  take(4)
  expect(verdict()).toEqual({ allowed: false, remaining: 0, resetSeconds: 3, retryAfterSeconds: 1 })
})

test('a returned token can be taken again, and never exceeds the burst', () => {
  const { giveBack, take } = bucketsAt()
  giveBack()
  expect(take(20)).toBe(5)
  giveBack()
  expect(take(20)).toBe(1)
})

test('a clock that steps back neither adds nor removes tokens', () => {
  const { take, pass } = bucketsAt({ perSecond: 10, burst: 2 })
  take(1)
  pass(-1000)
  expect(take(20)).toBe(1)
})

test('above the maximum number of names, the least recently used one is forgotten', () => {
  const { take } = bucketsAt({ perSecond: 0.001, burst: 1 }, 2)
  take(1, 'first')
  take(1, 'second')
  take(1, 'third')
  expect(take(1, 'second')).toBe(0)
  expect(take(1, 'first')).toBe(1)
})
