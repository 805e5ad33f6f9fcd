import { type DepositIdentity, decide } from '../../src/core/decide.ts'
import { type Observation, type ServiceId, transferRef } from '../../src/core/evidence.ts'
import { groupOf } from './any-evidence.ts'
import { all, type DecisionCase, named, rules, usd } from './decision-cases.ts'
import { at, claim, noTimes, payment } from './evidence.ts'

const knownAs = (id: bigint, changes: Partial<DepositIdentity>): DepositIdentity => ({
  id,
  serviceId: null,
  transfer: null,
  milestones: noTimes,
  ...changes,
})

/** The books after the first decision of `evidence`, as the second one finds them. */
function bookedFor(evidence: readonly Observation[]) {
  return decide(groupOf(evidence), rules, at(600)).deposits.flatMap(({ journals }) => journals)
}

/** If the store already knows deposits, or the books hold journals. */
export const bookedCases: Record<string, DecisionCase> = {
  'a deposit that is known, and is reconciled now': {
    evidence: all,
    deposits: [
      knownAs(7n, {
        serviceId: 'dep_1' as ServiceId,
        milestones: { ...noTimes, depositedAt: at(0), apiAt: at(5) },
      }),
    ],
  },
  'a deposit that was reconciled before': {
    evidence: all,
    deposits: [
      knownAs(7n, { transfer: transferRef(payment()), milestones: { ...noTimes, reconciledAt: at(8) } }),
    ],
  },
  'two known deposits that turn out to be one': {
    evidence: all,
    deposits: [
      knownAs(9n, { serviceId: 'dep_1' as ServiceId }),
      knownAs(4n, { transfer: transferRef(payment()) }),
    ],
  },
  'journals of a deposit that is another by now': {
    evidence: all,
    deposits: [knownAs(7n, { serviceId: 'dep_1' as ServiceId })],
    journals: bookedFor(all).map((journal, place) => ({ ...journal, depositId: place === 0 ? 7n : 9n })),
  },
  'nothing new': { evidence: all, journals: bookedFor(all) },
  'the block of the payment is gone': {
    evidence: [...all, payment({ stage: 'orphaned', epoch: 1 })],
    journals: bookedFor(all),
  },
  'the payment comes back under another index': {
    evidence: [
      ...all,
      payment({ stage: 'orphaned', epoch: 1 }),
      payment({ index: '5', epoch: 1, height: 11n }),
    ],
    journals: bookedFor(all),
  },
  'the settled amount turns out to be less': {
    evidence: [...all, claim({ settlement: { amount: usd(9000), fee: usd(1000) }, receivedAt: at(9) })],
    journals: bookedFor(all),
  },
  'the payment is refunded': {
    evidence: [payment(), ...named('refunded')],
    journals: bookedFor([payment(), ...named('held')]),
  },
}
