import { createHash } from 'node:crypto'
import type { OwnerEntry } from '../../src/core/address-book.ts'
import type { Address, TxId } from '../../src/core/asset.ts'
import type { Claim, ObservedChainTransfer, Owner, ServiceId } from '../../src/core/evidence.ts'
import type { Amount } from '../../src/core/money.ts'
import type { NewInboxRow } from '../../src/store/inbox.ts'
import { arbitrum, at, base, claim, delivery, payment, recipient } from '../../test/support/evidence.ts'
import { ownEvent, ownRecord } from '../../test/support/own-payloads.ts'

/** One message: what a chain showed, or what the service sent. */
export type Message = ObservedChainTransfer | NewInboxRow

const owners = 1000

/**
 * When each message of a deposit arrives, in seconds after its payment, between those two: the payment once it is
 * final, the webhook and the delivery once it is forwarded, the record when it is listed next.
 */
const arrives = { payment: [10, 20], delivery: [50, 80], webhook: [45, 75], record: [60, 120] } as const
const longestSeconds = 120

/** The channels that are paid, each at an address of its own and all forwarding to one recipient. */
export function backlogOwners(): OwnerEntry[] {
  return Array.from({ length: owners }, (_, number) => ({
    owner: ownerOf(number),
    deposits: [{ network: base, address: addressOf(number) }],
    forward: { network: arbitrum, asset: 'USDC', recipient },
  }))
}

/** So many deposits, one a second or more, as their messages arrive: what belongs together lies apart. */
export function* backlog(deposits: number, perSecond = 1): Generator<Message> {
  let waiting: Message[] = []
  for (let number = 0; number < deposits; number++) {
    const paidAt = number / perSecond
    waiting.push(...reportOf(number, paidAt))
    if (number % (longestSeconds * perSecond) !== 0) continue
    const sorted = waiting.toSorted(byArrival)
    const arrived = sorted.findIndex(({ receivedAt }) => receivedAt >= second(paidAt))
    yield* sorted.slice(0, Math.max(arrived, 0))
    waiting = sorted.slice(Math.max(arrived, 0))
  }
  yield* waiting.toSorted(byArrival)
}

/** The deposit of that number, paid at that second. Ids and transactions are as scattered as real ones. */
function reportOf(number: number, paidAt: number): Message[] {
  const bytes = hash(`deposit ${number}`)
  const arrivesAt = (which: keyof typeof arrives, place: number) => {
    const [first, last] = arrives[which]
    return second(paidAt + first + ((last - first) * (bytes[place] ?? 0)) / 255)
  }
  const address = addressOf(number % owners)
  const [payTx, forwardTx] = [txOf(`pay ${number}`), txOf(`forward ${number}`)]
  const cents = BigInt(100 + (number % 9973))
  const [amount, fee] = [cents * 10_000n, cents * 10n] as [Amount, Amount]
  const out = (amount - fee) as Amount
  const claimed = claim({
    serviceId: `dep_${bytes.toString('hex', 0, 13)}` as ServiceId,
    owner: ownerOf(number % owners),
    deposit: { address, amount, tx: payTx },
    settlement: { tx: forwardTx, amount: out, fee },
    occurredAt: second(paidAt + 45),
  })
  const facts = { height: BigInt(number + 1), blockHash: txOf(`block ${number}`) }
  return [
    payment({
      ...facts,
      tx: payTx,
      to: address,
      amount,
      blockAt: second(paidAt),
      receivedAt: arrivesAt('payment', 13),
    }),
    delivery({
      ...facts,
      tx: forwardTx,
      amount: out,
      blockAt: second(paidAt + 40),
      receivedAt: arrivesAt('delivery', 14),
    }),
    eventRow({ ...claimed, receivedAt: arrivesAt('webhook', 15) }),
    recordRow({ ...claimed, receivedAt: arrivesAt('record', 16) }),
  ]
}

function eventRow(claimed: Claim): NewInboxRow {
  const id = `evt_${claimed.serviceId}`
  const event = { ...ownEvent(claimed, { type: 'deposit.settled', status: 'settled' }), id }
  return {
    source: 'webhook',
    sourceKey: id,
    body: Buffer.from(JSON.stringify(event)),
    headers: { 'content-type': 'application/json', 'webhook-id': id, 'verified-by': 'standard-webhooks' },
    receivedAt: claimed.receivedAt,
  }
}

function recordRow(claimed: Claim): NewInboxRow {
  const body = Buffer.from(JSON.stringify(ownRecord(claimed, 'settled')))
  const sourceKey = `${claimed.serviceId} ${hash(claimed.serviceId).toString('hex')}`
  return { source: 'api', sourceKey, body, headers: {}, receivedAt: claimed.receivedAt }
}

function ownerOf(number: number): Owner {
  return { kind: 'channel', id: `shop_${number}` }
}

function addressOf(number: number): Address {
  return `0x${hash(`address ${number}`).toString('hex', 0, 20)}` as Address
}

function txOf(name: string): TxId {
  return `0x${hash(name).toString('hex')}` as TxId
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function second(count: number): Date {
  return at(count / 60)
}

function byArrival(left: Message, right: Message): number {
  return left.receivedAt.getTime() - right.receivedAt.getTime()
}
