import { sql } from 'kysely'
import { messageOf } from '../../core/errors.ts'
import type { Faults } from '../faults/faults.ts'
import type { WebhookEndpoint } from '../settings.ts'
import type { ServiceDatabase } from '../tables.ts'
import { signedHeaders } from './sign-webhook.ts'
import { readSecret } from './signing-key.ts'

type Due = {
  event_id: string
  url: string
  attempts: number
  body: string
  network: string
  transaction: string
  index: string
}

type Outcome = { due: Due; delivered: boolean; answer: string }

const batchMax = 32
const timeoutMs = 10_000
/** Longer than the time-out: a delivery that a crash left unanswered is sent again after it. */
const leaseSeconds = 30
const backoffBaseMs = 1000
const backoffMaxMs = 300_000

export type Delivering = { db: ServiceDatabase; endpoints: readonly WebhookEndpoint[]; faults: Faults }

/**
 * Sends what is due, and returns whether more is waiting. An endpoint may receive an event more than once; it
 * receives it with the same id and the same bytes until it answers 2xx.
 */
export async function deliverWebhooks(
  { db, endpoints, faults }: Delivering,
  stopping: AbortSignal,
): Promise<boolean> {
  const secrets = new Map(endpoints.map(({ url, secret }) => [url, secret]))
  const batch = await takeDue(db, [...secrets.keys()])
  await Promise.all(
    batch.map(async (due) => {
      const dropped = faults.strikes('dropWebhookRate', due)
      const secret = secrets.get(due.url) ?? ''
      const answered = dropped ? { delivered: true, answer: '200' } : await send(due, secret, stopping)
      await saveOutcome(db, { due, ...answered })
    }),
  )
  return batch.length === batchMax
}

/** Deliveries to an endpoint that is no longer configured wait, in case it comes back. */
async function takeDue(db: ServiceDatabase, urls: readonly string[]): Promise<readonly Due[]> {
  const { rows } = await sql<Due>`
    with due as (
      select event_id, url from service.delivery
      where next_at <= clock_timestamp() and url = any(${urls})
      order by next_at limit ${batchMax} for update skip locked
    ), taken as (
      update service.delivery as delivery
      set attempts = attempts + 1, next_at = clock_timestamp() + make_interval(secs => ${leaseSeconds})
      from due where (delivery.event_id, delivery.url) = (due.event_id, due.url)
      returning delivery.event_id, delivery.url, delivery.attempts
    )
    select taken.*, event.body, deposit.network, deposit.transaction, deposit.index
    from taken
    join service.event on event.id = taken.event_id
    join service.deposit on deposit.id = event.deposit_id
    order by event.sequence`.execute(db)
  return rows
}

async function send(
  { event_id, url, body }: Due,
  secret: string,
  stopping: AbortSignal,
): Promise<Omit<Outcome, 'due'>> {
  const key = readSecret(secret)
  const timestamp = Math.floor(Date.now() / 1000).toString()
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...signedHeaders(key === null ? [] : [key], { id: event_id, timestamp, body }),
      },
      body,
      redirect: 'manual',
      signal: AbortSignal.any([stopping, AbortSignal.timeout(timeoutMs)]),
    })
    await response.body?.cancel()
    return { delivered: response.ok, answer: response.status.toString() }
  } catch (error) {
    return { delivered: false, answer: messageOf(error).slice(0, 200) }
  }
}

async function saveOutcome(db: ServiceDatabase, { due, delivered, answer }: Outcome): Promise<void> {
  await db
    .updateTable('service.delivery')
    .set({
      answer,
      delivered_at: delivered ? sql`clock_timestamp()` : null,
      next_at: delivered
        ? null
        : sql`clock_timestamp() + make_interval(secs => ${backoffSeconds(due.attempts)})`,
    })
    .where('event_id', '=', due.event_id)
    .where('url', '=', due.url)
    .where('delivered_at', 'is', null)
    .execute()
}

/** Doubles from attempt to attempt up to the bound, spread by a fifth so that a crowd does not come back at once. */
function backoffSeconds(attempts: number): number {
  const backoffMs = Math.min(backoffMaxMs, backoffBaseMs * 2 ** Math.min(attempts - 1, 20))
  return (backoffMs * (0.8 + Math.random() * 0.4)) / 1000
}
