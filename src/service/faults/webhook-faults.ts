import { sql } from 'kysely'
import type { EndpointAnswer } from '../../outbox/post-webhook.ts'
import {
  makeSecret,
  readSecret,
  type SigningKey,
  signedHeaders,
  type WebhookMessage,
} from '../../outbox/signing-key.ts'
import type { DepositRecord } from '../deposits/record.ts'
import type { DepositStatus, ServiceDepositRow, ServiceTransaction } from '../tables.ts'
import type { DueDelivery } from '../webhooks/deliveries.ts'
import type { DepositKnob } from './fault-table.ts'
import type { Faults } from './faults.ts'
import { againOf, claimAgain, regress, withoutTransaction } from './record-faults.ts'

export type Letter = {
  message: WebhookMessage
  keys: readonly SigningKey[]
  post: (headers: Record<string, string>, body: string) => Promise<EndpointAnswer>
}

export async function sendWithFaults(
  faults: Faults,
  { deposit }: Pick<DueDelivery, 'deposit'>,
  letter: Letter,
): Promise<EndpointAnswer> {
  const strikes = (knob: DepositKnob): boolean => deposit !== null && faults.strikes(knob, deposit)
  if (strikes('dropWebhookRate')) return { kind: 'answered', status: 200, text: '', retryAfter: null }
  const answer = await send(strikes, letter)
  // A rejected webhook is retried, and its second message with it.
  if (answer.kind !== 'answered' || answer.status < 200 || answer.status > 299) return answer
  const [again] = strikes('claimAgainRate') ? secondMessage(letter.message) : []
  return again === undefined ? answer : send(strikes, { ...letter, message: again })
}

type Strikes = (knob: DepositKnob) => boolean

async function send(strikes: Strikes, { message, keys, post }: Letter): Promise<EndpointAnswer> {
  const edits = bodyEdits.filter(({ knob }) => strikes(knob))
  const signed = edits.reduce((text, { edit }) => edit(text), message.body)
  const signers = strikes('resignWebhookRate') ? keys.map(({ scheme }) => unknownKeys[scheme]) : keys
  const headers = signedHeaders(signers, { ...message, body: signed })
  // The signature fails, but the body is still valid JSON.
  const body = strikes('corruptWebhookRate') ? signed.replace('"type"', '"Type"') : signed
  const answer = await post(headers, body)
  return strikes('doubleWebhookRate') ? post(headers, body) : answer
}

const unknownKeys = { v1: unknownKey('v1'), v1a: unknownKey('v1a') }

function unknownKey(scheme: SigningKey['scheme']): SigningKey {
  const key = readSecret(makeSecret(scheme))
  if (key === null) throw new Error('a secret that was made can be read')
  return key
}

type Event = { id: string; type: string; created_at: string; data: DepositRecord }

/** None unless another deposit claims the payment again. */
function secondMessage({ id, body, ...rest }: WebhookMessage): WebhookMessage[] {
  const event = JSON.parse(body) as Event
  const second = againOf(id)
  return claimAgain(event.data).map((data) => ({
    ...rest,
    id: second,
    body: JSON.stringify({ ...event, id: second, data }),
  }))
}

/** Each edit has the same result at every attempt. */
const bodyEdits: readonly { knob: DepositKnob; edit: (body: string) => string }[] = [
  { knob: 'editWebhookRate', edit: editing(({ data, ...event }) => ({ ...event, data: editAmount(data) })) },
  {
    knob: 'dropTransactionRate',
    edit: editing(({ data, ...event }) => ({ ...event, data: withoutTransaction(data) })),
  },
  { knob: 'skewWebhookRate', edit: editing(dateAhead) },
  { knob: 'regressStatusRate', edit: editing(reportRegress) },
]

function editing(edit: (event: Event) => Event): (body: string) => string {
  return (body) => JSON.stringify(edit(JSON.parse(body) as Event))
}

function editAmount({ source, ...record }: DepositRecord): DepositRecord {
  return { ...record, source: { ...source, amount: (BigInt(source.amount) + 1n).toString() } }
}

const skewMs = 3_600_000

function dateAhead({ created_at, data, ...event }: Event): Event {
  const record = { ...data, created_at: ahead(data.created_at), updated_at: ahead(data.updated_at) }
  return { ...event, created_at: ahead(created_at), data: record }
}

function ahead(time: string): string {
  return new Date(Date.parse(time) + skewMs).toISOString()
}

function reportRegress(event: Event): Event {
  const data = regress(event.data)
  return data === event.data ? event : { ...event, type: 'deposit.confirmed', data }
}

/** Longer than a receiver needs, and shorter than the time after which a webhook counts as missing. */
const regressedMs = 10_000

/** The status after it follows soon, without waiting for a chain. */
const heldStatus: DepositStatus = 'confirmed'

/**
 * Delayed events wait for the delay. A reordered confirmation waits for the event after it, at most for the delay, so
 * that the order is its only fault. Events after a regressed status come a little later.
 */
export async function postpone(
  tx: ServiceTransaction,
  rows: readonly ServiceDepositRow[],
  faults: Faults,
): Promise<void> {
  const reordered = rows.filter((row) => faults.strikes('reorderWebhookRate', row))
  const held = reordered.filter(({ status }) => status === heldStatus)
  const late = rows.filter((row) => faults.strikes('delayWebhookRate', row))
  const followed = reordered.filter((row) => row.status !== heldStatus && !late.includes(row))
  const waiting = [...late, ...held]
  if (waiting.length > 0) await wait(tx, waiting, faults.current().delayMs)
  const goingOn = rows.filter(
    (row) => row.status === 'settled' && faults.strikes('regressStatusRate', row) && !late.includes(row),
  )
  if (goingOn.length > 0) await wait(tx, goingOn, regressedMs)
  if (followed.length > 0) await turnAround(tx, followed)
}

async function wait(
  tx: ServiceTransaction,
  rows: readonly ServiceDepositRow[],
  delayMs: number,
): Promise<void> {
  await sql`
    update service.delivery as delivery set next_at = clock_timestamp() + make_interval(secs => ${delayMs / 1000})
    from service.event
    join unnest(${rows.map(({ id }) => id)}::text[], ${rows.map(({ revision }) => revision)}::integer[])
      as reported (deposit_id, revision) using (deposit_id, revision)
    where event.id = delivery.event_id and delivery.attempts = 0`.execute(tx)
}

/** Spaces events by one second, which is longer than an answered attempt takes. */
async function turnAround(tx: ServiceTransaction, rows: readonly ServiceDepositRow[]): Promise<void> {
  await sql`
    update service.delivery as delivery
    set next_at = clock_timestamp() + make_interval(secs => last.revision - event.revision)
    from service.event
    join unnest(${rows.map(({ id }) => id)}::text[], ${rows.map(({ revision }) => revision)}::integer[])
      as last (deposit_id, revision) using (deposit_id)
    where event.id = delivery.event_id and delivery.status = 'pending' and delivery.attempts = 0`.execute(tx)
}
