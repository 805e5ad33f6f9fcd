import { expect, test } from 'vitest'
import { throttleRuns } from '../../../src/jobs/chain/throttle-runs.ts'

function counted(everyMs: number) {
  const ranAt: number[] = []
  const runs = throttleRuns(everyMs, () => {
    ranAt.push(performance.now())
    return Promise.resolve()
  })
  return { ...runs, ranAt }
}

test('whoever asks first is served at once, and all who ask soon after it share one more run', async () => {
  const { ask, stop, ranAt } = counted(30)
  ask()
  expect(ranAt).toHaveLength(1)
  ask()
  ask()
  expect(ranAt).toHaveLength(1)
  await expect.poll(() => ranAt.length).toBe(2)
  // Timers of Node may be early by less than a millisecond.
  expect((ranAt[1] ?? 0) - (ranAt[0] ?? 0)).toBeGreaterThan(28)
  await stop()
  expect(ranAt).toHaveLength(2)
})

test('who asks after a rest is served at once', async () => {
  const { ask, stop, ranAt } = counted(1)
  ask()
  await new Promise((resolve) => setTimeout(resolve, 20))
  ask()
  expect(ranAt).toHaveLength(2)
  await stop()
})

test('a run that is owed is made up for at the stop', async () => {
  const { ask, stop, ranAt } = counted(60_000)
  ask()
  ask()
  await stop()
  expect(ranAt).toHaveLength(2)
})
