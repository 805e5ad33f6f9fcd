import { expect, test } from 'vitest'
import {
  type Observation,
  type ObservedChainTransfer,
  type ServiceId,
  transferRef,
} from '../../../src/core/evidence.ts'
import type { TransferLink } from '../../../src/core/matching/link.ts'
import { trailsOf } from '../../../src/jobs/books/trail.ts'
import { claim, delivery, failure, payment, webhook } from '../../support/evidence.ts'

/** Two deposits of one group, each with a payment of its own. */
const pays = [payment(), payment({ index: '1' })] as const
const [first, second] = [deposit('dep_1', pays[0]), deposit('dep_2', pays[1])]

function deposit(serviceId: string, paid: ObservedChainTransfer): Decided {
  const link: TransferLink = {
    transfer: transferRef(paid),
    role: 'deposit',
    rule: 'transfer named',
    decision: null,
  }
  return {
    id: BigInt(serviceId.replace('dep_', '')),
    groupId: 1n,
    verdict: { state: 'reconciled' },
    journals: [{ key: `journal of ${serviceId}` }],
    evidence: { serviceId: serviceId as ServiceId, links: [link] },
  }
}
type Decided = Parameters<typeof trailsOf>[0][number]

/** The rows that each of them names, where this was kept in rows 1, 2 … just now. */
function rowsOf(kept: readonly Observation[], deposits: readonly Decided[] = [first, second]) {
  const linked = kept.map((observation, place) => ({ inboxId: BigInt(place + 1), groupId: 1n, observation }))
  return trailsOf(deposits, linked, []).map(({ rows }) => rows)
}

test('a deposit names the rows that are about it, and not those about another of its group', () => {
  const [paid, alsoPaid] = pays
  const other = webhook({ serviceId: 'dep_2' as ServiceId })
  expect(rowsOf([webhook(), other, paid, alsoPaid])).toEqual([
    [1n, 3n],
    [2n, 4n],
  ])
})

test('what may bear on any of them is named by each', () => {
  const known = [delivery({ index: '7' }), failure()]
  expect(rowsOf([...known, claim(), claim({ serviceId: 'dep_2' as ServiceId })])).toEqual([
    [1n, 2n, 3n],
    [1n, 2n, 4n],
  ])
})

test('a deposit that is booked by what is known of another names that', () => {
  const unbooked = { ...second, journals: [] }
  expect(rowsOf([webhook()], [first, second])).toEqual([[1n], [1n]])
  expect(rowsOf([webhook()], [first, unbooked])).toEqual([[1n], []])
})
