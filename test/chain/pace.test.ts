import { beforeEach, expect, test } from 'vitest'
import { inBackground } from '../../src/chain/background.ts'
import { defaultBounds } from '../../src/chain/options.ts'
import { Pace, type RequestAttempt } from '../../src/chain/pace.ts'
import { createVirtualClock, type VirtualClock } from '../support/virtual-clock.ts'

const latencyMs = 50

let clock: VirtualClock
let pace: Pace
/** When each request was sent. */
let sentMs: number[]
let underWay: number
let mostUnderWay: number

beforeEach(() => {
  clock = createVirtualClock()
  pace = new Pace(defaultBounds, clock)
  sentMs = []
  underWay = 0
  mostUnderWay = 0
})

type Outcome = Pick<RequestAttempt<never>, 'outcome'> & { retryAfterMs?: number }
/** Decides how a request ends, by how many were sent before it. */
type Server = (place: number) => Outcome

const fine: Outcome = { outcome: 'fine' }
const quota: Outcome = { outcome: 'quota' }

function ask(server: Server): Promise<string> {
  return pace.run(async (): Promise<RequestAttempt<string>> => {
    const { outcome, retryAfterMs = null } = server(sentMs.push(clock.nowMs()) - 1)
    mostUnderWay = Math.max(mostUnderWay, ++underWay)
    await clock.wait(latencyMs)
    underWay--
    const settle = () => {
      if (outcome === 'fine') return 'answer'
      throw new Error(outcome)
    }
    return { outcome, retryAfterMs, settle }
  })
}

function askMany(count: number, server: Server): Promise<PromiseSettledResult<string>[]> {
  return clock.runUntil(Promise.allSettled(Array.from({ length: count }, () => ask(server))))
}

/** Answers so many a second and refuses the rest, as gateways do. */
function answersPerSecond(rate: number): Server {
  let tokens = rate
  let filledMs = 0
  return () => {
    tokens = Math.min(rate, tokens + ((clock.nowMs() - filledMs) * rate) / 1000)
    filledMs = clock.nowMs()
    if (tokens < 1) return quota
    tokens--
    return fine
  }
}

const allFine = (count: number) =>
  Array.from({ length: count }, () => ({ status: 'fulfilled', value: 'answer' }))

test('no more than the bound is under way at once', async () => {
  expect(await askMany(80, () => fine)).toEqual(allFine(80))
  expect(mostUnderWay).toBe(defaultBounds.requestsAtOnce)
  expect(clock.nowMs()).toBe((80 / defaultBounds.requestsAtOnce) * latencyMs)
})

test('one refusal in fifty is made good and costs hardly anything', async () => {
  expect(await askMany(500, (place) => (place % 50 === 49 ? quota : fine))).toEqual(allFine(500))
  expect(sentMs.length).toBeLessThanOrEqual(511)
  expect(clock.nowMs()).toBeLessThan(1.15 * (500 / defaultBounds.requestsAtOnce) * latencyMs)
})

test.each([2, 10, 40, 100])(
  'a node that answers %i requests a second is asked about as often',
  async (rate) => {
    const count = rate * 20
    // The patience for one request is bounded; here it is the pace that matters.
    pace = new Pace({ ...defaultBounds, quotaWaitMs: 1e9, triesMax: 1e9 }, clock)
    expect(await askMany(count, answersPerSecond(rate))).toEqual(allFine(count))
    // What it bears is found out by asking too often: at first with all that may be under way.
    expect(sentMs.length).toBeLessThan(count * 1.2 + 2 * defaultBounds.requestsAtOnce)
    expect(clock.nowMs()).toBeLessThan(20_000 * 1.5)
  },
)

test('a time without any request says nothing of what a node bears', async () => {
  pace = new Pace({ ...defaultBounds, quotaWaitMs: 1e9, triesMax: 1e9 }, clock)
  const server = answersPerSecond(40)
  await askMany(400, server)
  await clock.runUntil(clock.wait(3_600_000))
  const idleUntilMs = clock.nowMs()
  await askMany(400, server)
  expect(clock.nowMs() - idleUntilMs).toBeLessThan(1.5 * 10_000)
})

test('a node that asks for it twice on end is left alone for as long as it says', async () => {
  const asked = askMany(40, (place) => (place < 8 ? { outcome: 'quota', retryAfterMs: 3000 } : fine))
  expect(await asked).toEqual(allFine(40))
  expect(sentMs.filter((ms) => ms > latencyMs && ms < 3000 + latencyMs)).toEqual([])
})

test('a request waits for a node within its bounds, and then fails as the node said', async () => {
  const [outcome] = await askMany(1, () => quota)
  expect(outcome).toMatchObject({ status: 'rejected', reason: new Error('quota') })
  expect(sentMs.length).toBeGreaterThan(3)
  expect(sentMs.length).toBeLessThanOrEqual(defaultBounds.triesMax)
  expect(clock.nowMs()).toBeLessThanOrEqual(defaultBounds.quotaWaitMs + latencyMs)
})

test('where a node wants to be left alone for longer, all fail at once, and nothing is sent until then', async () => {
  const hour = 3_600_000
  const outcomes = await askMany(40, () => ({ outcome: 'quota', retryAfterMs: hour }))
  expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true)
  expect(sentMs).toHaveLength(defaultBounds.requestsAtOnce)
  const [refused] = await askMany(1, () => fine)
  expect(refused).toMatchObject({
    reason: new Error('the server asked for a pause because of too many requests; 300 s remain'),
  })
  await clock.runUntil(clock.wait(defaultBounds.pauseMaxMs))
  expect(await askMany(1, () => fine)).toEqual(allFine(1))
})

test('a slower pace is no punishment for ever', async () => {
  await askMany(60, (place) => (place < 30 ? quota : fine))
  sentMs.length = 0
  await askMany(20_000, () => fine)
  expect(sentMs).toHaveLength(20_000)
  mostUnderWay = 0
  await askMany(100, () => fine)
  expect(mostUnderWay).toBe(defaultBounds.requestsAtOnce)
})

test('what breaks is tried three times, and what is refused once', async () => {
  await askMany(1, () => ({ outcome: 'broken' }))
  expect(sentMs).toHaveLength(3)
  sentMs.length = 0
  await askMany(1, () => ({ outcome: 'refused' }))
  expect(sentMs).toHaveLength(1)
  expect(await askMany(1, (place) => (place === 1 ? { outcome: 'broken' } : fine))).toEqual(allFine(1))
})

test('work in the background keeps to its rate, and leaves half of the places to others', async () => {
  pace = new Pace({ ...defaultBounds, backgroundPerSecond: 20 }, clock)
  const asking = Array.from({ length: 40 }, () => inBackground(() => ask(() => fine)))
  expect(await clock.runUntil(Promise.all(asking))).toHaveLength(40)
  expect(sentMs.at(-1)).toBe(39 * 50)
  pace = new Pace(defaultBounds, clock)
  mostUnderWay = 0
  await clock.runUntil(Promise.all(Array.from({ length: 40 }, () => inBackground(() => ask(() => fine)))))
  expect(mostUnderWay).toBe(defaultBounds.requestsAtOnce / 2)
})

test('a request starts before all that wait in the background, and does not count there', async () => {
  pace = new Pace({ ...defaultBounds, backgroundPerSecond: 2 }, clock)
  const behind = inBackground(() => Promise.all(Array.from({ length: 10 }, () => ask(() => fine))))
  await clock.runUntil(ask(() => fine))
  expect(clock.nowMs()).toBe(latencyMs)
  expect(await clock.runUntil(behind)).toMatchObject({ requests: 10 })
})

const sendFine = () => Promise.resolve({ outcome: 'fine', retryAfterMs: null, settle: () => null } as const)

test('others never stop work in the background for ever', async () => {
  const others = Promise.all(Array.from({ length: 400 }, () => ask(() => fine)))
  await clock.runUntil(inBackground(() => ask(() => fine)))
  expect(clock.nowMs()).toBe(2 * latencyMs)
  await clock.runUntil(others)
})

test('a batch in the background counts as many as it holds', async () => {
  pace = new Pace({ ...defaultBounds, backgroundPerSecond: 20 }, clock)
  const batches = [20, 20, 1].map((calls) => inBackground(() => pace.run(sendFine, calls)))
  const counted = await clock.runUntil(Promise.all(batches))
  expect(counted.map(({ requests }) => requests)).toEqual([20, 20, 1])
  expect(clock.nowMs()).toBe(2000)
})
