import { sql } from 'kysely'
import { type EventSender, type EventSenderDeps, openEventSender } from '../../src/jobs/events/send-events.ts'
import { openPoster } from '../../src/outbox/post-webhook.ts'
import { openSecretVault } from '../../src/outbox/secret-vault.ts'
import { makeSecret, type SigningKeyScheme } from '../../src/outbox/signing-key.ts'
import { inTransaction } from '../../src/store/database.ts'
import {
  createEventEndpoint,
  type EventEndpoint,
  endpointVaultPurpose,
  type NewEventEndpoint,
  namedEndpoint,
} from '../../src/store/event-endpoints.ts'
import { numberEvents } from '../../src/store/events.ts'
import type { Books } from './books.ts'

export const eventsKey = Buffer.alloc(32, 7)
export const eventVault = openSecretVault(eventsKey, endpointVaultPurpose)

export type SentEvents = AsyncDisposable & {
  sender: EventSender
  /** Starts at `virtualStart`, and moves by hand. */
  clock: { now: Date; pass: (seconds: number) => void }
  stopped: string[]
  failed: unknown[]
  /** Numbers events of these deposits, one after the other; null for one about none. */
  happen: (...deposits: (number | null)[]) => Promise<void>
  deliver: () => Promise<void>
}

/** A sender beside the books, with a clock that stands still. */
export function sendEvents(books: Books, changes: Partial<EventSenderDeps> = {}): SentEvents {
  const clock = {
    now: new Date(),
    pass: (seconds: number) => {
      clock.now = new Date(clock.now.getTime() + seconds * 1000)
    },
  }
  const stopped: string[] = []
  const failed: unknown[] = []
  const poster = changes.poster ?? openPoster({ allowPrivate: true, timeoutMs: 2000 })
  const sender = openEventSender({
    db: books.db,
    holder: 'sender',
    leaseMs: 15_000,
    attemptMs: 2000,
    vault: eventVault,
    now: () => clock.now,
    random: () => 0.5,
    observe: {
      sent: () => undefined,
      stopped: (endpoint, reason) => stopped.push(`${endpoint}: ${reason}`),
      failed: (error) => failed.push(error),
    },
    ...changes,
    poster,
  })
  return {
    sender,
    clock,
    stopped,
    failed,
    happen: (...deposits) => happen(books, deposits),
    async deliver() {
      sender.wake()
      await sender.idle()
    },
    async [Symbol.asyncDispose]() {
      await sender.stop()
      poster.close()
    },
  }
}

async function happen({ db }: Books, deposits: readonly (number | null)[]): Promise<void> {
  await sql`
    insert into event_pending (type, deposit_id, service, data)
    select case when deposit is null then 'seal.published' else 'deposit.observed' end, deposit, 'default', '{"amount": "1"}'
    from unnest(${[...deposits]}::bigint[]) with ordinality as one (deposit, place) order by place`.execute(
    db,
  )
  await numberEvents(db)
}

type EndpointOptions = Partial<NewEventEndpoint> & { url: string; scheme?: SigningKeyScheme }

export function addEndpoint(books: Books, options: EndpointOptions): Promise<EventEndpoint> {
  const { scheme = 'v1', ...changes } = options
  const endpoint = {
    name: 'shop',
    payload: 'full',
    types: null,
    services: null,
    owners: null,
    secret: makeSecret(scheme),
    by: 'erin',
    ...changes,
  } as const
  return inTransaction(books.db, (tx) => createEventEndpoint(tx, eventVault, endpoint))
}

export function endpointNamed(books: Books, name = 'shop'): Promise<EventEndpoint> {
  return namedEndpoint(books.db, name)
}
