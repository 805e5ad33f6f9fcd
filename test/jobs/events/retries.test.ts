import { expect, test } from 'vitest'
import { roomOf, type SentEvent, settleAttempts } from '../../../src/jobs/events/retries.ts'
import type { EndpointAnswer } from '../../../src/outbox/post-webhook.ts'

const at = new Date('2026-11-20T08:00:00Z')
const healthy = { failures: 0, failing_since: null, rest_until: null }
const due = { delivery: 1n, sequence: 7n, tries: 0, failingSince: null }

const answered = (status: number, retryAfter: string | null = null): EndpointAnswer => ({
  kind: 'answered',
  status,
  text: '',
  retryAfter,
})
const sent = (answer: EndpointAnswer, changes: Partial<SentEvent['due']> = {}): SentEvent => ({
  due: { ...due, ...changes },
  answer,
  beganAt: at,
  at,
  durationMs: 1,
})
const seconds = (date: Date | null | undefined) => ((date?.getTime() ?? 0) - at.getTime()) / 1000
const settle = (one: SentEvent, random = 0.5) => settleAttempts(healthy, [one], () => random)

test.each([
  [1, 1],
  [2, 5],
  [3, 15],
  [4, 30],
  [5, 60],
  [6, 300],
  [7, 900],
  [8, 1800],
  [9, 3600],
  [60, 3600],
])('after %i failures, an event waits %i s, and a fifth more or less', (tries, pause) => {
  const pauseWith = (random: number) =>
    seconds(settle(sent(answered(500), { tries: tries - 1 }), random).ended[0]?.next?.at)
  expect(pauseWith(0.5)).toBeCloseTo(pause)
  expect(pauseWith(0)).toBeCloseTo(pause * 0.8)
  expect(pauseWith(1)).toBeCloseTo(pause * 1.2)
})

test.each([
  [429, '120', 120],
  [503, 'Fri, 20 Nov 2026 08:02:00 GMT', 120],
  [503, '999999', 3600],
  [503, 'soon', 1],
  [500, '120', 1],
])('after the status %i with Retry-After %s, the endpoint rests for %i s', (status, retryAfter, rest) => {
  expect(seconds(settle(sent(answered(status, retryAfter))).health.rest_until)).toBe(rest)
})

test('attempts that were under way at a failure count once, and the longest rest holds', () => {
  const underWay = [answered(500), answered(503, '120'), ...Array.from({ length: 14 }, () => answered(500))]
  const { health, ended } = settleAttempts(
    healthy,
    underWay.map((one) => sent(one)),
    () => 0.5,
  )
  expect(health.failures).toBe(1)
  expect(seconds(health.rest_until)).toBe(120)
  expect(ended).toHaveLength(16)
  const later = { ...sent(answered(500)), beganAt: new Date(at.getTime() + 120_000) }
  expect(settleAttempts(health, [later], () => 0.5).health.failures).toBe(2)
})

test('an endpoint rests for at most five minutes, and then gets one event at a time', () => {
  const failing = { failures: 50, failing_since: at, rest_until: null }
  const { health } = settleAttempts(failing, [sent(answered(500))], () => 0.5)
  expect(seconds(health.rest_until)).toBe(300)
  expect([roomOf(health, at, 0), roomOf(failing, at, 0), roomOf(failing, at, 1)]).toEqual([0, 1, 0])
  expect([roomOf(healthy, at, 0), roomOf(healthy, at, 255), roomOf(healthy, at, 300)]).toEqual([256, 1, 0])
})

test('a success ends the failing of an endpoint, and says since when it was', () => {
  const failing = { failures: 5, failing_since: new Date(0), rest_until: at }
  expect(settleAttempts(failing, [sent(answered(200))], () => 0.5)).toEqual({
    ended: [{ delivery: 1n, next: null }],
    health: healthy,
    recoveredSince: new Date(0),
    stop: null,
  })
})

test.each([
  [{ kind: 'unanswered', problem: 'timed_out' } as const, 3 * 86_400, 'undelivered'],
  [answered(500), 3 * 86_400 - 1, null],
  [answered(410), 0, 'gone'],
])('%j after %i s of failures', (answer, failingSeconds, stop) => {
  const failingSince = new Date(at.getTime() - failingSeconds * 1000)
  expect(settle(sent(answer, { failingSince })).stop).toBe(stop)
})
