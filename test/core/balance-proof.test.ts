import { array, assert, bigInt, boolean, integer, property, record } from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type Balance,
  type BalanceSearch,
  beginSearch,
  isNarrow,
  narrowSearch,
  nextHeight,
  spansBetween,
  unexplained,
} from '../../src/core/balance-proof.ts'

const start = { height: 100n, amount: 50n }

describe('a change of a balance', () => {
  it.each([
    { what: 'a payment that is known', amount: 80n, known: 30n, rest: 0n },
    { what: 'a payment that nobody saw', amount: 80n, known: 0n, rest: 30n },
    { what: 'something that went out unseen', amount: 10n, known: 0n, rest: -40n },
    { what: 'less than was received, as of a token that takes a fee', amount: 77n, known: 30n, rest: -3n },
    { what: 'nothing at all, though a payment is known', amount: 50n, known: 30n, rest: -30n },
  ])('by $what leaves $rest unexplained', ({ amount, known, rest }) => {
    expect(unexplained({ start, end: { height: 110n, amount } }, known)).toBe(rest)
  })
})

/** One change in one block: `hidden` ones are on no record. */
type Event = { height: number; change: bigint; hidden: boolean }

const length = 1000
const histories = array(
  record({
    height: integer({ min: 1, max: length }),
    change: bigInt({ min: -1000n, max: 1000n }),
    hidden: boolean(),
  }),
  { maxLength: 40 },
)

const sum = (events: readonly Event[]) => events.reduce((total, { change }) => total + change, 0n)

/** Heights up to `blindTo` have no balance to read. */
function search(events: readonly Event[], blindTo = 0) {
  const balanceAt = (height: bigint): Balance => ({
    height,
    amount: sum(events.filter((event) => event.height <= height)),
  })
  const known = (above: bigint, upTo: bigint) =>
    sum(events.filter((event) => !event.hidden && event.height > above && event.height <= upTo))
  let probes = 0
  let state: BalanceSearch = beginSearch({ start: balanceAt(0n), end: balanceAt(BigInt(length)) })
  if (unexplained(state, known(0n, BigInt(length))) === 0n) return null
  for (;;) {
    const height = nextHeight(state)
    if (height === null)
      return { ...state, probes, rest: unexplained(state, known(state.start.height, state.end.height)) }
    probes++
    const amount = height <= blindTo ? null : balanceAt(height).amount
    state = narrowSearch(state, { height, amount }, known(state.start.height, height))
  }
}

const hiddenIn = (events: readonly Event[], above: bigint, upTo: bigint) =>
  sum(events.filter((event) => event.hidden && event.height > above && event.height <= upTo))

describe('the search for the block', () => {
  it('ends at one block that holds something hidden, and at exactly that', () => {
    assert(
      property(histories, (events) => {
        const found = search(events)
        if (found === null) return
        expect(isNarrow(found)).toBe(true)
        expect(found.rest).not.toBe(0n)
        expect(found.rest).toBe(hiddenIn(events, found.start.height, found.end.height))
        expect(found.probes).toBeLessThanOrEqual(10)
      }),
    )
  })

  it('keeps an interval that holds the change where the node no longer has the balances', () => {
    assert(
      property(histories, integer({ min: 0, max: length }), (events, blindTo) => {
        const found = search(events, blindTo)
        if (found === null) return
        expect(found.rest).toBe(hiddenIn(events, found.start.height, found.end.height))
        expect(found.rest).not.toBe(0n)
        expect(found.end.height - found.start.height <= Math.max(1, blindTo) + 1).toBe(true)
      }),
    )
  })

  it('has spans between balances in their order', () => {
    const [one, two, end] = [103n, 104n, 110n].map((height) => ({ height, amount: 1n }))
    if (!one || !two || !end) throw new Error('three balances')
    const spans = spansBetween({ start, end }, [one, two])
    expect(spans).toEqual([
      { start, end: one },
      { start: one, end: two },
      { start: two, end },
    ])
    expect(spans.map(isNarrow)).toEqual([false, true, false])
    for (const wrong of [[two, one], [end], [start]])
      expect(() => spansBetween({ start, end }, wrong)).toThrow(
        'balances lie between the ends, in their order',
      )
  })

  it('reads no height twice, and none outside', () => {
    const state = beginSearch({ start, end: { height: 104n, amount: 51n } })
    expect(nextHeight(state)).toBe(102n)
    expect(() => narrowSearch(state, { height: 104n, amount: 51n }, 0n)).toThrow(/between its ends/)
    expect(() =>
      narrowSearch(
        narrowSearch(state, { height: 102n, amount: null }, 0n),
        { height: 102n, amount: 50n },
        0n,
      ),
    ).toThrow()
    expect(nextHeight(beginSearch({ start, end: { height: 101n, amount: 51n } }))).toBeNull()
  })
})
