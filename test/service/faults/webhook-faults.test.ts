import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type NetworkName, parseAddress } from '../../../src/core/asset.ts'
import type { DepositChange } from '../../../src/service/deposits/deposits.ts'
import type { FaultKnob } from '../../../src/service/faults/fault-table.ts'
import type { DepositStatus } from '../../../src/service/tables.ts'
import { makeSecret } from '../../../src/service/webhooks/signing-key.ts'
import { inTransaction } from '../../../src/store/database.ts'
import { standardWebhooks } from '../../support/sign-webhook.ts'
import type { TakenWebhook } from '../webhook-receiver.ts'
import { type Office, openOffice, type Registered } from '../webhooks/office.ts'

const secret = makeSecret('v1')
const verify = standardWebhooks(secret)
const delaySeconds = 60
const none = {
  dropWebhookRate: 0,
  doubleWebhookRate: 0,
  delayWebhookRate: 0,
  reorderWebhookRate: 0,
  corruptWebhookRate: 0,
  resignWebhookRate: 0,
  editWebhookRate: 0,
  dropTransactionRate: 0,
  skewWebhookRate: 0,
  claimAgainRate: 0,
  regressStatusRate: 0,
}
const recipient = parseAddress('evm', `0x${'9'.repeat(40)}`)
let office: Office
let receiver: Registered

beforeAll(async () => {
  office = await openOffice()
  receiver = await office.receiver({ secret })
})
beforeEach(() => {
  receiver.taken()
  receiver.answerWith(204)
})
afterAll(() => office.close())

function turnOn(knob: FaultKnob): void {
  office.faults.set({ ...none, delayMs: delaySeconds * 1000, [knob]: 1 })
}

async function taken(): Promise<TakenWebhook[]> {
  await office.deliver()
  return receiver.taken()
}

/** As depositd judges it, at the time at which it was sent. */
function isBelieved({ headers, body }: TakenWebhook): boolean {
  return verify({ headers, body: Buffer.from(body), receivedAt: office.now() }).kind === 'verified'
}

async function credit(transaction: string): Promise<void> {
  const { book } = office
  const [deposit] = (await book.list(`transaction=${transaction}`)).data
  const amounts = { to_at: new Date(0), to_amount: '1', fee: '0', rate: '1' }
  const change = { id: deposit?.id ?? '', status: 'credited', ...amounts } as const
  await inTransaction(book.db, (tx) => book.deposits.change(tx, ['confirmed'], [change]))
}

const amountOf = ({ body }: TakenWebhook): string =>
  (JSON.parse(body) as { data: { source: { amount: string } } }).data.source.amount
const typeOf = ({ body }: TakenWebhook): string => (JSON.parse(body) as { type: string }).type

// The first ones: times are the database's, and the others move the clock of the deliveries away from it.
test('a reordered deposit is told of at once, and its confirmation after what follows it', async () => {
  turnOn('reorderWebhookRate')
  const payment = office.payment()
  const { book } = office
  // The deposits of other tests vanish on the way.
  const reported = async () =>
    (await taken()).filter(({ body }) => body.includes(payment.transaction)).map(typeOf)
  await book.record([payment], 0n)
  expect(await reported()).toEqual(['deposit.detected'])
  await book.record([{ ...payment, final: true }], payment.block)
  expect(await reported()).toEqual([])
  await credit(payment.transaction)
  const [credited, confirmed] = (await office.deliveriesOf(receiver)).toReversed()
  expect([credited?.attempts, confirmed?.attempts]).toEqual([0, 0])
  expect(Number(confirmed?.next_at)).toBeGreaterThan(Number(credited?.next_at))
  office.advance(2)
  expect((await reported()).toSorted()).toEqual(['deposit.confirmed', 'deposit.credited'])
})

test('the payment of a credited deposit is claimed again by an event of its own, which verifies', async () => {
  turnOn('claimAgainRate')
  const payment = office.payment()
  const { book } = office
  const reported = async () => (await taken()).filter(({ body }) => body.includes(payment.transaction))
  await book.record([{ ...payment, final: true }], payment.block)
  expect((await reported()).map(typeOf).toSorted()).toEqual(['deposit.confirmed', 'deposit.detected'])
  await credit(payment.transaction)
  const [first, second, ...more] = await reported()
  if (first === undefined || second === undefined) throw new Error('it is told of twice')
  expect([more.length, ...[first, second].map(isBelieved)]).toEqual([0, true, true])
  expect(second.headers['webhook-id']).not.toBe(first.headers['webhook-id'])
  const [event, again] = [first, second].map(({ body }) => JSON.parse(body.toString()))
  expect(again.id).toBe(second.headers['webhook-id'])
  expect(again).toEqual({ ...event, id: again.id, data: { ...event.data, id: again.data.id } })
  expect(again.data.id).not.toBe(event.data.id)
})

test('what is being forwarded is confirmed again, told of and listed, and the webhook of its end is not at once', async () => {
  turnOn('regressStatusRate')
  const { book } = office
  const rule = { forward_network: 'base' as NetworkName, forward_asset: 'USDC', forward_recipient: recipient }
  const owner = await book.keep({ kind: 'channel', id: 'shop', ...rule })
  const payment = { ...office.payment(), address: owner.evm_address, final: true }
  await book.record([payment], payment.block)
  const find = async () => (await book.list(`transaction=${payment.transaction}`)).data[0]
  const { id = '' } = (await find()) ?? {}
  const goTo = (from: DepositStatus, change: Omit<DepositChange, 'id'>) =>
    inTransaction(book.db, (tx) => book.deposits.change(tx, [from], [{ id, ...change }]))
  const reported = async () => (await taken()).filter(({ body }) => body.includes(id)).map(typeOf)
  await goTo('confirmed', { status: 'converting', to_amount: '1', fee: '0', rate: '1' })
  expect(await reported()).toEqual(['deposit.detected', 'deposit.confirmed', 'deposit.converting'])
  await goTo('converting', { status: 'forwarding', to_transaction: 't' })
  expect(await reported()).toEqual(['deposit.confirmed'])
  expect(await find()).toMatchObject({ status: 'confirmed', destination: { transaction: 't' } })
  await goTo('forwarding', { status: 'settled', to_at: new Date(0) })
  expect(await reported()).toEqual([])
  const settled = await find()
  expect(settled?.status).toBe('settled')
  const waiting = (await office.deliveriesOf(receiver)).at(-1)
  expect(waiting?.attempts).toBe(0)
  const waitMs = Number(waiting?.next_at) - Date.parse(settled?.updated_at ?? '')
  expect(waitMs).toBeGreaterThanOrEqual(10_000)
  expect(waitMs).toBeLessThan(15_000)
  // Other tests move the clock: it would come among theirs.
  await book.db
    .deleteFrom('service.delivery')
    .where('event_id', '=', waiting?.event_id ?? '')
    .execute()
})

test('a dropped webhook is not sent, and the delivery log says that it was delivered', async () => {
  turnOn('dropWebhookRate')
  await office.happen()
  expect(await taken()).toEqual([])
  const deliveries = await office.deliveriesOf(receiver)
  expect(deliveries.at(-1)).toMatchObject({ status: 'delivered', attempts: 1 })
})

test('a doubled webhook is sent twice, the same in id and bytes', async () => {
  turnOn('doubleWebhookRate')
  await office.happen()
  const [one, other, ...more] = await taken()
  expect(more).toEqual([])
  expect([other?.headers['webhook-id'], other?.body]).toEqual([one?.headers['webhook-id'], one?.body])
  expect([one, other].every((webhook) => webhook !== undefined && isBelieved(webhook))).toBe(true)
})

test('a delayed webhook is sent after the delay, and believed then', async () => {
  turnOn('delayWebhookRate')
  await office.happen()
  expect(await taken()).toEqual([])
  office.advance(delaySeconds - 5)
  expect(await taken()).toEqual([])
  office.advance(6)
  expect((await taken()).map(isBelieved)).toEqual([true])
})

test.each(['corruptWebhookRate', 'resignWebhookRate'] as const)(
  'by %s a webhook is not believed, however often it is sent',
  async (knob) => {
    turnOn(knob)
    receiver.answerWith(401)
    await office.happen()
    expect((await taken()).map(isBelieved)).toEqual([false])
    office.advance(10)
    expect((await taken()).map(isBelieved)).toEqual([false])
    office.faults.set(none)
    receiver.answerWith(204)
    office.advance(60)
    expect((await taken()).map(isBelieved)).toEqual([true])
  },
)

test('an edited webhook is believed, and states another amount at every attempt', async () => {
  turnOn('editWebhookRate')
  receiver.answerWith(500)
  const payment = office.payment()
  await office.book.record([payment], 0n)
  const [first] = await taken()
  receiver.answerWith(204)
  office.advance(60)
  const [second] = await taken()
  if (first === undefined || second === undefined) throw new Error('it is sent again')
  expect([isBelieved(first), isBelieved(second)]).toEqual([true, true])
  expect(amountOf(first)).not.toBe(payment.amount.toString())
  expect(amountOf(second)).toBe(amountOf(first))
})

test('webhooks without the transaction name none, and verify', async () => {
  turnOn('dropTransactionRate')
  await office.book.record([office.payment()], 0n)
  const [webhook] = await taken()
  if (webhook === undefined) throw new Error('it is sent')
  expect(isBelieved(webhook)).toBe(true)
  expect(JSON.parse(webhook.body.toString()).data.source).toMatchObject({ transaction: null })
})

test('misdated webhooks are an hour ahead, and verify', async () => {
  turnOn('skewWebhookRate')
  await office.book.record([office.payment()], 0n)
  const [webhook] = await taken()
  if (webhook === undefined) throw new Error('it is sent')
  expect(isBelieved(webhook)).toBe(true)
  const { data, created_at: reported } = JSON.parse(webhook.body.toString())
  expect(reported).toBe(data.updated_at)
  const [honest] = (await office.book.list('')).data
  expect(Date.parse(data.updated_at)).toBeGreaterThan(Date.parse(data.source.time) + 3_600_000)
  expect(Date.parse(data.created_at) - Date.parse(honest?.created_at ?? '')).toBe(3_600_000)
})
