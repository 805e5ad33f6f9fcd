import { expect, test } from 'vitest'
import { at, payment, usdcOnArbitrum } from '../../support/evidence.ts'
import { reported } from '../../support/mismatch-rows/row.ts'
import { decided } from '../../support/outcome.ts'

const held = [...reported({ status: 'held', receivedAt: at(5) }), payment()]
const due = at(5 + 24 * 60)

test('what may become stuck is looked at again when it does, and not after that', () => {
  expect(decided(held, at(600)).recheckAt).toEqual(due)
  expect(decided(held, due).recheckAt).toBeNull()
})

const mismatchesAt = (now: Date) => decided(held, now).deposits.flatMap(({ verdict }) => verdict.mismatches)

test('a deposit is stuck from that moment on, and says in which state since when', () => {
  expect(mismatchesAt(new Date(due.getTime() - 1))).toEqual([])
  const loss = { asset: usdcOnArbitrum, amount: 99_900_000n, whole: 99_900_000n }
  expect(mismatchesAt(due)).toEqual([
    { kind: 'stuck', detail: { state: 'held', since: at(5).toISOString() }, loss },
  ])
})
