import { describe, expect, test } from 'vitest'
import { mismatchKinds } from '../../../src/core/mismatch.ts'
import {
  type DepositKnob,
  faultKnobs,
  faultTable,
  type RequestKnob,
} from '../../../src/service/faults/fault-table.ts'
import { createFaults } from '../../../src/service/faults/faults.ts'

const deposits = Array.from({ length: 2000 }, (_, place) => ({
  network: 'base',
  transaction: `0x${place}`,
  index: '0',
}))
const depositKnobs = faultKnobs.filter((knob): knob is DepositKnob => faultTable[knob].scope === 'deposits')
const requestKnobs = faultKnobs.filter((knob): knob is RequestKnob => faultTable[knob].scope === 'requests')

test.each(depositKnobs)('%s strikes the share asked for, and the same deposits every time', (knob) => {
  const settings = { seed: 'a', [knob]: 0.2 }
  const [one, other] = [createFaults(settings), createFaults(settings)]
  const struck = deposits.filter((deposit) => one.strikes(knob, deposit))
  expect(struck.length / deposits.length).toBeCloseTo(0.2, 1)
  expect(deposits.filter((deposit) => other.strikes(knob, deposit))).toEqual(struck)
  other.set({ seed: 'b' })
  expect(deposits.filter((deposit) => other.strikes(knob, deposit))).not.toEqual(struck)
})

test.each(requestKnobs)('%s strikes the share asked for, and the same draws for the same seed', (knob) => {
  const [one, other] = [createFaults({ seed: 'a', [knob]: 0.2 }), createFaults({ seed: 'a', [knob]: 0.2 })]
  const drawAll = (faults: typeof one) => deposits.map(() => faults.strikesRequest(knob))
  const struck = drawAll(one)
  expect(struck.filter(Boolean).length / deposits.length).toBeCloseTo(0.2, 1)
  expect(drawAll(other)).toEqual(struck)
  expect(drawAll(other)).not.toEqual(struck)
  other.set({ seed: 'a' })
  expect(drawAll(other)).toEqual(struck)
})

test('knobs are switched while the service runs, and what is not given strikes nothing', () => {
  const faults = createFaults({ seed: 'a' })
  expect(deposits.some((deposit) => faults.strikes('dropWebhookRate', deposit))).toBe(false)
  faults.set({ dropWebhookRate: 1 })
  expect(deposits.every((deposit) => faults.strikes('dropWebhookRate', deposit))).toBe(true)
  expect(faults.current()).toMatchObject({ seed: 'a', dropWebhookRate: 1, shortForwardRate: 0 })
})

describe('refused by name, and nothing is changed', () => {
  test.each([
    [{ dropWebhookRate: 1.1 }, 'dropWebhookRate is not between 0 and 1'],
    [{ dropWebhookRate: Number.NaN }, 'dropWebhookRate is not between 0 and 1'],
    [{ delayMs: 0.5 }, 'delayMs is not a whole number'],
    [{ delayMs: -1 }, 'delayMs is not a whole number'],
    [{ seed: '' }, 'seed is not a text'],
    [{ dropRate: 1 }, 'dropRate is not a fault setting'],
    [{ toString: 1 }, 'toString is not a fault setting'],
    [{ failCallRate: -1, seed: '' }, /failCallRate.*seed/],
  ])('%j', (changes, message) => {
    const faults = createFaults({ seed: 'a' })
    expect(() => faults.set({ shortForwardRate: 1, ...changes })).toThrow(message)
    expect(faults.current()).toEqual(createFaults({ seed: 'a' }).current())
  })
})

test('without settings for them no fault strikes, and none can be switched on', () => {
  const faults = createFaults(null)
  expect(() => faults.set({ dropWebhookRate: 1 })).toThrow('faults are not allowed')
  expect(depositKnobs.some((knob) => deposits.some((one) => faults.strikes(knob, one)))).toBe(false)
  expect(requestKnobs.some((knob) => deposits.some(() => faults.strikesRequest(knob)))).toBe(false)
})

test('every knob names a mismatch that depositd knows, or says why it gets over the fault', () => {
  for (const entry of Object.values(faultTable)) {
    const kinds =
      entry.mismatch === null
        ? []
        : [
            entry.mismatch,
            ...('ofWallets' in entry ? [entry.ofWallets] : []),
            ...('ifRead' in entry ? [entry.ifRead] : []),
          ]
    expect(Object.keys(mismatchKinds)).toEqual(expect.arrayContaining(kinds))
    if (entry.mismatch === null) expect(entry.absorbed).toMatch(/; .*(shows?|counts)/)
  }
})
