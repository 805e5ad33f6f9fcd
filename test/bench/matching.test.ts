import { expect, test } from 'vitest'
import { makeClaimsAndTransfers, troubles } from '../../bench/reconcile/claims-and-transfers.ts'
import { match, scoreOf } from '../../bench/reconcile/match.ts'

const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 32))
const madeUp = { seed, deposits: 10_000, troubledShare: 0.03 }

test(`ten thousand claims and transfers with 3 % trouble are matched without an error (SEED=${seed})`, () => {
  const made = makeClaimsAndTransfers(madeUp)
  for (const trouble of troubles) expect(made.counts[trouble], trouble).toBeGreaterThan(10)
  expect(scoreOf(match(made), made.truth)).toMatchObject({ precision: 1, recall: 1 })
})

test(`what is matched does not depend on the order of the evidence (SEED=${seed})`, () => {
  const { claims, chainTransfers, ...made } = makeClaimsAndTransfers({
    ...madeUp,
    deposits: 2000,
    troubledShare: 0.5,
  })
  const reversed = { ...made, claims: claims.toReversed(), chainTransfers: chainTransfers.toReversed() }
  expect(scoreOf(match(reversed), made.truth)).toMatchObject({ precision: 1, recall: 1 })
})

test('the score counts what is missing, what is too much and what is judged wrongly', () => {
  const { truth } = makeClaimsAndTransfers({ seed: 1, deposits: 4, troubledShare: 0 })
  const found = new Map([...truth].slice(0, 3))
  const [right, wrong, other] = [...found.keys()]
  if (!right || !wrong || !other) throw new Error('too few')
  found.set(wrong, { transfer: found.get(wrong)?.transfer ?? truth, agrees: false } as never)
  found.set(other, found.get(right) as never)
  expect(scoreOf(found, truth)).toEqual({ right: 1, found: 3, wanted: 4, precision: 1 / 3, recall: 0.25 })
})
