import * as fc from 'fast-check'
import type { TxId } from '../../src/core/asset.ts'
import {
  type Claim,
  claimStatuses,
  type DepositClaim,
  type Observation,
  type ObservedChainTransfer,
  type ServiceId,
  type SettlementClaim,
  stableWalletNetwork,
} from '../../src/core/evidence.ts'
import type { Amount } from '../../src/core/money.ts'
import { at, claim, delivery, failedDelivery, failure, payment, txId } from './evidence.ts'
import { courses, type Route, routes } from './made-up-routes.ts'

const course = fc.constantFrom(...Object.keys(courses), 'final', 'both', 'final')
export const anyMinute = fc.integer({ min: 0, max: 40 })
const statuses = fc.subarray([...claimStatuses])

export const anyStory = fc.record({
  route: fc.constantFrom<keyof typeof routes>('forward', 'forward', 'credit', 'back'),
  /** One transaction may pay several, and bring several. */
  sharesPayment: fc.boolean(),
  sharesDelivery: fc.boolean(),
  index: fc.constantFrom('0', '1', '2'),
  amount: fc.constantFrom(5n, 99_900_000n, 100_000_000n),
  paid: course,
  /** Each part is a transfer of its own, with what is wrong with it. */
  parts: fc.array(fc.record({ course, isShort: fc.boolean(), isLate: fc.boolean() }), { maxLength: 2 }),
  webhooks: statuses,
  records: statuses,
  /** Claims of this status and earlier ones do not name the transaction yet. */
  isKeyless: fc.boolean(),
  namesNoOwner: fc.boolean(),
  stated: fc.constantFrom<'whole' | 'wrong' | 'nothing'>('whole', 'whole', 'wrong', 'nothing'),
  fails: fc.constantFrom<'nothing' | 'payment' | 'delivery'>(
    'nothing',
    'nothing',
    'nothing',
    'payment',
    'delivery',
  ),
  minutes: fc.array(anyMinute, { minLength: 4, maxLength: 4 }),
})

type Story = typeof anyStory extends fc.Arbitrary<infer Found> ? Found : never

type Told = { story: Story; number: number }

/** Everything that anybody tells of one deposit, in no order. */
export function observationsOf(story: Story, number: number): Observation[] {
  const told = { story, number }
  const all = [...paymentsOf(told), ...deliveriesOf(told), ...claimsOf(told)]
  const to = routes[story.route]
  if (story.fails === 'payment') {
    const { network, address } = to.in
    return [...all, failure({ network, tx: payTxOf(told), to: address, receivedAt: timeOf(story, 0) })]
  }
  if (story.fails === 'delivery' && !isCredit(to)) {
    const { network, address } = to.out
    return [
      ...all,
      failedDelivery({ network, tx: sentTxOf(told), to: address, receivedAt: timeOf(story, 1) }),
    ]
  }
  return all
}

function paymentsOf({ story, number }: Told): ObservedChainTransfer[] {
  const { network, address, asset } = routes[story.route].in
  return (courses[story.paid] ?? []).map(({ block, index = story.index, ...reading }, place) =>
    payment({
      ...reading,
      network,
      asset,
      to: address,
      tx: payTxOf({ story, number }),
      index: indexOf({ story, number }, index),
      amount: story.amount as Amount,
      blockHash: block ?? '0xb10c',
      receivedAt: timeOf(story, place),
    }),
  )
}

/** A credit is on no chain. */
function deliveriesOf({ story, number }: Told): ObservedChainTransfer[] {
  const to = routes[story.route]
  const { network, address, asset } = to.out
  const parts = isCredit(to) ? [] : story.parts
  return parts.flatMap(({ course: readings, isShort, isLate }, part) =>
    (courses[readings] ?? []).map(({ block, index = '', ...reading }, place) =>
      delivery({
        ...reading,
        network,
        asset,
        to: address,
        tx: isLate ? txId(`sent later ${number}`) : sentTxOf({ story, number }),
        index: `${index}${number}${part}`,
        amount: (isShort ? 1n : story.amount) as Amount,
        blockHash: block ?? '0xb10c',
        receivedAt: timeOf(story, place + 1),
      }),
    ),
  )
}

function claimsOf(told: Told): Claim[] {
  const { story } = told
  return [
    ...story.webhooks.map((status, place) =>
      claimOf(told, { source: 'webhook', status, receivedAt: timeOf(story, place + 2) }),
    ),
    ...story.records.map((status, place) =>
      claimOf(told, { source: 'api', status, receivedAt: timeOf(story, place + 3) }),
    ),
  ]
}

type Said = Pick<Claim, 'source' | 'status' | 'receivedAt'>

/** What the service says of it at one of its steps. */
function claimOf(told: Told, said: Said): Claim {
  const { story, number } = told
  return claim({
    ...said,
    serviceId: serviceIdOf(number),
    owner: story.namesNoOwner ? null : routes[story.route].owner,
    deposit: depositClaimOf(told, said),
    settlement: settlementClaimOf(told, said),
    occurredAt: said.receivedAt,
    isUndated: true,
  })
}

function depositClaimOf(told: Told, { status }: Said): DepositClaim {
  const { story } = told
  const isEarly = status === 'observed' || status === 'confirmed'
  return {
    ...routes[story.route].in,
    amount: story.amount as Amount,
    tx: isEarly && story.isKeyless ? null : payTxOf(told),
    index: story.isKeyless ? null : indexOf(told, story.index),
  }
}

function settlementClaimOf(told: Told, { status }: Said): SettlementClaim {
  const { story } = told
  const to = routes[story.route]
  const isSent = status === 'settling' || status === 'settled'
  const amounts = { whole: story.amount, wrong: story.amount - 1n, nothing: null }
  return {
    ...to.out,
    amount: isSent ? (amounts[story.stated] as Amount | null) : null,
    tx: isSent && !isCredit(to) ? sentTxOf(told) : null,
    fee: story.stated === 'wrong' ? (1n as Amount) : null,
  }
}

function isCredit({ out }: Route): boolean {
  return out.network === stableWalletNetwork
}

export function serviceIdOf(number: number): ServiceId {
  return `dep_${number + 1}` as ServiceId
}

function payTxOf({ story, number }: Told): TxId {
  return txId(story.sharesPayment ? 'paid together' : `paid ${number}`)
}

function sentTxOf({ story, number }: Told): TxId {
  return txId(story.sharesDelivery ? 'sent together' : `sent ${number}`)
}

/** Payments of one transaction stand at different places in it. */
function indexOf({ story, number }: Told, index: string): string {
  return `${index}${story.sharesPayment ? number : ''}`
}

function timeOf({ minutes }: Story, place: number): Date {
  return at(minutes[place % minutes.length] ?? 0)
}
