import { z } from 'zod'
import { isWebhookSecret } from '../../outbox/signing-key.ts'
import { findUrlFault } from '../../outbox/webhook-url.ts'
import type { EndpointRow, SecretRow } from '../tables.ts'
import type { LoggedDelivery } from '../webhooks/deliveries.ts'
import type { NewEvent } from '../webhooks/events.ts'
import { depositEvents } from '../webhooks/outbox.ts'
import { withdrawalEvents } from '../webhooks/withdrawal-events.ts'
import { depositRecord, withdrawal } from './schemas.ts'

const time = z.iso.datetime()
const scheme = z.enum(['v1', 'v1a'])

const url = z.string().superRefine((text, context) => {
  const fault = findUrlFault(text)
  if (fault !== null) context.addIssue({ code: 'custom', message: fault })
})

const secret = z.string().refine(isWebhookSecret, {
  error:
    'must be whsec_ followed by the base64 of 24 to 64 bytes, or whsk_ followed by the base64 of an ed25519 key',
})

const eventTypes = [...depositEvents, ...withdrawalEvents]
const types = z.array(z.enum(eventTypes)).min(1).max(eventTypes.length)

export const endpointRequest = z.strictObject({
  url,
  types: types.optional(),
  secret: secret.optional(),
  scheme: scheme.optional(),
})

const overlapMaxSeconds = 7 * 86_400

export const rotationRequest = z.strictObject({
  secret: secret.optional(),
  scheme: scheme.optional(),
  overlap_seconds: z.int().min(0).max(overlapMaxSeconds).optional(),
})

export const endpointSchema = z
  .strictObject({
    id: z.string(),
    url: z.string(),
    types: z.array(z.string()).nullable(),
    status: z.enum(['active', 'disabled', 'deleted']),
    disabled_because: z.enum(['gone', 'requested']).nullable(),
    configured: z.boolean(),
    keys: z.array(
      z.strictObject({
        scheme,
        public_key: z.string().nullable(),
        created_at: time,
        expires_at: time.nullable(),
      }),
    ),
    created_at: time,
  })
  .meta({ id: 'WebhookEndpoint' })

/** The only response with the secret. */
export const endpointWithSecret = endpointSchema
  .extend({ secret: z.string() })
  .meta({ id: 'WebhookEndpointWithSecret' })

const withdrawalEvent = withdrawal.extend({ stable_wallet: z.string() }).meta({ id: 'WithdrawalEvent' })
const testData = z.strictObject({ endpoint: z.strictObject({ id: z.string(), url: z.string() }) })

export const eventSchema = z
  .strictObject({
    id: z.string(),
    type: z.string(),
    created_at: time,
    data: z.union([depositRecord, withdrawalEvent, testData]),
  })
  .meta({ id: 'Event' })

export const deliverySchema = z
  .strictObject({
    event_id: z.string(),
    endpoint_id: z.string(),
    type: z.string(),
    status: z.enum(['pending', 'delivered', 'failed', 'cancelled']),
    attempts: z.int(),
    next_attempt_at: time.nullable(),
    created_at: time,
    ended_at: time.nullable(),
    log: z.array(
      z.strictObject({
        number: z.int(),
        at: time,
        duration_ms: z.int().nullable(),
        status_code: z.int().nullable(),
        problem: z.string().nullable(),
        answer: z.string().nullable(),
      }),
    ),
  })
  .meta({ id: 'Delivery' })

export function showEndpoint(
  endpoint: EndpointRow,
  secrets: readonly SecretRow[],
): z.output<typeof endpointSchema> {
  return {
    id: endpoint.id,
    url: endpoint.url,
    types: endpoint.types,
    status: endpoint.status,
    disabled_because: endpoint.disabled_because,
    configured: endpoint.configured,
    keys: secrets
      .filter(({ endpoint_id: id }) => id === endpoint.id)
      .map((key) => ({
        scheme: key.scheme,
        public_key: key.public_key,
        created_at: key.created_at.toISOString(),
        expires_at: key.expires_at?.toISOString() ?? null,
      })),
    created_at: endpoint.created_at.toISOString(),
  }
}

/** The outbox wrote the body with the same record writer. */
export function showEvent({ body }: Pick<NewEvent, 'body'>): z.output<typeof eventSchema> {
  return JSON.parse(body) as z.output<typeof eventSchema>
}

export function showDelivery(delivery: LoggedDelivery): z.output<typeof deliverySchema> {
  return {
    event_id: delivery.event_id,
    endpoint_id: delivery.endpoint_id,
    type: delivery.type,
    status: delivery.status,
    attempts: delivery.attempts,
    next_attempt_at: delivery.next_at?.toISOString() ?? null,
    created_at: delivery.created_at.toISOString(),
    ended_at: delivery.ended_at?.toISOString() ?? null,
    log: delivery.log.map((attempt) => ({
      number: attempt.number,
      at: attempt.started_at.toISOString(),
      duration_ms: attempt.duration_ms,
      status_code: attempt.status_code,
      problem: attempt.problem,
      answer: attempt.answer,
    })),
  }
}
