import type { LegSearch, ServiceId } from '../../src/core/evidence.ts'
import type { DecisionCase } from './decision-cases.ts'
import {
  arbitrum,
  at,
  base,
  channelAddress,
  claim,
  elsewhere,
  payment,
  recipient,
  txId,
  webhook,
} from './evidence.ts'

/** Claims of which no chain shows the payment or the delivery, and what searches for it found. */

const range = (from: number, to: number) => ({
  from: { height: 10n, blockAt: at(from) },
  to: { height: 90n, blockAt: at(to) },
})

function search(changes: Partial<LegSearch> = {}): LegSearch {
  return {
    kind: 'search',
    serviceId: 'dep_1' as ServiceId,
    role: 'deposit',
    network: base,
    to: channelAddress,
    tx: txId('pay'),
    nodes: [],
    found: null,
    claimed: { height: 8n },
    read: null,
    bookedAt: at(1),
    receivedAt: at(40),
    ...changes,
  }
}
const unread = (changes: Partial<LegSearch>) => [claim(), webhook(), search(changes)]
const confirmed = { status: 'confirmed', settlement: { tx: null, amount: null, fee: null } } as const
const deliverySearch = (changes: Partial<LegSearch>) => [
  claim(confirmed),
  webhook(confirmed),
  payment(),
  search({ role: 'recipient', network: arbitrum, to: recipient, tx: null, receivedAt: at(70), ...changes }),
]

export const searchCases: Record<string, DecisionCase> = {
  'a payment without a block to search in, on a network that is not read': {
    evidence: unread({ isUnread: true }),
  },
  'a payment at an address that is not in the book': {
    evidence: unread({ bookedAt: null, found: { height: 12n } }),
  },
  'a payment before the blocks that the nodes have': { evidence: unread({ claimed: null }) },
  'a payment at an address that is not read yet': { evidence: unread({}) },
  'a payment that is looked for, read up to before it': { evidence: unread({ read: range(2, -3) }) },
  'a payment that is looked for, read up to before it, a day later': {
    evidence: unread({ read: range(2, -3) }),
    minute: 36 * 60,
  },
  'a payment that is looked for, read up to the last allowed block': {
    evidence: unread({ read: range(2, -2) }),
  },
  'a payment that is looked for, read since just after it': { evidence: unread({ read: range(4, 35) }) },
  'a payment that is looked for, read since its address was added': {
    evidence: unread({ read: range(3, 35), bookedAt: at(3) }),
  },
  'a payment that is not there': { evidence: unread({ read: range(2, 35) }) },
  'a payment that two deposits claim, looked for once': {
    evidence: [...unread({ read: range(2, 35) }), claim({ serviceId: 'dep_2' as ServiceId })],
  },
  'a payment that is looked for again and again': {
    evidence: [
      ...unread({ isUnread: true }),
      search({ bookedAt: null, receivedAt: at(44) }),
      search({ claimed: null, receivedAt: at(44) }),
    ],
  },
  'a payment that two nodes do not know': { evidence: unread({ nodes: ['one', 'two'] }) },
  'a payment that two nodes did not know before it was due': {
    evidence: unread({ nodes: ['one', 'two'], receivedAt: at(34) }),
  },
  'a payment whose transaction only a webhook names': {
    evidence: [claim({ deposit: { tx: null } }), webhook()],
  },
  'a payment whose transaction a webhook names on another network': {
    evidence: [claim({ deposit: { tx: null } }), webhook({ deposit: { network: arbitrum } })],
  },
  'a delivery that is due at no known address, a day later': {
    evidence: [
      payment({ to: elsewhere }),
      { ...claim({ status: 'settling', deposit: { address: elsewhere } }), settlement: null },
    ],
    minute: 36 * 60,
  },
  'a delivery that is not there': { evidence: deliverySearch({ read: range(-1, 90) }) },
  'a delivery that is looked for on a network that is not read': {
    evidence: deliverySearch({ isUnread: true }),
  },
  'a delivery that is looked for at a recipient that is not in the book': {
    evidence: deliverySearch({ bookedAt: null, claimed: null }),
  },
}
