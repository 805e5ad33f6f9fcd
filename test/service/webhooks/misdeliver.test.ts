import { createHmac } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { DepositRecord } from '../../../src/service/deposits/record.ts'
import type { DepositKnob } from '../../../src/service/faults/fault-table.ts'
import { makeSecret } from '../../../src/service/webhooks/signing-key.ts'
import type { TakenWebhook } from '../webhook-receiver.ts'
import { openCalls, root } from './calls.ts'
import { type Office, openOffice, type Registered } from './office.ts'

const secret = makeSecret('v1')

let office: Office
let receiver: Registered

beforeEach(async () => {
  office = await openOffice()
  receiver = await office.receiver({ secret })
})

afterEach(() => office.close())

function turnOn(knob: DepositKnob): void {
  office.faults.set({ [knob]: 1 })
}

/** A deposit of so many events. */
async function tell(): Promise<void> {
  const payment = office.payment()
  await office.book.record([payment], 0n)
  await office.book.record([{ ...payment, final: true }], 0n)
}

function isSigned({ headers, body }: TakenWebhook): boolean {
  const content = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  return headers['webhook-signature'] === `v1,${createHmac('sha256', key).update(content).digest('base64')}`
}

function read({ body }: TakenWebhook) {
  return JSON.parse(body) as { type: string; data: DepositRecord }
}

function types(taken: readonly TakenWebhook[]): string[] {
  return taken.map((webhook) => read(webhook).type)
}

test('a dropped webhook is never sent, though the delivery log says so', async () => {
  turnOn('dropWebhookRate')
  await tell()
  await office.deliver()
  expect(receiver.taken()).toEqual([])
  expect(await office.deliveriesOf(receiver)).toMatchObject([
    { status: 'delivered' },
    { status: 'delivered' },
  ])
  expect(await office.attemptsOf(receiver)).toMatchObject([{ status_code: 200 }, { status_code: 200 }])
})

test('a doubled webhook arrives twice, the same and validly signed', async () => {
  turnOn('doubleWebhookRate')
  await office.happen()
  await office.deliver()
  const [first, second, ...more] = receiver.taken()
  expect(more).toEqual([])
  expect(first?.body).toBe(second?.body)
  expect([first, second].every((one) => one !== undefined && isSigned(one))).toBe(true)
})

test('a corrupted webhook differs by one byte from what was signed', async () => {
  turnOn('corruptWebhookRate')
  await office.happen()
  await office.deliver()
  const [taken] = receiver.taken()
  if (taken === undefined) throw new Error('nothing came')
  expect(isSigned(taken)).toBe(false)
  expect(() => JSON.parse(taken.body) as unknown).not.toThrow()
  expect(isSigned({ ...taken, body: taken.body.replace('"Type"', '"type"') })).toBe(true)
})

test('a re-signed webhook is whole, by a secret that nobody knows', async () => {
  turnOn('resignWebhookRate')
  await office.happen()
  await office.deliver()
  const [taken] = receiver.taken()
  if (taken === undefined) throw new Error('nothing came')
  expect(taken.headers['webhook-signature']).toMatch(/^v1,[A-Za-z0-9+/]{43}=$/)
  expect(isSigned(taken)).toBe(false)
})

test('an edited webhook states another amount, validly signed and the same at every attempt', async () => {
  turnOn('editWebhookRate')
  await office.happen()
  receiver.answerWith(500)
  await office.deliver()
  office.skip(2)
  await office.deliver()
  const [first, second] = receiver.taken()
  if (first === undefined || second === undefined) throw new Error('two were expected')
  expect(isSigned(first)).toBe(true)
  expect(second.body).toBe(first.body)
  const [deposit] = (await office.book.list('')).data
  const stated = read(first).data
  expect(BigInt(stated.source.amount)).toBe(BigInt(deposit?.source.amount ?? 0) + 1n)
  const amount = deposit?.source.amount
  expect({ ...stated, source: { ...stated.source, amount } }, 'and nothing else').toEqual(deposit)
})

test('delayed webhooks wait for the delay', async () => {
  office.faults.set({ delayWebhookRate: 1, delayMs: 60_000 })
  await tell()
  office.skip(55)
  await office.deliver()
  expect(receiver.taken()).toEqual([])
  office.skip(6)
  await office.deliver()
  expect(types(receiver.taken())).toHaveLength(2)
})

test('reordered webhooks go out from the last to the first once the last is known', async () => {
  office.faults.set({ reorderWebhookRate: 1, delayMs: 60_000 })
  const payment = office.payment()
  await office.book.record([payment], 0n)
  await office.deliver()
  expect(receiver.taken()).toEqual([])
  await office.book.record([], payment.block)
  const taken: TakenWebhook[] = []
  for (let turn = 0; turn < 3; turn++) {
    await office.deliver()
    taken.push(...receiver.taken())
    office.skip(1)
  }
  expect(types(taken)).toEqual(['deposit.failed', 'deposit.detected'])
})

test('reordered webhooks of a deposit that never ends wait no longer than the delay', async () => {
  office.faults.set({ reorderWebhookRate: 1, delayMs: 60_000 })
  await tell()
  office.skip(61)
  await office.deliver()
  expect(receiver.taken()).toHaveLength(2)
})

test('a test event is sent as it is, whatever is switched on', async () => {
  office.faults.set({ dropWebhookRate: 1, corruptWebhookRate: 1, editWebhookRate: 1, delayWebhookRate: 1 })
  await openCalls(office).order(`${root}/${receiver.endpoint.id}/test`)
  await office.deliver()
  expect(receiver.taken().map(isSigned)).toEqual([true])
})
