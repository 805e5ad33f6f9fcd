import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { mapBounded } from '../../src/chain/map-bounded.ts'

test('it maps in order with no more calls under way than allowed', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer()), fc.integer({ min: 1, max: 9 }), async (items, atOnce) => {
      let underWay = 0
      const doubled = await mapBounded(items, atOnce, async (item) => {
        underWay++
        expect(underWay).toBeLessThanOrEqual(atOnce)
        await Promise.resolve()
        underWay--
        return item * 2
      })
      expect(doubled).toEqual(items.map((item) => item * 2))
    }),
  )
})

test('after a failure no further call is made', async () => {
  const called: number[] = []
  const failing = mapBounded([1, 2, 3, 4, 5, 6], 2, async (item) => {
    called.push(item)
    await Promise.resolve()
    throw new Error(`no ${item}`)
  })
  await expect(failing).rejects.toThrow('no 1')
  expect(called).toEqual([1, 2])
})
