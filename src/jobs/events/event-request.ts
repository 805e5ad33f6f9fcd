import { randomUUID } from 'node:crypto'
import type { Kysely } from 'kysely'
import { Fault } from '../../core/errors.ts'
import type { EventPayload } from '../../core/event.ts'
import type { EndpointAnswer, OutgoingWebhook, Poster } from '../../outbox/post-webhook.ts'
import type { SecretRowId, SecretVault } from '../../outbox/secret-vault.ts'
import { readSecret, type SigningKey, signedHeaders } from '../../outbox/signing-key.ts'
import { type EventAttempt, storeAttempts } from '../../store/event-deliveries.ts'
import { namedEndpoint, type SealedSecret, sealedSecrets } from '../../store/event-endpoints.ts'
import type { FeedEvent } from '../../store/events.ts'
import type { Tables } from '../../store/tables.ts'

/** An attempt ends within the lease under which it began. */
export const eventTimeoutMs = 10_000

/** @throws Fault `settings_bad` if the secrets were encrypted with another key */
export function signingKeys(
  vault: SecretVault,
  endpoint: bigint,
  secrets: readonly SealedSecret[],
): SigningKey[] {
  return secrets.map(({ version, sealed }) => {
    const key = readSecret(opened(vault, sealed, { endpointId: `${endpoint}`, version }))
    if (key === null) throw new Error('only secrets that can be read are kept')
    return key
  })
}

function opened(vault: SecretVault, sealed: Buffer, row: SecretRowId): string {
  try {
    return vault.open(sealed, row)
  } catch (error) {
    const fault =
      'EVENTS_KEY is not the key with which the secrets of event endpoints were encrypted: set the earlier one, or rotate each secret with "bin/depositd events endpoint rotate"'
    throw new Fault('settings_bad', { faults: [fault] }, { cause: error })
  }
}

/** The same bytes at each attempt. Numbers of the database are text, as in the API. */
export function eventBody(event: FeedEvent, payload: EventPayload): string {
  const { id, type, at, sequence, previous, depositId, service, owner, data } = event
  return JSON.stringify({
    id,
    type,
    timestamp: at.toISOString(),
    sequence: `${sequence}`,
    previous: previous === null ? null : `${previous}`,
    deposit: depositId === null ? null : `${depositId}`,
    service,
    owner,
    ...(payload === 'full' && { data }),
  })
}

/** By Standard Webhooks: signed with each key, so that a receiver with either finds its own during a rotation. */
export function signedRequest(
  keys: readonly SigningKey[],
  { url, id, body, at }: { url: string; id: string; body: string; at: Date },
): OutgoingWebhook {
  const timestamp = `${Math.floor(at.getTime() / 1000)}`
  const headers = signedHeaders(keys, { id, timestamp, body })
  return { url, headers: { ...headers, 'content-type': 'application/json' }, body }
}

export function attemptOf(
  sequence: bigint | null,
  { answer, at, durationMs }: { answer: EndpointAnswer; at: Date; durationMs: number },
): EventAttempt {
  const result =
    answer.kind === 'answered'
      ? ({ status: answer.status, problem: null } as const)
      : ({ status: null, problem: answer.problem } as const)
  return { sequence, at, durationMs, ...result }
}

export type SentTest = EventAttempt & { eventId: string }

type SendTestDeps = { db: Kysely<Tables>; vault: SecretVault; poster: Poster; now: () => Date }

/** Signed like an event, but not one: it has no sequence, and is not sent again. Also to a paused endpoint. */
export async function sendTest({ db, vault, poster, now }: SendTestDeps, name: string): Promise<SentTest> {
  const { id, url } = await namedEndpoint(db, name)
  const at = now()
  const keys = signingKeys(vault, id, await sealedSecrets(db, id, at))
  const eventId = randomUUID()
  const test = { id: eventId, type: 'endpoint.test', timestamp: at.toISOString(), sequence: null, data: {} }
  const request = signedRequest(keys, { url, id: eventId, body: JSON.stringify(test), at })
  const began = performance.now()
  const answer = await poster.post(request, new AbortController().signal)
  const durationMs = Math.round(performance.now() - began)
  const attempt = attemptOf(null, { answer, at, durationMs })
  await storeAttempts(db, id, { attempts: [attempt], ended: [] })
  return { ...attempt, eventId }
}
