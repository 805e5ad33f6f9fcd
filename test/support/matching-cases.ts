import type { ServiceId } from '../../src/core/evidence.ts'
import { decision } from './decision.ts'
import type { DecisionCase } from './decision-cases.ts'
import { arbitrum, at, claim, delivery, failure, payment, txId, walletAddress, webhook } from './evidence.ts'

/** Which transfers, failures and decisions belong to a deposit. */

const both = (changes: Parameters<typeof claim>[0] = {}) => [claim(changes), webhook(changes)]
const unnamed = both({ deposit: { tx: null, index: null } })
const withoutIndex = both({ deposit: { index: null } })
const second = { serviceId: 'dep_2' as ServiceId, deposit: { tx: txId('pay2') } }
const gone = { stage: 'orphaned', epoch: 1 } as const
const wroteOff = {
  ...decision('apart', payment()),
  verdict: { kind: 'write_off', account: 'expenses:write_off' },
} as const

export const matchingCases: Record<string, DecisionCase> = {
  'payments of one transaction, in the order of the chain': {
    evidence: [payment({ index: '10' }), payment({ index: '2' }), ...withoutIndex],
  },
  'payments of two transactions': {
    evidence: [payment({ index: '10' }), payment({ tx: txId('pay2'), index: '2' })],
  },
  'a second payment of the transaction, in a block that is not final': {
    evidence: [payment(), payment({ index: '1', stage: 'seen' }), ...both()],
  },
  'a payment that comes back under another index before it is final': {
    evidence: [payment({ stage: 'seen' }), payment(gone), payment({ index: '5', stage: 'seen', epoch: 1 })],
  },
  'a payment that is gone under two indexes': {
    evidence: [payment(gone), payment({ ...gone, index: '5' }), ...withoutIndex],
  },
  'a final payment that is gone, and is not final under another index': {
    evidence: [
      payment(),
      payment(gone),
      payment({ index: '5', stage: 'seen', epoch: 1 }),
      ...both({ deposit: { index: '5' } }),
    ],
  },
  'a payment, and others that are gone': {
    evidence: [
      payment(),
      ...both(),
      payment({ ...gone, tx: txId('pay2') }),
      payment({ ...gone, to: walletAddress, index: '9' }),
    ],
  },
  'an owner of another kind': {
    evidence: [payment(), delivery(), ...both({ owner: { kind: 'stable_wallet', id: 'shop' } })],
  },
  'a payment that failed, as blocks show one after the other': {
    evidence: [
      ...both(),
      failure(),
      failure({ height: 8n, receivedAt: at(9) }),
      failure({ height: 9n, receivedAt: at(9) }),
    ],
  },
  'a payment that failed, of two deposits': {
    evidence: [...both(), ...both(second), failure({ tx: txId('pay2') })],
  },
  'failures of other transactions': {
    evidence: [...both(), failure({ network: arbitrum }), failure({ tx: txId('other') })],
  },
  'a person matches another transaction': {
    evidence: [payment(), ...unnamed, decision('together', payment({ tx: txId('pay2') }))],
  },
  'a person matches another index': {
    evidence: [payment(), payment({ index: '1' }), ...unnamed, decision('together', payment({ index: '9' }))],
  },
  'a payment that is written off, and matched later': {
    evidence: [payment(), ...both(), wroteOff, decision('together', payment(), { receivedAt: at(70) })],
  },
}
