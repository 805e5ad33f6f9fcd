import { createHmac } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeSecret } from '../../../src/outbox/signing-key.ts'
import type { DepositKnob } from '../../../src/service/faults/fault-table.ts'
import { sendWithFaults } from '../../../src/service/faults/webhook-faults.ts'
import type { DueDelivery } from '../../../src/service/webhooks/deliveries.ts'
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
async function report(): Promise<void> {
  const payment = office.payment()
  await office.book.record([payment], 0n)
  await office.book.record([{ ...payment, final: true }], 0n)
}

function isSigned({ headers, body }: TakenWebhook): boolean {
  const content = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  return headers['webhook-signature'] === `v1,${createHmac('sha256', key).update(content).digest('base64')}`
}

test('a confirmation that nothing follows is held no longer than the delay', async () => {
  office.faults.set({ reorderWebhookRate: 1, delayMs: 60_000 })
  await report()
  office.advance(61)
  await office.deliver()
  expect(receiver.taken()).toHaveLength(2)
})

test('a test event is sent as it is, whatever is switched on', async () => {
  office.faults.set({ dropWebhookRate: 1, corruptWebhookRate: 1, editWebhookRate: 1, delayWebhookRate: 1 })
  await openCalls(office).order(`${root}/${receiver.endpoint.id}/test`)
  await office.deliver()
  expect(receiver.taken().map(isSigned)).toEqual([true])
})

test('a second deposit claims the payment of a settled one only once the webhook of the first is taken', async () => {
  turnOn('claimAgainRate')
  const event = { id: 'evt_0011', type: 'deposit.settled', data: { id: 'dep_0022', status: 'settled' } }
  const message = { id: event.id, timestamp: '0', body: JSON.stringify(event) }
  const deposit = { network: 'mainnet', transaction: '0x1', index: '0' } as DueDelivery['deposit']
  const send = async (status: number) => {
    const ids: string[] = []
    const answer = await sendWithFaults(
      office.faults,
      { deposit },
      {
        message,
        keys: [],
        post: (_headers, body) => {
          ids.push((JSON.parse(body) as { id: string }).id)
          return Promise.resolve({ kind: 'answered', status, text: '', retryAfter: null })
        },
      },
    )
    return { ids, answer }
  }
  expect(await send(503)).toMatchObject({ ids: ['evt_0011'], answer: { status: 503 } })
  expect(await send(204)).toMatchObject({ ids: ['evt_0011', 'evt_1100'], answer: { status: 204 } })
})
