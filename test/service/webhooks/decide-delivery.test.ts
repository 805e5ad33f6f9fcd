import { expect, test } from 'vitest'
import type { EndpointAnswer } from '../../../src/outbox/post-webhook.ts'
import { decideDelivery } from '../../../src/service/webhooks/deliver-webhooks.ts'

const now = new Date('2026-11-20T12:00:00Z')
const triesMax = 14

function answered(status: number, retryAfter: string | null = null): EndpointAnswer {
  return { kind: 'answered', status, text: '', retryAfter }
}

function decide(answer: EndpointAnswer, tries = 1, random = 0.5) {
  return decideDelivery({ answer, tries, now, random: () => random })
}

/** Seconds until the next attempt; null where there is none. */
function pause(answer: EndpointAnswer, tries = 1, random = 0.5): number | null {
  const step = decide(answer, tries, random)
  return step.kind === 'retry' ? (step.at.getTime() - now.getTime()) / 1000 : null
}

test.each([200, 201, 204, 299])('%i is success', (status) => {
  expect(decide(answered(status)).kind).toBe('delivered')
})

test.each([199, 300, 301, 304, 308, 400, 401, 404, 409, 429, 500, 503])('%i is tried again', (status) => {
  expect(decide(answered(status)).kind).toBe('retry')
})

test('410 ends the endpoint, at whatever try', () => {
  expect(decide(answered(410)).kind).toBe('gone')
  expect(decide(answered(410), triesMax).kind).toBe('gone')
})

test('the pauses grow from a second to a day, and are over after three days', () => {
  const pauses = Array.from({ length: triesMax }, (_, place) => pause(answered(500), place + 1))
  expect(pauses).toEqual([1, 5, 15, 30, 60, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400, null])
  const days = pauses.reduce<number>((sum, seconds) => sum + (seconds ?? 0), 0) / 86_400
  expect(days).toBeGreaterThan(3)
  expect(days).toBeLessThan(3.5)
  expect(decide({ kind: 'unanswered', problem: 'timed_out' }, triesMax).kind).toBe('failed')
})

test('pauses are spread by a fifth to either side', () => {
  expect(pause(answered(500), 5, 0)).toBe(48)
  expect(pause(answered(500), 5, 0.999_999)).toBeCloseTo(72, 2)
})

test.each([
  ['120', 120],
  ['Fri, 20 Nov 2026 12:02:00 GMT', 120],
  ['999999999', 3600],
  ['Fri, 20 Nov 2099 12:00:00 GMT', 3600],
  ['0', 1],
  ['-5', 1],
  ['Fri, 20 Nov 2020 12:00:00 GMT', 1],
  ['soon', 1],
  ['', 1],
])('Retry-After %j makes a pause of %i s', (retryAfter, seconds) => {
  expect(pause(answered(503, retryAfter))).toBe(seconds)
})

test('Retry-After never shortens a pause', () => {
  expect(pause(answered(429, '10'), 6)).toBe(300)
})

test('who is busy gets nothing else meanwhile either', () => {
  const restUntil = new Date('2026-11-20T12:02:00Z')
  expect(decide(answered(429, '120'))).toMatchObject({ restUntil })
  expect(decide(answered(503, '120'))).toMatchObject({ restUntil })
  expect(decide(answered(503, '120'), 13), 'the pause of one delivery is its own').toMatchObject({
    restUntil,
  })
  expect(decide(answered(503))).toMatchObject({ restUntil: null })
  expect(decide(answered(500, '120'))).toMatchObject({ restUntil: null })
})

test('an attempt that the service broke off by stopping is no try', () => {
  const stopped: EndpointAnswer = { kind: 'unanswered', problem: 'stopped' }
  expect(pause(stopped)).toBe(0)
  expect(pause(stopped, triesMax)).toBe(0)
})
