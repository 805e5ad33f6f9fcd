import { randomUUID } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { Poster } from '../../outbox/post-webhook.ts'
import type { SecretVault } from '../../outbox/secret-vault.ts'
import { appendAttempts, type EventAttempt } from '../../store/event-deliveries.ts'
import { namedEndpoint, sealedSecrets } from '../../store/event-endpoints.ts'
import type { Tables } from '../../store/tables.ts'
import { attemptOf, signedRequest, signingKeys } from './event-request.ts'

type SendTestDeps = { db: Kysely<Tables>; vault: SecretVault; poster: Poster; now: () => Date }

export type SentTest = EventAttempt & { eventId: string }

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
  await appendAttempts(db, id, [attempt])
  return { ...attempt, eventId }
}
