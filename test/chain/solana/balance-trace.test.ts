import { array, assert, bigInt, boolean, integer, property, record } from 'fast-check'
import { expect, test } from 'vitest'
import { type BalanceTrace, balancesReported, type Touch } from '../../../src/chain/solana/balance-history.ts'

const last = 60
/** What transactions did to one of three accounts, in their order; nobody tells of those that are hidden. */
const histories = array(
  record({
    slot: integer({ min: 1, max: last }),
    account: integer({ min: 0, max: 2 }),
    change: bigInt({ min: -3n, max: 3n }),
    hidden: boolean(),
  }),
  { maxLength: 25 },
).map((changes) => changes.toSorted((left, right) => left.slot - right.slot))

type Changes = typeof histories extends { generate(...args: never): { value: infer Value } } ? Value : never

const sum = (changes: Changes) => changes.reduce((total, { change }) => total + change, 0n)

/** The first and last told transaction of each slot, with the balances as they were. */
function traceOf(account: number, all: Changes): BalanceTrace {
  const touches = new Map<number, Touch>()
  let held = 0n
  for (const { slot, change, hidden } of all.filter((one) => one.account === account)) {
    const before = touches.get(slot)?.before ?? held
    held += change
    if (!hidden) touches.set(slot, { slot: BigInt(slot), before, after: held })
  }
  return { touches: [...touches.values()], now: held }
}

function reported(all: Changes) {
  return balancesReported(
    [0, 1, 2].map((account) => traceOf(account, all)),
    { from: 1n, to: BigInt(last) },
  )
}

test('where nothing is hidden, balances are told around each slot, and are right', () => {
  assert(
    property(histories, (all) => {
      const open = all.map((change) => ({ ...change, hidden: false }))
      const balances = reported(open)
      for (const { height, amount } of balances) {
        expect(amount).toBe(sum(open.filter(({ slot }) => slot <= height)))
      }
      const heights = balances.map(({ height }) => Number(height))
      expect(heights).toEqual([...new Set(heights)].toSorted((left, right) => left - right))
      for (const { slot } of open) expect(heights).toContain(slot)
    }),
  )
})

test('around one hidden transaction no balance that is told is wrong', () => {
  assert(
    property(histories, integer({ min: 0, max: 24 }), (all, which) => {
      const changes = all.map((change, place) => ({ ...change, hidden: place === which }))
      for (const { height, amount } of reported(changes)) {
        expect(amount).toBe(sum(changes.filter(({ slot }) => slot <= height)))
      }
    }),
  )
})
