import { expect, test } from 'vitest'
import { termsOf } from '../../../src/service/faults/deposit-faults.ts'
import { createFaults } from '../../../src/service/faults/faults.ts'
import type { ServiceDepositRow } from '../../../src/service/tables.ts'

const deposit = { network: 'base', transaction: '0x1', index: 'native' } as ServiceDepositRow
const terms = { feeBasisPoints: 10, spreadBasisPoints: 5 }

test('of a deposit that is overcharged twice the fee is kept, and of others the fee', () => {
  const faults = createFaults({ seed: 'a', overchargeRate: 1 })
  expect(termsOf(faults, deposit, terms)).toEqual({ feeBasisPoints: 20, spreadBasisPoints: 5 })
  faults.set({ overchargeRate: 0 })
  expect(termsOf(faults, deposit, terms)).toEqual(terms)
})

test('no more is kept than all of it', () => {
  const faults = createFaults({ seed: 'a', overchargeRate: 1 })
  expect(termsOf(faults, deposit, { ...terms, feeBasisPoints: 6000 }).feeBasisPoints).toBe(10_000)
})
