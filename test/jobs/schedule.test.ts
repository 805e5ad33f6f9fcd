import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { parseSettings } from '../../src/config/settings.ts'
import { expectedStreams, longestPause, startSchedule } from '../../src/jobs/schedule.ts'
import { judgingEnvironment } from '../support/judging-environment.ts'
import { until } from '../support/until.ts'

const everySecond = '* * * * * *'

/** What is written past the log meanwhile. */
function listenToConsole(): unknown[] {
  const said: unknown[] = []
  const { warn, error } = console
  onTestFinished(() => void Object.assign(console, { warn, error }))
  const note = (...all: unknown[]) => said.push(all)
  Object.assign(console, { warn: note, error: note })
  return said
}

test('a tick that comes while the same one runs is left out, without a word', async () => {
  const said = listenToConsole()
  const running = Promise.withResolvers<boolean>()
  let [slow, quick] = [0, 0]
  const ticks = [
    { name: 'slow', expression: everySecond, run: () => (slow++, running.promise) },
    { name: 'quick', expression: everySecond, run: () => Promise.resolve(quick++ >= 0) },
  ]
  const end = startSchedule(ticks, (error) => said.push(error))
  await until('three ticks came', () => (quick >= 3 ? true : null), 10_000)
  running.resolve(true)
  end()
  expect(slow).toBe(1)
  expect(said).toEqual([])
}, 20_000)

test('what a tick throws is told', async () => {
  const said = listenToConsole()
  const gone = new Error('no queue')
  const reported: unknown[] = []
  const end = startSchedule(
    [{ name: 'poll', expression: everySecond, run: () => Promise.reject(gone) }],
    (error) => reported.push(error),
  )
  await until('a tick failed', () => (reported.length > 0 ? true : null), 10_000)
  end()
  expect(reported[0]).toBe(gone)
  expect(said).toEqual([])
}, 20_000)

/** @returns puts it right again */
function setClockBack(): () => void {
  const RealDate = Date
  const now = () => RealDate.now() - 600_000
  const setBack = class extends RealDate {
    static override now = now
    constructor(...words: [] | [number]) {
      super(words[0] ?? now())
    }
  }
  onTestFinished(() => void vi.unstubAllGlobals())
  vi.stubGlobal('Date', setBack)
  return () => vi.unstubAllGlobals()
}

/** Counts what ticks each second. */
async function startTicking() {
  const counted = { ticks: 0 }
  const tick = { name: 'scan', expression: everySecond, run: () => Promise.resolve(counted.ticks++ >= 0) }
  onTestFinished(startSchedule([tick], () => undefined))
  await until('it ticks', () => (counted.ticks > 0 ? true : null), 10_000)
  return counted
}

/** By a clock that is not set. */
async function untilTicks(counted: { ticks: number }, least: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const looking = setInterval(() => counted.ticks >= least && resolve(), 50)
  await promise
  clearInterval(looking)
}

test('a clock that is set back by ten minutes does not keep the ticks waiting', async () => {
  const counted = await startTicking()
  setClockBack()
  // The tick that is awaited already comes; the one behind it is ten minutes away.
  await untilTicks(counted, counted.ticks + 3)
}, 30_000)

test('a clock that was set back for the moment in which a tick was due does not, either', async () => {
  const counted = await startTicking()
  const momentMs = 100
  await sleep(1000 - (Date.now() % 1000) - momentMs)
  const setRight = setClockBack()
  await sleep(2 * momentMs)
  setRight()
  await untilTicks(counted, counted.ticks + 3)
}, 30_000)

test('a tick that a busy process comes too late for is done late', async () => {
  const counted = await startTicking()
  const [before, blockedMs] = [counted.ticks, 3500]
  const seconds = new Date().getSeconds() + 1
  const once = {
    name: 'audit',
    expression: `${seconds % 60} * * * * *`,
    run: () => Promise.resolve(++runs > 0),
  }
  let runs = 0
  onTestFinished(startSchedule([once], () => undefined))
  for (const end = performance.now() + blockedMs; performance.now() < end; );
  await untilTicks(counted, before + 2)
  expect(runs).toBe(1)
}, 30_000)

const expectedOf = (schedule: string) => {
  const environment = {
    ...judgingEnvironment('postgres://x@localhost/x'),
    RPC_BASE: 'http://127.0.0.1:9',
    DEPOSITD_CONFIG: 'settings.yaml',
  }
  const expected = expectedStreams(parseSettings(environment, () => `schedule: { ${schedule} }`))
  return [expected.get('poll'), expected.get('scan/base')]
}

test('what is read often may go unread for five minutes, what is read seldom for two of its pauses', () => {
  expect(expectedOf('')).toEqual([300, 300])
  expect(expectedOf('pollQuiet: 10m')).toEqual([1200, 300])
  expect(expectedOf('poll: "0 0 * * * *"')).toEqual([7200, 300])
  expect(expectedOf('scan: "0 */10 * * * *"')).toEqual([300, 1200])
})

test('the longest pause between ticks counts', () => {
  expect(longestPause('*/5 * * * * *')).toBe(5)
  expect(longestPause('0 0,20 * * * *')).toBe(2400)
  expect(longestPause('0 0 0 * * *')).toBeGreaterThanOrEqual(86_400)
})
