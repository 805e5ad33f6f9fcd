import { expect, test } from 'vitest'
import { cacheRead } from '../../src/ops/cached-read.ts'

/** A reading that takes as long as told, by a clock of its own. */
function create(changes: { shortMs?: number } = {}) {
  const state = { nowMs: 0, takesMs: 10, reads: 0, fails: false }
  let finish: (() => void) | null = null
  const read = () => {
    state.reads++
    const number = state.reads
    if (state.takesMs === Infinity) return new Promise<number>((resolve) => (finish = () => resolve(number)))
    state.nowMs += state.takesMs
    return state.fails ? Promise.reject(new Error('no database')) : Promise.resolve(number)
  }
  const ask = cacheRead(read, {
    shortMs: 0,
    timesKept: 100,
    waitMs: 1,
    hangMs: 20,
    nowMs: () => state.nowMs,
    ...changes,
  })
  return { state, ask, finish: () => finish?.() }
}

test('what took ten milliseconds is used again for a hundred times as long, and then read anew', async () => {
  const { state, ask } = create()
  expect(await ask()).toEqual({ value: 1, ageSeconds: 0.01 })
  state.nowMs = 1009
  expect(await ask()).toEqual({ value: 1, ageSeconds: 1.009 })
  state.nowMs = 1010
  expect(await ask()).toMatchObject({ value: 2 })
})

test('what is short to read is read for everybody, and of what takes longer all that it took counts', async () => {
  const { state, ask } = create({ shortMs: 10 })
  await ask()
  expect(await ask()).toMatchObject({ value: 2 })
  state.takesMs = 11
  expect(await ask()).toMatchObject({ value: 3 })
  state.nowMs += 1099
  expect(await ask()).toMatchObject({ value: 3 })
  state.nowMs += 1
  expect(await ask()).toMatchObject({ value: 4 })
})

test('what took very long is read anew after a minute all the same', async () => {
  const { state, ask } = create()
  state.takesMs = 5000
  await ask()
  state.nowMs = 5000 + 59_999
  expect(await ask()).toMatchObject({ value: 1 })
  state.nowMs += 1
  expect(await ask()).toMatchObject({ value: 2 })
})

test('many who ask at once share one reading', async () => {
  const { state, ask } = create()
  const all = await Promise.all(Array.from({ length: 20 }, () => ask()))
  expect(new Set(all.map(({ value }) => value))).toEqual(new Set([1]))
  expect(state.reads).toBe(1)
})

test('who asks while it is read anew is told what was read before, and the next one what is read then', async () => {
  const { state, ask, finish } = create()
  await ask()
  state.nowMs = 2000
  state.takesMs = Infinity
  expect(await ask()).toMatchObject({ value: 1 })
  state.nowMs += 10
  finish()
  await new Promise((resolve) => setImmediate(resolve))
  expect(await ask()).toMatchObject({ value: 2 })
  expect(state.reads).toBe(2)
})

test('a reading that hangs is a failure after a while, and what was read before is told no more', async () => {
  const { state, ask } = create()
  await ask()
  state.nowMs = 2000
  state.takesMs = Infinity
  expect(await ask()).toMatchObject({ value: 1 })
  state.nowMs += 20
  await expect(ask()).rejects.toThrow(/takes over 20 ms/)
})

test('a first reading that hangs is waited for so long and no longer', async () => {
  const { state, ask } = create()
  state.takesMs = Infinity
  await expect(ask()).rejects.toThrow(/takes over 20 ms/)
})

test('what failed is not told, and is read again when somebody asks', async () => {
  const { state, ask } = create()
  await ask()
  state.nowMs = 2000
  state.fails = true
  await expect(ask()).rejects.toThrow('no database')
  state.fails = false
  expect(await ask()).toMatchObject({ value: 3 })
})
