import { expect, test } from 'vitest'
import { createFaults, faultKnobs, faultTable } from '../../../src/service/faults/faults.ts'

const deposits = Array.from({ length: 2000 }, (_, place) => ({
  network: 'base',
  transaction: `0x${place}`,
  index: '0',
}))

test.each(faultKnobs)('%s strikes the share asked for, and the same deposits every time', (knob) => {
  const settings = { seed: 'a', dropWebhookRate: 0, shortForwardRate: 0, [knob]: 0.2 }
  const [one, other] = [createFaults(settings), createFaults(settings)]
  const struck = deposits.filter((deposit) => one.strikes(knob, deposit))
  expect(struck.length / deposits.length).toBeCloseTo(0.2, 1)
  expect(deposits.filter((deposit) => other.strikes(knob, deposit))).toEqual(struck)
  other.set({ seed: 'b' })
  expect(deposits.filter((deposit) => other.strikes(knob, deposit))).not.toEqual(struck)
})

test('knobs are switched while the service runs', () => {
  const faults = createFaults({ seed: 'a', dropWebhookRate: 0, shortForwardRate: 0 })
  expect(deposits.some((deposit) => faults.strikes('dropWebhookRate', deposit))).toBe(false)
  faults.set({ dropWebhookRate: 1 })
  expect(deposits.every((deposit) => faults.strikes('dropWebhookRate', deposit))).toBe(true)
  expect(faults.current()).toEqual({ seed: 'a', dropWebhookRate: 1, shortForwardRate: 0 })
})

test('every knob names the mismatch it causes', () => {
  expect(Object.values(faultTable).map(({ mismatch }) => mismatch)).toEqual([
    'webhook_missing',
    'settlement_short',
  ])
})
