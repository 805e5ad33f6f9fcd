import type { Claim } from '../../src/core/evidence.ts'
import type { Amount } from '../../src/core/money.ts'
import type { DecisionCase } from './decision-cases.ts'
import { at, claim, delivery, elsewhere, payment, usdcOnBase, webhook } from './evidence.ts'

/** Statuses in an order that a service should not, or may, report. */

type Changes = NonNullable<Parameters<typeof claim>[0]>
const said = (status: Claim['status'], minute: number, changes: Changes = {}) =>
  claim({ status, occurredAt: at(minute), receivedAt: at(minute + 2), ...changes })
const hook = (status: Claim['status'], minute: number, changes: Changes = {}) =>
  webhook({ status, occurredAt: at(minute), receivedAt: at(minute + 2), ...changes })
const undelivered = (one: Claim): Claim => ({ ...one, settlement: null })
const amount = (base: bigint) => base as Amount

export const statusCases: Record<string, DecisionCase> = Object.fromEntries(
  Object.entries<readonly Claim[]>({
    'webhooks that end twice at the same time': [
      hook('settled', 3),
      hook('failed', 3, { receivedAt: at(9) }),
    ],
    'records that end twice at the same time, read at once': [said('settled', 3), said('failed', 3)],
    'records that are opened again at the same time': [
      said('settled', 3),
      said('settling', 3, { receivedAt: at(9) }),
    ],
    'records without a time that go back': [
      said('settling', 3, { isUndated: true }),
      said('confirmed', 9, { isUndated: true }),
    ],
    'records that go back before a hold': [said('settling', 3), said('confirmed', 9), hook('held', 20)],
    'records that go back at the time of a hold': [
      said('settling', 3),
      said('confirmed', 9),
      hook('held', 9),
    ],
    'a hold while the delivery is under way': [said('settling', 3), said('held', 9)],
    'a failed deposit that is held': [said('failed', 3), said('held', 9)],
    'a failed deposit whose delivery is stated otherwise': [
      said('failed', 3),
      said('failed', 9, { settlement: { amount: amount(5n) } }),
    ],
    'a settled deposit that states no delivery any more': [
      said('settled', 3),
      undelivered(said('settled', 9)),
    ],
    'a settled deposit that states its delivery later': [undelivered(said('settled', 3)), said('settled', 9)],
    'a settled deposit of which each record states a part': [
      said('settled', 3, { settlement: { fee: null } }),
      said('settled', 9, { settlement: { amount: null } }),
    ],
    'a failed deposit that is settled, without a delivery': [
      said('failed', 3),
      undelivered(said('settled', 9)),
    ],
    'a failed deposit that is settled in another asset': [
      said('failed', 3),
      said('settled', 9, { settlement: { asset: usdcOnBase, amount: null } }),
    ],
    'a failed deposit that is settled to another address': [
      said('failed', 3),
      said('settled', 9, { settlement: { address: elsewhere } }),
    ],
    'a settled deposit that failed later according to the API': [hook('settled', 3), said('failed', 9)],
    'a hold of which a webhook is behind': [hook('settling', 3), said('held', 9)],
  }).map(([name, claims]) => [name, { evidence: [payment(), delivery(), ...claims] }]),
)
