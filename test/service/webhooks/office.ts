import { type Logger, pino } from 'pino'
import { openPoster, type Poster } from '../../../src/outbox/post-webhook.ts'
import type { SecretVault } from '../../../src/outbox/secret-vault.ts'
import { makeSecret } from '../../../src/outbox/signing-key.ts'
import { createFaults, type Faults } from '../../../src/service/faults/faults.ts'
import type { ScannedPayment } from '../../../src/service/network/port.ts'
import type { AttemptRow, DeliveryRow, EndpointRow } from '../../../src/service/tables.ts'
import { type Courier, openCourier } from '../../../src/service/webhooks/deliver-webhooks.ts'
import { endEndpoint, registerEndpoint } from '../../../src/service/webhooks/endpoints.ts'
import { openVault } from '../../../src/service/webhooks/secrets.ts'
import { inTransaction } from '../../../src/store/database.ts'
import { type Book, openBook } from '../book.ts'
import { seed } from '../fixtures.ts'
import { startReceiver, type WebhookReceiver } from '../webhook-receiver.ts'

export type Registered = WebhookReceiver & { endpoint: EndpointRow }
type Wanted = { secret?: string; types?: string[] }

/** A book whose events are delivered, by a clock that is moved by hand. */
export type Office = {
  book: Book
  vault: SecretVault
  faults: Faults
  now: () => Date
  advance(seconds: number): void
  /** A receiver that is registered as an endpoint. */
  receiver(wanted?: Wanted): Promise<Registered>
  /** Takes an endpoint out of what follows. */
  remove(receiver: Registered): Promise<void>
  /** A payment of its own. */
  payment(): ScannedPayment
  /** Makes so many deposits, each with one event. */
  happen(count?: number): Promise<void>
  deliveriesOf(receiver: Registered): Promise<DeliveryRow[]>
  attemptsOf(receiver: Registered): Promise<AttemptRow[]>
  courier(changes?: { poster?: Poster; log?: Logger; vault?: SecretVault }): Courier
  /** One turn, until all its attempts ended. */
  deliver(stopping?: AbortSignal): Promise<void>
  close(): Promise<void>
}

export async function openOffice(): Promise<Office> {
  const faults = createFaults({ seed: 'test' })
  const book = await openBook(faults)
  const vault = openVault(seed)
  const poster = openPoster({ allowPrivate: true, timeoutMs: 15_000 })
  const receivers: WebhookReceiver[] = []
  const silent = pino({ level: 'silent' })
  let aheadMs = 0
  // Postgres tells microseconds: a millisecond later, whatever is due by its clock is due by this one too.
  const now = () => new Date(Date.now() + 1 + aheadMs)
  const courier: Office['courier'] = (changes = {}) => {
    const parts = { db: book.db, vault, poster, faults, log: silent, ...changes }
    return openCourier({ ...parts, now, random: () => 0.5, onRoom: () => undefined })
  }
  const usual = courier()
  let number = 0
  const payment = () => book.payment(++number, false)
  return {
    payment,
    happen: (count = 1) => book.record(Array.from({ length: count }, payment), 0n),
    remove: ({ endpoint }) =>
      inTransaction(book.db, (tx) => endEndpoint(tx, endpoint.id, { status: 'deleted' })),
    deliveriesOf: ({ endpoint }) =>
      book.db
        .selectFrom('service.delivery')
        .selectAll()
        .where('endpoint_id', '=', endpoint.id)
        .orderBy('sequence')
        .execute(),
    attemptsOf: ({ endpoint }) =>
      book.db
        .selectFrom('service.delivery_attempt')
        .selectAll()
        .where('endpoint_id', '=', endpoint.id)
        .orderBy('number')
        .execute(),
    book,
    vault,
    faults,
    now,
    advance: (seconds) => {
      aheadMs += seconds * 1000
    },
    receiver: async ({ secret = makeSecret('v1'), types } = {}) => {
      const receiver = await startReceiver()
      receivers.push(receiver)
      const wanted = { url: receiver.url, types: types ?? null, secret, configured: false }
      const endpoint = await registerEndpoint({ db: book.db, vault }, wanted)
      if (typeof endpoint === 'string') throw new Error(endpoint)
      return { ...receiver, endpoint }
    },
    courier,
    deliver: async (stopping = new AbortController().signal) => {
      await usual.turn(stopping)
      await usual.idle()
    },
    close: async () => {
      poster.close()
      await Promise.all(receivers.map((receiver) => receiver.stop()))
      await book.close()
    },
  }
}
