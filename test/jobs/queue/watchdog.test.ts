import { expect, test } from 'vitest'
import { createWatchdog } from '../../../src/jobs/queue/queue.ts'

function watched() {
  const state = { progress: 0, busy: false, waiting: 0, replaced: 0 }
  const check = createWatchdog({
    progress: () => state.progress,
    busy: () => state.busy,
    waiting: () => Promise.resolve(state.waiting),
    replace: () => state.replaced++,
  })
  const checks = async (times: number) => {
    for (let time = 0; time < times; time++) await check()
  }
  return { state, checks }
}

test('a worker that takes nothing although work waits is replaced at the third look, and again at the sixth', async () => {
  const { state, checks } = watched()
  state.waiting = 1
  await checks(2)
  expect(state.replaced).toBe(0)
  await checks(1)
  expect(state.replaced).toBe(1)
  await checks(3)
  expect(state.replaced).toBe(2)
})

test.each([
  ['nothing waits', { waiting: 0 }],
  ['all hands are busy', { waiting: 5, busy: true }],
])('it is left alone while %s', async (_what, change) => {
  const { state, checks } = watched()
  Object.assign(state, change)
  await checks(10)
  expect(state.replaced).toBe(0)
})

test('any progress clears the suspicion', async () => {
  const { state, checks } = watched()
  state.waiting = 1
  await checks(2)
  state.progress++
  await checks(1)
  await checks(2)
  expect(state.replaced).toBe(0)
})

test('work that begins while it is being counted is progress', async () => {
  const state = { progress: 0, replaced: 0 }
  const check = createWatchdog({
    progress: () => state.progress,
    busy: () => false,
    waiting: () => Promise.resolve(++state.progress),
    replace: () => state.replaced++,
  })
  for (let time = 0; time < 10; time++) await check()
  expect(state.replaced).toBe(0)
})
