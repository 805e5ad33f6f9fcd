import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { GroupVerdict } from '../../src/core/decide.ts'
import type { Observation } from '../../src/core/evidence.ts'
import type { Journal } from '../../src/core/posting.ts'
import { anyWorld } from '../support/any-world.ts'
import {
  at,
  channelApproval,
  claim,
  liquidity,
  payment,
  policy,
  walletApproval,
} from '../support/evidence.ts'
import { backApproval } from '../support/made-up-routes.ts'
import { decideAtOnce, ModelBooks } from '../support/model-books.ts'

const rules = { policy, routes: [], senders: new Set([`arbitrum/${liquidity}`, `base/${liquidity}`]) }
const approvals = [channelApproval, walletApproval, backApproval]
const late = at(3000)

/** Chosen anew each time, unless it is given; `SEED` and `RUNS` repeat a run. */
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31))
const runs = { seed, numRuns: Number(process.env.RUNS ?? 300) }
process.stdout.write(`seed ${seed}\n`)

/** The same observation, its fields in the opposite order: as a store may give it back. */
function turned(value: Observation): Observation {
  return turnedOver(value) as Observation
}

function turnedOver(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  if (Array.isArray(value)) return value.map(turnedOver)
  const fields = Object.entries(value).map(([name, field]) => [name, turnedOver(field)] as const)
  return Object.fromEntries(fields.toReversed())
}

/** What is decided, without numbers, without when it was noticed, and in an order of its own. */
function outcome(decisions: readonly GroupVerdict[]): string[] {
  const reported = decisions.flatMap(({ deposits, unmatchedDeliveries, withdrawals }) => [
    ...deposits.map(
      ({ evidence: { serviceId, deposit }, verdict, payment: paid, delivery: sent, milestones, steps }) => ({
        serviceId,
        ref: deposit?.ref,
        verdict,
        paid,
        sent,
        steps,
        milestones: { ...milestones, reconciledAt: null },
      }),
    ),
    ...unmatchedDeliveries,
    ...withdrawals,
  ])
  return reported.map((one) => JSON.stringify(one, asText)).toSorted()
}

function asText(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(
    Object.entries(value).toSorted(([left], [right]) => left.localeCompare(right, 'en')),
  )
}

/** What each payment has on each account, of each time, after all journals. */
function netBooks(journals: readonly Journal[]): Record<string, bigint> {
  const sums = new Map<string, bigint>()
  const add = (key: string, amount: bigint) => sums.set(key, (sums.get(key) ?? 0n) + amount)
  for (const { transfer, transfers, eventAt } of journals) {
    for (const { debit, credit, asset, amount } of transfers) {
      const then = `${asset} at ${eventAt.toISOString()}`
      add(`${transfer} ${debit} ${then}`, amount)
      add(`${transfer} ${credit} ${then}`, 0n - amount)
    }
  }
  return Object.fromEntries([...sums].filter(([, sum]) => sum !== 0n))
}

function journalsOf(decisions: readonly GroupVerdict[]): Journal[] {
  return decisions.flatMap(({ deposits, withdrawalJournals }) => [
    ...deposits.flatMap(({ journals }) => journals),
    ...withdrawalJournals,
  ])
}

/** Evidence in some order, some of it twice, cut into batches at some places, each with the minute of its coming. */
const anyHistory = anyWorld.chain((world) =>
  fc.record({
    world: fc.constant(world),
    reported: fc.shuffledSubarray([...world, ...world.map(turned)], { minLength: world.length * 2 }),
    cuts: fc.array(fc.nat({ max: world.length * 2 }), { maxLength: 6 }),
    minutes: fc.array(fc.nat({ max: 300 }), { minLength: 7, maxLength: 7 }),
  }),
)

test('however evidence comes in, what is decided in the end and what is booked are the same', () => {
  fc.assert(
    fc.property(anyHistory, ({ world, reported, cuts, minutes }) => {
      const atOnce = decideAtOnce(world, approvals, { rules, now: late })
      const books = new ModelBooks(approvals, rules)
      const places = [0, ...cuts.toSorted((left, right) => left - right), reported.length]
      const times = minutes.toSorted((left, right) => left - right)
      for (const [place, from] of places.entries()) {
        books.apply(reported.slice(from, places[place + 1]), at(times[place] ?? 3000))
      }
      const decided = books.settle(late)
      expect(outcome(decided)).toEqual(outcome(atOnce))
      expect(netBooks(books.journals)).toEqual(netBooks(journalsOf(atOnce)))
      expect(journalsOf(books.settle(late))).toEqual([])
    }),
    runs,
  )
})

test('with opening balances, only what happened later is booked, in whatever order evidence and opening come', () => {
  const anyOpening = fc.record({
    history: anyHistory,
    minute: fc.integer({ min: -10, max: 300 }),
    place: fc.nat(),
  })
  fc.assert(
    fc.property(anyOpening, ({ history: { world, reported }, minute, place }) => {
      const openedAt = at(minute)
      const all = journalsOf(decideAtOnce(world, approvals, { rules, now: late }))
      const books = new ModelBooks(approvals, rules)
      const before = place % (reported.length + 1)
      books.apply(reported.slice(0, before), at(minute))
      books.openedAt = openedAt
      books.apply(reported.slice(before), late)
      books.settle(late)
      expect(netBooks(books.journals)).toEqual(netBooks(all.filter(({ eventAt }) => eventAt > openedAt)))
      books.openedAt = null
      books.settle(late)
      expect(netBooks(books.journals)).toEqual(netBooks(all))
    }),
    runs,
  )
})

test('of two words of one moment the same one holds, in whatever order they and their fields are', () => {
  const [failed, refunded] = [claim({ status: 'failed' }), claim({ status: 'refunded' })]
  const all = [
    [failed, refunded],
    [refunded, failed],
    [turned(failed), refunded],
    [refunded, turned(failed)],
    [failed, turned(refunded)],
    [turned(refunded), failed],
  ]
  const outcomes = all.map((words) =>
    outcome(decideAtOnce([payment(), ...words], approvals, { rules, now: late })),
  )
  expect(new Set(outcomes.map(String)).size).toBe(1)
})

test('no posting key is used twice, however evidence comes in', () => {
  fc.assert(
    fc.property(anyHistory, ({ reported }) => {
      const books = new ModelBooks(approvals, rules)
      for (const [place, one] of reported.entries()) books.apply([one], at(place * 5))
      const keys = books.journals.map(({ key }) => key)
      expect(keys.length).toBe(new Set(keys).size)
    }),
    { ...runs, numRuns: Math.ceil(runs.numRuns / 10) },
  )
})
