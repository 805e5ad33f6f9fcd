import { setImmediate as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { mapBounded } from '../../../src/service/running/requests.ts'

test('the results keep the order of the items, however long each takes', async () => {
  const items = Array.from({ length: 20 }, (_, place) => place)
  const results = await mapBounded(items, 4, async (item) => {
    for (let turn = 0; turn < (item * 7) % 5; turn++) await pause()
    return item * 10
  })
  expect(results).toEqual(items.map((item) => item * 10))
})

test('no more than that many run at once, and a slow one keeps no place but its own', async () => {
  let [running, most, done] = [0, 0, 0]
  const slow = Promise.withResolvers<void>()
  await mapBounded(
    Array.from({ length: 10 }, (_, place) => place),
    3,
    async (item) => {
      most = Math.max(most, ++running)
      if (item === 0) await slow.promise
      await pause()
      running--
      if (++done === 9) slow.resolve()
    },
  )
  expect(most).toBe(3)
  expect(done).toBe(10)
})

test('where one fails, none is begun any more', async () => {
  const begun: number[] = []
  const work = mapBounded([0, 1, 2, 3, 4, 5], 2, async (item) => {
    begun.push(item)
    await pause()
    if (item === 1) throw new Error('broken')
  })
  await expect(work).rejects.toThrow('broken')
  await pause()
  await pause()
  expect(begun).not.toContain(5)
})

test('of nothing comes nothing', async () => {
  expect(await mapBounded([], 4, () => Promise.resolve(1))).toEqual([])
})
