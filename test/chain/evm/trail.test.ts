import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { extendTrail, markHeights } from '../../../src/chain/evm/track.ts'
import type { BlockMark } from '../../../src/chain/types.ts'

const mark = (height: bigint): BlockMark => ({ height, hash: `h${height}` })

function trailAfter(steps: readonly bigint[]): { newest: BlockMark; trail: BlockMark[] } {
  let newest = mark(0n)
  let trail: BlockMark[] = []
  for (const step of steps) {
    const next = mark(newest.height + step)
    trail = extendTrail(next, [newest, ...trail])
    newest = next
  }
  return { newest, trail }
}

test('a trail is bounded, falls, and stays below the newest mark, however a chain is read', () => {
  fc.assert(
    fc.property(fc.array(fc.bigInt(0n, 500n), { maxLength: 400 }), (steps) => {
      const { newest, trail } = trailAfter(steps)
      expect(trail.length).toBeLessThanOrEqual(64)
      const heights = [newest, ...trail].map(({ height }) => height)
      expect(heights.every((height, place) => place === 0 || height < (heights[place - 1] ?? 0n))).toBe(true)
    }),
  )
})

test('read block by block, it keeps the near blocks and still reaches back over 100,000', () => {
  const { newest, trail } = trailAfter(Array.from({ length: 100_000 }, () => 1n))
  expect(trail.slice(0, 4).map(({ height }) => newest.height - height)).toEqual([1n, 2n, 3n, 4n])
  expect(newest.height - (trail.at(-1)?.height ?? newest.height)).toBeGreaterThan(50_000n)
})

test('a long reading leaves marks that go back to its beginning, and all of them are kept', () => {
  const heights = markHeights({ from: 1n, to: 100_000n })
  expect(heights.slice(0, 6).map((height) => 100_000n - height)).toEqual([1n, 2n, 3n, 4n, 6n, 9n])
  expect(heights.length).toBeLessThan(32)
  expect(heights.at(-1)).toBeLessThan(50_000n)
  expect(extendTrail(mark(100_000n), heights.map(mark))).toEqual(heights.map(mark))
  expect(markHeights({ from: 1n, to: 64n })).toEqual([])
})
