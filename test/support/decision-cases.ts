import type { AssetKey } from '../../src/core/asset.ts'
import type { ObservationGroup, Rules } from '../../src/core/decide.ts'
import {
  type Claim,
  defaultService,
  type Observation,
  type ServiceId,
  type ServiceName,
} from '../../src/core/evidence.ts'
import type { Amount } from '../../src/core/money.ts'
import { decision } from './decision.ts'
import {
  arbitrum,
  at,
  base,
  claim,
  delivery,
  elsewhere,
  failedDelivery,
  failure,
  liquidity,
  payment,
  policy,
  txId,
  usdcOnBase,
  usdtOnBase,
  walletApproval,
  webhook,
  writeOffOf,
} from './evidence.ts'

export const usd = (cents: number) => (BigInt(cents) * 10_000n) as Amount
const nothing = { tx: null, amount: null, fee: null } as const
export const rules: Rules = {
  policy,
  routes: [],
  senders: new Set([`arbitrum/${liquidity}`, `base/${liquidity}`]),
}

const both = (changes: Parameters<typeof claim>[0] = {}): Claim[] => [claim(changes), webhook(changes)]
export const named = (status: Claim['status']) => both({ status, settlement: nothing })
const confirmed = { status: 'confirmed', settlement: nothing } as const
const unnamed = both({ deposit: { tx: null, index: null } })

const notSupported = { policy: { ...policy, supported: false } }
export const all: readonly Observation[] = [payment(), delivery(), ...both()]

export type DecisionCase = {
  evidence: readonly Observation[]
  minute?: number
  by?: Partial<Rules>
} & Partial<Pick<ObservationGroup, 'deposits' | 'journals' | 'completeUntil'>>

/** Named evidence, each with all that is decided about it in test/core/decisions.txt. */
export const decisionCases: Record<string, DecisionCase> = {
  'all sources agree': { evidence: all },
  'all sources agree, before a deadline': { evidence: all, minute: 6 },
  'a payment in a block that is not final': { evidence: [payment({ stage: 'seen' })], minute: 3 },
  'a payment in a block that is not final, a day later': {
    evidence: [payment({ stage: 'seen' })],
    minute: 36 * 60,
  },
  'a payment in a block that is not final, with claims that already state the delivery': {
    evidence: [payment({ stage: 'seen' }), ...both({ status: 'observed' })],
  },
  'a final payment, before anybody must report it': { evidence: [payment()], minute: 21 },
  'a final payment that must be reported now': { evidence: [payment()], minute: 22 },
  'a payment of zero': { evidence: [payment({ amount: 0n as Amount })] },
  'a payment that only the API reports as observed': {
    evidence: [payment(), claim({ status: 'observed', settlement: nothing })],
  },
  'a payment that only the API reports as confirmed': {
    evidence: [payment(), { ...claim({ status: 'confirmed' }), settlement: null }],
  },
  'a payment that only a webhook reports as confirmed': {
    evidence: [payment(), { ...webhook({ status: 'confirmed' }), settlement: null }],
  },
  'a payment that is observed, as both report': { evidence: [payment(), ...named('observed')], minute: 12 },
  'a payment that is being settled': { evidence: [payment(), ...named('settling')], minute: 40 },
  'a payment that is held': { evidence: [payment(), ...named('held')] },
  'a payment that is held, a day later': { evidence: [payment(), ...named('held')], minute: 36 * 60 },
  'a payment that is refunded': { evidence: [payment(), ...named('refunded')] },
  'a payment that failed, as both report': { evidence: [payment(), ...named('failed')] },
  'a failed deposit, a day later': { evidence: [payment(), ...named('failed')], minute: 24 * 60 + 5 },
  'a claim without a payment': { evidence: both() },
  'a claim without a payment, before the deadline': { evidence: both(), minute: 20 },
  'a claim without a payment, at the deadline': { evidence: both(), minute: 35 },
  'a claim without a payment, a day later': { evidence: both(), minute: 36 * 60 },
  'a delivery that no one reports as settled': { evidence: [payment(), delivery(), ...named('settling')] },
  'a delivery that lacks 5 USDC': { evidence: [payment(), delivery({ amount: usd(9490) }), ...both()] },
  'a delivery that lacks a cent, which is tolerated': {
    evidence: [payment(), delivery({ amount: usd(9989) }), ...both()],
    by: { policy: { ...policy, tolerance: { amount: usd(1), bps: 0 } } },
  },
  'a delivery of 5 USDC too much': { evidence: [payment(), delivery({ amount: usd(10490) }), ...both()] },
  'a delivery in two parts': {
    evidence: [
      payment(),
      delivery({ amount: usd(5000) }),
      delivery({ amount: usd(4990), index: '1', receivedAt: at(8) }),
      ...both(),
    ],
  },
  'a delivery that is not final': {
    evidence: [payment(), delivery({ stage: 'seen' }), ...both({ status: 'confirmed' })],
  },
  'a delivery that is not made': { evidence: [payment(), ...named('settling')] },
  'a delivery to an address that is not approved': {
    evidence: [payment(), ...both({ settlement: { address: elsewhere } })],
  },
  'a delivery that failed': { evidence: [payment(), failedDelivery(), ...both()] },
  'a delivery of which nobody knows the deposit': { evidence: [delivery()] },
  'a delivery of which nobody knows the deposit yet': {
    evidence: [delivery({ stage: 'seen', receivedAt: at(1) }), delivery()],
    minute: 23,
  },
  'a delivery of which nobody knows the deposit now': { evidence: [delivery()], minute: 24 },
  'a delivery of which nobody knows the deposit, and which is not final': {
    evidence: [delivery({ stage: 'seen' })],
  },
  'a transfer to the recipient by somebody else': { evidence: [delivery({ from: elsewhere })] },
  'a payment that failed on the chain': { evidence: [failure(), ...both()] },
  'a payment that failed on another network': {
    evidence: [claim(), webhook({ deposit: { network: arbitrum } }), failure({ network: arbitrum })],
  },
  'a delivery that failed in the transaction of the payment': {
    evidence: [...both({ settlement: { network: base, tx: txId('pay') } }), failure({ role: 'recipient' })],
  },
  'a payment whose block is gone': {
    evidence: [payment(), payment({ stage: 'orphaned', epoch: 1 }), ...both()],
  },
  'native coin that pays for sweeping': {
    evidence: [payment({ asset: 'base/native' as AssetKey, from: liquidity })],
  },
  'amounts that differ': {
    evidence: [
      payment(),
      delivery(),
      claim({ deposit: { amount: usd(9000) } }),
      webhook({ deposit: { amount: usd(11_000) } }),
    ],
  },
  'amounts that differ by a power of ten': {
    evidence: [payment(), delivery(), ...both({ deposit: { amount: usd(100_000) } })],
  },
  'assets that differ between claims': { evidence: [claim(), webhook({ deposit: { asset: usdtOnBase } })] },
  'assets that differ between the API and the chain': {
    evidence: [payment(), claim({ deposit: { asset: usdtOnBase } })],
  },
  'assets that differ': {
    evidence: [payment(), delivery(), claim(), webhook({ deposit: { asset: usdtOnBase } })],
  },
  'networks that differ': {
    evidence: [payment(), delivery(), claim(), webhook({ deposit: { network: arbitrum } })],
  },
  'addresses that differ': {
    evidence: [payment(), delivery(), claim(), webhook({ deposit: { address: elsewhere } })],
  },
  'an owner whom nobody knows': {
    evidence: [payment(), delivery(), ...both({ owner: { kind: 'channel', id: 'unknown' } })],
  },
  'an owner with another address': { evidence: [payment(), ...both({ owner: walletApproval.owner })] },
  'an address that is not in the book': {
    evidence: [payment({ to: elsewhere }), ...both({ owner: null, deposit: { address: elsewhere } })],
  },
  'a payment that is due at an address that is not in the book': {
    evidence: [claim({ owner: null, deposit: { address: elsewhere } })],
    minute: 20,
    by: { routes: [{ pattern: { ownerKind: 'channel' }, policy: notSupported.policy }] },
  },
  'a delivery that is due to an address that is not in the book': {
    evidence: [
      payment({ to: elsewhere }),
      claim({ status: 'settling', owner: null, deposit: { address: elsewhere } }),
    ],
    minute: 30,
  },
  'a status that goes back': {
    evidence: [
      payment(),
      claim({ ...confirmed, occurredAt: at(1) }),
      ...named('settling'),
      claim({ status: 'observed', settlement: nothing, occurredAt: at(9) }),
    ],
    minute: 12,
  },
  'a settled deposit that is opened again': {
    evidence: [
      ...all,
      claim({ status: 'settling', settlement: nothing, occurredAt: at(2) }),
      claim({ ...confirmed, occurredAt: at(9), receivedAt: at(9) }),
    ],
  },
  'a status that goes back after a hold': {
    evidence: [payment(), ...named('held'), ...named('settling'), claim({ ...confirmed, occurredAt: at(9) })],
  },
  'a settled deposit that is held at the same time according to a webhook': {
    evidence: [payment(), delivery(), claim(), webhook({ status: 'held' })],
  },
  'a settled deposit that is held later according to the API': {
    evidence: [
      payment(),
      delivery(),
      webhook(),
      claim({ ...confirmed, occurredAt: at(1) }),
      claim({ status: 'settling', settlement: nothing, occurredAt: at(2) }),
      claim({ status: 'held', settlement: nothing, occurredAt: at(9) }),
    ],
  },
  'a settled deposit that is refunded according to the API': {
    evidence: [payment(), delivery(), webhook(), claim({ status: 'refunded', settlement: nothing })],
  },
  'a clock that is ahead': { evidence: [payment(), delivery(), webhook(), claim({ occurredAt: at(30) })] },
  'a clock that was ahead': {
    evidence: [payment(), delivery(), webhook(), claim({ occurredAt: at(30) }), claim({ receivedAt: at(9) })],
  },
  'clocks that differ as far as is allowed': {
    evidence: [payment({ blockAt: at(1) }), claim({ occurredAt: at(-4) }), webhook({ occurredAt: at(10) })],
  },
  'a clock that is behind': { evidence: [payment({ blockAt: at(2) }), ...both({ occurredAt: at(-20) })] },
  'one transaction that two deposits claim': {
    evidence: [...all, claim({ serviceId: 'dep_2' as ServiceId, receivedAt: at(6) })],
  },
  'two payments of one transaction, and one claim without an index': {
    evidence: [payment(), payment({ index: '1' }), ...both({ deposit: { index: null } }), delivery()],
  },
  'a claim without a transaction': { evidence: [payment(), delivery(), ...unnamed] },
  'a claim without a transaction, which the policy accepts': {
    evidence: [payment(), delivery(), ...unnamed],
    by: { policy: { ...policy, acceptsUnnamed: true } },
  },
  'a claim without a transaction, which a person matches': {
    evidence: [payment(), delivery(), ...unnamed, decision('together', payment())],
  },
  'a payment that a person separates': { evidence: [...all, decision('apart', payment())] },
  'a payment that is written off': {
    evidence: [
      payment(),
      ...named('settling'),
      { ...decision('apart', payment()), verdict: writeOffOf('expenses:write_off') },
    ],
  },
  'a payment that the service owes': {
    evidence: [
      payment(),
      ...named('failed'),
      {
        ...decision('apart', payment()),
        verdict: writeOffOf('assets:receivable:service'),
      },
    ],
  },
  'a token that is not supported': { evidence: [payment()], by: notSupported },
  'a token that is not supported, and is delivered': {
    evidence: [payment(), delivery(), webhook(), claim(confirmed)],
    by: notSupported,
  },
  'a payment below the minimum': {
    evidence: [payment()],
    by: { policy: { ...policy, minimum: usd(10_001) } },
  },
  'a payment of the minimum': { evidence: [payment()], by: { policy: { ...policy, minimum: usd(10_000) } } },
  'a fee that is not the agreed one': {
    evidence: all,
    by: { policy: { ...policy, fee: { kind: 'fixed', amount: usd(9) } } },
  },
  'a route with a policy of its own': {
    evidence: [payment()],
    by: {
      routes: [
        {
          pattern: { networkIn: base, networkOut: undefined, assetIn: usdcOnBase },
          policy: notSupported.policy,
        },
      ],
    },
  },
  'a route for deposits of the service, which no claim reports yet': {
    evidence: [payment()],
    by: { routes: [{ pattern: { service: defaultService }, policy: notSupported.policy }] },
  },
  'a route for deposits of another service': {
    evidence: all,
    by: { routes: [{ pattern: { service: 'acme' as ServiceName }, policy: notSupported.policy }] },
  },
  'an account of our own on the other side': {
    evidence: all,
    by: { contras: [{ pattern: { ownerKind: 'channel' }, account: 'income:deposits:{kind}:{id}' }] },
  },
  'a webhook that is required': {
    evidence: [payment(), delivery(), claim()],
    by: { policy: { ...policy, required: [...policy.required, 'settlement.webhook'] } },
  },
  'evidence that is complete only until minute 10': { evidence: [payment()], completeUntil: at(10) },
}
