import type { ServiceId } from '../../src/core/evidence.ts'
import type { Amount } from '../../src/core/money.ts'
import { decision } from './decision.ts'
import type { DecisionCase } from './decision-cases.ts'
import {
  arbitrum,
  at,
  base,
  claim,
  delivery,
  failure,
  payment,
  txId,
  usdcOnBase,
  walletAddress,
  webhook,
  writeOffOf,
} from './evidence.ts'

/** Which transfers, failures and decisions belong to a deposit. */

const both = (changes: Parameters<typeof claim>[0] = {}) => [claim(changes), webhook(changes)]
const unnamed = both({ deposit: { tx: null, index: null } })
const withoutIndex = both({ deposit: { index: null } })
const second = { serviceId: 'dep_2' as ServiceId, deposit: { tx: txId('pay2') } }
const unsettled = { tx: null, amount: null, fee: null }
const refunded = claim({ status: 'refunded', settlement: unsettled, refund: { tx: txId('other') } })
const back = (units: number) =>
  delivery({
    network: base,
    asset: usdcOnBase,
    tx: txId('other'),
    index: `${units}`,
    amount: BigInt(units * 1_000_000) as Amount,
  })
const gone = { stage: 'orphaned', epoch: 1 } as const
const wroteOff = {
  ...decision('apart', payment()),
  verdict: writeOffOf('expenses:write_off'),
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
    evidence: [payment(), payment(gone), payment({ index: '5', stage: 'seen', epoch: 1 }), ...withoutIndex],
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
  'a payment by the number that the service gives it': {
    evidence: [
      payment(),
      payment({ index: '1', to: walletAddress }),
      payment({ index: '1', network: arbitrum }),
      ...both({ deposit: { index: '1' } }),
    ],
  },
  'a payment on another network than stated': {
    evidence: [payment(), ...both({ deposit: { network: arbitrum } })],
  },
  'a payment of which the API names another transaction': {
    evidence: [
      payment({ tx: txId('pay2'), amount: 90_000_000n as Amount }),
      claim({ deposit: { amount: 90_000_000n as Amount } }),
      webhook({ deposit: { tx: txId('pay2') } }),
    ],
  },
  'a payment that another deposit places at another address': {
    evidence: [
      payment(),
      ...both(),
      claim({ serviceId: second.serviceId, deposit: { address: walletAddress } }),
    ],
  },
  'a person matches two payments, one after the other': {
    evidence: [
      payment(),
      payment({ tx: txId('pay2') }),
      ...unnamed,
      decision('together', payment()),
      decision('together', payment({ tx: txId('pay2') }), { receivedAt: at(70) }),
    ],
  },
  'a refund that is the largest of several transfers': {
    evidence: [payment(), refunded, back(30), back(100), back(80)],
  },
  'a refund of which the largest transfer is gone': {
    evidence: [payment(), refunded, { ...back(100), stage: 'orphaned' }, back(80)],
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
