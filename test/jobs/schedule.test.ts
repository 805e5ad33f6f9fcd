import { expect, onTestFinished, test, vi } from 'vitest'
import { startSchedule } from '../../src/jobs/schedule.ts'
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
  const schedule = await startSchedule(ticks, (error) => said.push(error))
  await until('three ticks came', () => (quick >= 3 ? true : null), 10_000)
  running.resolve(true)
  await schedule.stop()
  expect(slow).toBe(1)
  expect(said).toEqual([])
}, 20_000)

test('what a tick throws is told', async () => {
  const said = listenToConsole()
  const gone = new Error('no queue')
  const told: unknown[] = []
  const schedule = await startSchedule(
    [{ name: 'poll', expression: everySecond, run: () => Promise.reject(gone) }],
    (error) => told.push(error),
  )
  await until('a tick failed', () => (told.length > 0 ? true : null), 10_000)
  await schedule.stop()
  expect(told[0]).toBe(gone)
  expect(said).toEqual([])
}, 20_000)

test('a clock that is set back by ten minutes does not keep the ticks waiting', async () => {
  let ticks = 0
  const tick = { name: 'scan', expression: everySecond, run: () => Promise.resolve(ticks++ >= 0) }
  const schedule = await startSchedule([tick], () => undefined)
  await until('it ticks', () => (ticks > 0 ? true : null), 10_000)
  const RealDate = Date
  onTestFinished(() => void vi.unstubAllGlobals())
  const now = () => RealDate.now() - 600_000
  const setBack = class extends RealDate {
    static override now = now
    constructor(...words: [] | [number]) {
      super(words[0] ?? now())
    }
  }
  vi.stubGlobal('Date', setBack)
  // The tick that is awaited already comes; the one behind it is ten minutes away.
  const before = ticks + 1
  const { promise, resolve } = Promise.withResolvers<void>()
  const looking = setInterval(() => ticks > before + 1 && resolve(), 50)
  await promise
  clearInterval(looking)
  await schedule.stop()
}, 30_000)
