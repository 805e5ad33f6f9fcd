import { expect, test } from 'vitest'
import { networkOf } from '../../../src/service/http/authentication.ts'
import { createRateLimiter } from '../../../src/service/http/rate-limit.ts'

/** Two a second, five at once, by a clock that stands still until it is told. */
function limiterAt(limit = { perSecond: 2, burst: 5 }) {
  let nowMs = 1000
  const limiter = createRateLimiter(limit, () => nowMs)
  const take = (count: number, name = 'a') =>
    Array.from({ length: count }, () => limiter.take(name).allowed).filter(Boolean).length
  return { limiter, take, pass: (ms: number) => (nowMs += ms) }
}

test('a full bucket lets its burst pass, and nothing more', () => {
  const { take } = limiterAt()
  expect(take(20)).toBe(5)
  expect(take(20, 'b')).toBe(5)
})

test('it fills again by the second, up to its burst and not above', () => {
  const { take, pass } = limiterAt()
  take(5)
  pass(1000)
  expect(take(5)).toBe(2)
  pass(1_000_000)
  expect(take(20)).toBe(5)
})

test('a refusal takes nothing, so that asking on does not prolong the wait', () => {
  const { take, pass } = limiterAt()
  take(50)
  pass(500)
  expect(take(1)).toBe(1)
})

test('it tells what is left, when it is full again and when the next may come', () => {
  const { limiter, take } = limiterAt()
  expect(limiter.take('a')).toEqual({ allowed: true, remaining: 4, resetSeconds: 1, retryAfterSeconds: 0 })
  take(4)
  expect(limiter.take('a')).toEqual({ allowed: false, remaining: 0, resetSeconds: 3, retryAfterSeconds: 1 })
})

test('what is given back may be taken again, and never more than the burst', () => {
  const { limiter, take } = limiterAt()
  limiter.giveBack('a')
  expect(take(20)).toBe(5)
  limiter.giveBack('a')
  expect(take(20)).toBe(1)
})

test('of more names than it remembers, the one that was idle for longest is forgotten', () => {
  const { limiter, take } = limiterAt({ perSecond: 0.001, burst: 1 })
  take(1, 'first')
  take(1, 'second')
  for (let number = 0; number < 9_999; number++) limiter.take(String(number))
  expect(take(1, 'second')).toBe(0)
  expect(take(1, 'first')).toBe(1)
})

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2::1', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['', ''],
])('the address %j counts as %j', (address, network) => {
  expect(networkOf(address)).toBe(network)
})
