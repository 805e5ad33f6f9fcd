import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { divide } from '../../../src/core/matching/divide.ts'
import { runs } from '../../support/any-evidence.ts'
import { at, channelApproval } from '../../support/evidence.ts'
import { reported, sent, sharesOf } from '../../support/forwards.ts'

const three = { amount: [30, 40, 50], sent: fc.shuffledSubarray(['x', 'y', 'z'], { minLength: 1 }) }

/** A true history: deposits that are paid out of transactions, each of which is the sum of what it pays for. */
const anyTruth = fc
  .array(fc.record({ amount: fc.constantFrom(...three.amount), sent: three.sent }), {
    minLength: 1,
    maxLength: 5,
  })
  .map((deposits) => {
    const legs = new Map<string, number>()
    const claims = deposits.flatMap(({ amount, sent: txs }, number) => {
      txs.forEach((tx, place) => {
        const part = place === 0 ? amount - 10 * (txs.length - 1) : 10
        legs.set(tx, (legs.get(tx) ?? 0) + part)
      })
      const status = (place: number) => (place === txs.length - 1 ? 'settled' : 'settling')
      return txs.map((tx, place) =>
        reported(`d${number}`, [amount, tx], { status: status(place), receivedAt: at(place) }),
      )
    })
    return { claims, legs: [...legs].map(([tx, amount]) => sent(tx, amount)) }
  })

test('of every true history each deposit gets what is stated, and the shares of a transfer add up to it', () => {
  fc.assert(
    fc.property(anyTruth, ({ claims, legs }) => {
      const { evidences, unmatchedDeliveries } = divide([...claims, ...legs], [channelApproval])
      const given = new Map<string, bigint>()
      for (const { serviceId, settlements } of evidences) {
        const stated = claims.find((one) => one.serviceId === serviceId)?.settlement?.amount
        expect(settlements.reduce((sum, { amount }) => sum + amount, 0n)).toBe(stated)
        for (const { tx, amount } of settlements) given.set(tx, (given.get(tx) ?? 0n) + amount)
      }
      expect(unmatchedDeliveries).toEqual([])
      expect(given).toEqual(new Map(legs.map(({ tx, amount }) => [tx, amount])))
    }),
    runs,
  )
})

test('whatever is told and sent, no more of a transfer is given than it brought, and in any order the same', () => {
  const anything = fc.tuple(
    anyTruth,
    fc.array(fc.record({ tx: fc.constantFrom('x', 'y'), amount: fc.constantFrom(0, 10, 50) })),
  )
  fc.assert(
    fc.property(anything, fc.infiniteStream(fc.nat(100)), ([{ claims, legs }, more], random) => {
      const others = more.map(({ tx, amount }, place) => sent(tx, amount, { index: `${place + 1}` }))
      const all = [...claims, ...legs, ...others]
      const { evidences } = divide(all, [channelApproval])
      const given = new Map<string, bigint>()
      for (const { ref, amount, whole } of evidences.flatMap(({ settlements }) => settlements)) {
        given.set(ref, (given.get(ref) ?? 0n) + amount)
        expect(given.get(ref)).toBeLessThanOrEqual(whole)
      }
      const shuffled = all
        .map((one) => ({ one, place: random.next().value ?? 0 }))
        .toSorted((left, right) => left.place - right.place)
        .map(({ one }) => one)
      expect(sharesOf(shuffled)).toEqual(sharesOf(all))
    }),
    runs,
  )
})
