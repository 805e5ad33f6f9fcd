import { expect, test } from 'vitest'
import { coalesceRuns, throttleRuns } from '../../../src/jobs/queue/limit-runs.ts'

function held() {
  const runs: { end: () => void; fail: (error: Error) => void }[] = []
  const run = () => new Promise<void>((resolve, reject) => runs.push({ end: resolve, fail: reject }))
  return { runs, run }
}

const settle = () => new Promise(setImmediate)

test('all who ask during a run share one more run that starts after it', async () => {
  const share = coalesceRuns()
  const { runs, run } = held()
  const first = share('a', run)
  const later = [share('a', run), share('a', run), share('a', run)]
  await settle()
  expect(runs).toHaveLength(1)
  runs[0]?.end()
  await first
  await settle()
  expect(runs).toHaveLength(2)
  runs[1]?.end()
  await Promise.all(later)
  expect(runs).toHaveLength(2)
})

test('who asks during the second run gets a third', async () => {
  const share = coalesceRuns()
  const { runs, run } = held()
  const asked = [share('a', run), share('a', run)]
  runs[0]?.end()
  await settle()
  asked.push(share('a', run))
  runs[1]?.end()
  await settle()
  runs[2]?.end()
  await Promise.all(asked)
  expect(runs).toHaveLength(3)
})

test('a failed run fails those who shared it and no others', async () => {
  const share = coalesceRuns()
  const { runs, run } = held()
  const outcomes = Promise.allSettled([share('a', run), share('a', run)])
  runs[0]?.fail(new Error('away'))
  await settle()
  runs[1]?.end()
  expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
})

test('runs of other ids do not wait for each other', () => {
  const share = coalesceRuns()
  const { runs, run } = held()
  void share('a', run)
  void share('b', run)
  expect(runs).toHaveLength(2)
})

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
