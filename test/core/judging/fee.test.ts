import { expect, test } from 'vitest'
import type { FeeModel } from '../../../src/core/policy.ts'
import { amount, balances, decided, delivered, outcome } from '../../support/by-policy.ts'
import { claim, delivery, payment, usdcOnArbitrum, usdcOnBase, webhook } from '../../support/evidence.ts'

const units = { paid: 1_000_000n, delivered: 1_000_000n }
const bps = (share: number): FeeModel => ({ kind: 'bps', bps: share, units })
const band = (lowBps: number, highBps: number): FeeModel => ({
  kind: 'band',
  lowBps,
  highBps,
  sample: 99,
  units,
})

test.each<[string, FeeModel, bigint, bigint | null, string]>([
  ['whatever is stated is right', { kind: 'stated' }, 50_000_000n, 1n, 'reconciled'],
  ['a fixed fee is stated', { kind: 'fixed', amount: amount(100_000n) }, 99_900_000n, 100_000n, 'reconciled'],
  [
    'another than the fixed fee is stated',
    { kind: 'fixed', amount: amount(100_000n) },
    99_900_000n,
    100_001n,
    'reconciled fee_out_of_band',
  ],
  ['no fee is stated', { kind: 'fixed', amount: amount(100_000n) }, 99_900_000n, null, 'reconciled'],
  ['the share is kept', bps(10), 99_900_000n, 100_000n, 'reconciled'],
  ['the share is kept, and stated otherwise', bps(10), 99_900_000n, 5n, 'reconciled'],
  ['a base unit more than the share is kept', bps(10), 99_899_999n, null, 'reconciled fee_out_of_band'],
  ['a base unit less than the share is kept', bps(10), 99_900_001n, null, 'reconciled fee_out_of_band'],
  ['more is delivered than was paid', bps(10), 100_100_000n, null, 'reconciled fee_out_of_band'],
  ['the least of the band is kept', band(8, 12), 99_920_000n, null, 'reconciled'],
  ['the most of the band is kept', band(8, 12), 99_880_000n, null, 'reconciled'],
  ['less than the band is kept', band(8, 12), 99_920_001n, null, 'reconciled fee_out_of_band'],
  ['more than the band is kept', band(8, 12), 99_879_999n, null, 'reconciled fee_out_of_band'],
])('fee: where %s', (_where, ...[fee, base, stated, expected]) => {
  const settlement = { amount: amount(base), fee: stated === null ? null : amount(stated) }
  const all = [webhook({ settlement }), claim({ settlement }), payment(), delivery({ amount: amount(base) })]
  expect(outcome(all, { fee })).toBe(expected)
})

test.each<[string, bigint, string]>([
  ['18 decimals against 6', 99_900_000_000_000_000_000n, 'reconciled'],
  ['18 decimals against 6, cut at 6', 99_900_000_999_999_999_999n, 'reconciled'],
  [
    '18 decimals against 6, a unit of the coarser off',
    99_900_001_000_000_000_000n,
    'reconciled fee_out_of_band',
  ],
])('a share of what is paid, delivered in %s', (_where, base, expected) => {
  const settlement = { amount: amount(base), fee: null }
  const all = [webhook({ settlement }), claim({ settlement }), payment(), delivery({ amount: amount(base) })]
  const fee: FeeModel = { kind: 'bps', bps: 10, units: { paid: 10n ** 6n, delivered: 10n ** 18n } }
  expect(outcome(all, { fee })).toBe(expected)
})

test('a fee above the band says what was kept and what is allowed, and loses what is kept beyond it', () => {
  const [mismatch] = decided(delivered(99_900_000n), { fee: band(8, 9), line: 'policy.routes[3]' }).verdict
    .mismatches
  expect(mismatch).toEqual({
    kind: 'fee_out_of_band',
    detail: {
      kept: '10.00 bps',
      allowed: '8 to 9 bps',
      policy: 'policy.routes[3]',
      paid: '100000000',
      paidAsset: usdcOnBase,
      delivered: '99900000',
      asset: usdcOnArbitrum,
    },
    loss: { asset: usdcOnArbitrum, amount: 10_000n, whole: 99_900_000n },
  })
})

const unstated = { fee: null }
test.each<[string, FeeModel, Record<string, bigint>]>([
  ['stated', { kind: 'stated' }, {}],
  ['fixed', { kind: 'fixed', amount: amount(70_000n) }, { fee: 70_000n }],
  ['bps', bps(10), { fee: 100_000n }],
  ['band', band(9, 11), { fee: 100_000n }],
  ['a band that it is out of', band(11, 12), {}],
  [
    'a unit that the delivered asset has no part of',
    { ...bps(10), units: { paid: 3n, delivered: 3n } } as FeeModel,
    { fee: 100_000n },
  ],
])('a fee that nobody states is booked as the policy derives it: %s', (_model, fee, expected) => {
  const all = [webhook({ settlement: unstated }), claim({ settlement: unstated }), payment(), delivery()]
  const { [`expenses:fees:service ${usdcOnArbitrum}`]: booked } = balances(decided(all, { fee }).journals)
  expect(booked).toBe(expected.fee)
})
