import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { allocate } from '../../../src/core/matching/allocate.ts'
import { runs } from '../../support/any-evidence.ts'

const amount = fc.integer({ min: 0, max: 5 }).map(BigInt)
const anyCase = fc.record({
  wants: fc.array(fc.record({ want: amount, from: fc.uniqueArray(fc.nat(3), { maxLength: 4 }) }), {
    maxLength: 4,
  }),
  holds: fc.array(amount, { minLength: 4, maxLength: 4 }),
})

function shared(wants: readonly { want: bigint; from: readonly number[] }[], holds: readonly bigint[]) {
  return allocate<number, number>({
    takers: [...wants.keys()],
    sources: [...holds.keys()],
    wants: (taker) => wants[taker]?.want ?? 0n,
    holds: (source) => holds[source] ?? 0n,
    sourcesOf: (taker) => wants[taker]?.from ?? [],
  })
}

/** By Hall's condition: no set of takers wants more than all the sources hold that any of them may take from. */
function isPossible(
  wants: readonly { want: bigint; from: readonly number[] }[],
  holds: readonly bigint[],
): boolean {
  return Array.from({ length: 2 ** wants.length }, (_, set) =>
    wants.filter((_one, place) => set & (1 << place)),
  ).every((takers) => {
    const sources = new Set(takers.flatMap(({ from }) => from))
    const wanted = takers.reduce((sum, { want }) => sum + want, 0n)
    return wanted <= [...sources].reduce((sum, source) => sum + (holds[source] ?? 0n), 0n)
  })
}

test('everybody gets exactly what it wants from where it may, exactly if that is possible', () => {
  fc.assert(
    fc.property(anyCase, ({ wants, holds }) => {
      const shares = shared(wants, holds)
      expect(shares !== null).toBe(isPossible(wants, holds))
      if (shares === null) return
      const left = [...holds]
      for (const [taker, parts] of shares) {
        expect([...parts.values()].reduce((sum, part) => sum + part, 0n)).toBe(wants[taker]?.want)
        for (const [source, part] of parts) {
          expect(wants[taker]?.from).toContain(source)
          left[source] = (left[source] ?? 0n) - part
        }
      }
      expect(left.every((rest) => rest >= 0n)).toBe(true)
    }),
    runs,
  )
})

test('who wants all that a source holds gets that one, whoever comes first', () => {
  const from = [0, 1]
  const shares = shared(
    [
      { want: 2n, from },
      { want: 3n, from },
    ],
    [3n, 2n],
  )
  expect([...(shares ?? [])].map(([taker, parts]) => [taker, ...parts.keys()])).toEqual([
    [0, 1],
    [1, 0],
  ])
})

test('a source that holds nothing is only for who wants nothing', () => {
  expect(shared([{ want: 2n, from: [0, 1] }], [0n, 3n])?.get(0)).toEqual(new Map([[1, 2n]]))
  expect(shared([{ want: 3n, from: [0, 1] }], [3n, 0n])?.get(0)).toEqual(new Map([[0, 3n]]))
  expect(shared([{ want: 0n, from: [0] }], [0n])?.get(0)).toEqual(new Map([[0, 0n]]))
  const used = shared(
    [
      { want: 3n, from: [0] },
      { want: 0n, from: [0] },
    ],
    [3n],
  )
  expect(used?.get(1)).toEqual(new Map())
})

test('what is short is passed on along all takers, however many are short', () => {
  const numbers = Array.from({ length: 200 }, (_, place) => place)
  const whole = numbers.map((place) => ({ want: 200n, from: [place, place + 1] }))
  const short = numbers.map(() => ({ want: 1n, from: [0] }))
  const shares = shared(
    [...whole, ...short],
    [...numbers, 200].map(() => 200n),
  )
  expect(shares?.get(0)).toEqual(new Map([[1, 200n]]))
  expect(shares?.get(199)).toEqual(new Map([[200, 200n]]))
  expect(shares?.get(399)).toEqual(new Map([[0, 1n]]))
})
