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

export const anyClaimHistory = fc.record({
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
  /** Claims name the transactions that are sent later, too. */
  namesAll: fc.boolean(),
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

type ClaimHistory = typeof anyClaimHistory extends fc.Arbitrary<infer Found> ? Found : never

type Reported = { claimHistory: ClaimHistory; number: number }

/** Everything that anybody tells of one deposit, in no order. */
export function observationsOf(claimHistory: ClaimHistory, number: number): Observation[] {
  const reported = { claimHistory, number }
  const all = [...paymentsOf(reported), ...deliveriesOf(reported), ...claimsOf(reported)]
  const to = routes[claimHistory.route]
  if (claimHistory.fails === 'payment') {
    const { network, address } = to.in
    return [
      ...all,
      failure({ network, tx: payTxOf(reported), to: address, receivedAt: timeOf(claimHistory, 0) }),
    ]
  }
  if (claimHistory.fails === 'delivery' && !isCredit(to)) {
    const { network, address } = to.out
    return [
      ...all,
      failedDelivery({ network, tx: sentTxOf(reported), to: address, receivedAt: timeOf(claimHistory, 1) }),
    ]
  }
  return all
}

function paymentsOf({ claimHistory, number }: Reported): ObservedChainTransfer[] {
  const { network, address, asset } = routes[claimHistory.route].in
  return (courses[claimHistory.paid] ?? []).map(({ block, index = claimHistory.index, ...reading }, place) =>
    payment({
      ...reading,
      network,
      asset,
      to: address,
      tx: payTxOf({ claimHistory, number }),
      index: indexOf({ claimHistory, number }, index),
      amount: claimHistory.amount as Amount,
      blockHash: block ?? '0xb10c',
      receivedAt: timeOf(claimHistory, place),
    }),
  )
}

/** A credit is on no chain. */
function deliveriesOf({ claimHistory, number }: Reported): ObservedChainTransfer[] {
  const to = routes[claimHistory.route]
  const { network, address, asset } = to.out
  const parts = isCredit(to) ? [] : claimHistory.parts
  return parts.flatMap(({ course: readings, isShort, isLate }, part) =>
    (courses[readings] ?? []).map(({ block, index = '', ...reading }, place) =>
      delivery({
        ...reading,
        network,
        asset,
        to: address,
        tx: isLate ? laterTxOf({ claimHistory, number }) : sentTxOf({ claimHistory, number }),
        index: `${index}${number}${part}`,
        amount: (isShort ? 1n : claimHistory.amount) as Amount,
        blockHash: block ?? '0xb10c',
        receivedAt: timeOf(claimHistory, place + 1),
      }),
    ),
  )
}

function claimsOf(reported: Reported): Claim[] {
  const { claimHistory } = reported
  return [
    ...claimHistory.webhooks.map((status, place) =>
      claimOf(reported, { source: 'webhook', status, receivedAt: timeOf(claimHistory, place + 2) }),
    ),
    ...claimHistory.records.map((status, place) =>
      claimOf(reported, { source: 'api', status, receivedAt: timeOf(claimHistory, place + 3) }),
    ),
  ]
}

type Said = Pick<Claim, 'source' | 'status' | 'receivedAt'>

/** What the service says of it at one of its steps. */
function claimOf(reported: Reported, said: Said): Claim {
  const { claimHistory, number } = reported
  return claim({
    ...said,
    serviceId: serviceIdOf(number),
    owner: claimHistory.namesNoOwner ? null : routes[claimHistory.route].owner,
    deposit: depositClaimOf(reported, said),
    settlement: settlementClaimOf(reported, said),
    occurredAt: said.receivedAt,
    isUndated: true,
  })
}

function depositClaimOf(reported: Reported, { status }: Said): DepositClaim {
  const { claimHistory } = reported
  const isEarly = status === 'observed' || status === 'confirmed'
  return {
    ...routes[claimHistory.route].in,
    amount: claimHistory.amount as Amount,
    tx: isEarly && claimHistory.isKeyless ? null : payTxOf(reported),
    index: claimHistory.isKeyless ? null : indexOf(reported, claimHistory.index),
  }
}

function settlementClaimOf(reported: Reported, { status }: Said): SettlementClaim {
  const { claimHistory } = reported
  const to = routes[claimHistory.route]
  const isSent = status === 'settling' || status === 'settled'
  const amounts = { whole: claimHistory.amount, wrong: claimHistory.amount - 1n, nothing: null }
  return {
    ...to.out,
    amount: isSent ? (amounts[claimHistory.stated] as Amount | null) : null,
    ...(isSent && !isCredit(to) ? sentTxsOf(reported) : { tx: null }),
    fee: claimHistory.stated === 'wrong' ? (1n as Amount) : null,
  }
}

function isCredit({ out }: Route): boolean {
  return out.network === stableWalletNetwork
}

export function serviceIdOf(number: number): ServiceId {
  return `dep_${number + 1}` as ServiceId
}

function payTxOf({ claimHistory, number }: Reported): TxId {
  return txId(claimHistory.sharesPayment ? 'paid together' : `paid ${number}`)
}

function sentTxOf({ claimHistory, number }: Reported): TxId {
  return txId(claimHistory.sharesDelivery ? 'sent together' : `sent ${number}`)
}

function laterTxOf({ number }: Reported): TxId {
  return txId(`sent later ${number}`)
}

function sentTxsOf(reported: Reported): Pick<SettlementClaim, 'tx' | 'furtherTxs'> {
  const tx = sentTxOf(reported)
  return reported.claimHistory.namesAll ? { tx, furtherTxs: [laterTxOf(reported)] } : { tx }
}

/** Payments of one transaction stand at different places in it. */
function indexOf({ claimHistory, number }: Reported, index: string): string {
  return `${index}${claimHistory.sharesPayment ? number : ''}`
}

function timeOf({ minutes }: ClaimHistory, place: number): Date {
  return at(minutes[place % minutes.length] ?? 0)
}
