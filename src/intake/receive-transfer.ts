import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { ServiceName } from '../core/evidence.ts'
import { reach } from '../failpoint.ts'
import type { SourceReader } from '../http/client-address.ts'
import { type AdmissionDeps, admitDelivery, quarantinedHeaders } from './admit-delivery.ts'
import type { Write } from './divert-canaries.ts'
import type { ReceivedWebhook } from './inbox-writer.ts'
import type { Quarantine } from './quarantine.ts'
import type { BodyRead } from './read-body.ts'
import type { Refusal } from './signature/scheme.ts'

/** `canary`: we sent it ourselves. `aborted`: the sender disconnected before the body was complete. */
export type IntakeOutcome =
  | 'stored'
  | 'duplicate'
  | 'conflicting'
  | 'canary'
  | 'bad_signature'
  | 'bad_timestamp'
  | 'not_json'
  | 'too_large'
  | 'wrong_type'
  | 'overloaded'
  | 'unavailable'
  | 'aborted'

/** `reason` is set if the request was refused, `event` if it was accepted. */
export type IntakeObservation = {
  service: ServiceName
  outcome: IntakeOutcome
  seconds: number
  reason?: Refusal
  event?: string
  traceId?: string
}

/** `traceparent` comes from the sender and may be anything; `startedAt` is in milliseconds since 1970. */
export type IntakeTraceStart = { sourceKey: string; traceparent: string | undefined; startedAt: number }

/** `traceparent` is stored with the row, so that applying it continues the trace. */
export type IntakeTrace = { traceId: string; traceparent: string; end: (outcome: string) => void }

export type IntakeDeps = {
  sourceOf: SourceReader
  readBody: (request: IncomingMessage, source: string) => Promise<BodyRead>
  write: Write
  /** Null if the webhook is not sampled. */
  trace?: (arriving: IntakeTraceStart) => IntakeTrace | null
  /** Keeps refused deliveries, in case the settings are wrong and not the sender. */
  quarantine: Quarantine['keep']
  now: () => Date
  observe: (observation: IntakeObservation) => void
  onStored: () => void
  onError: (error: unknown) => void
}

type IntakeResult = Omit<IntakeObservation, 'service' | 'seconds'>

/** The answer is sent after the commit, never before it. */
export function receiveTransfer(receiving: IntakeDeps) {
  return async (
    admitting: AdmissionDeps,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> => {
    const startedAt = performance.now()
    const received = await receive(receiving, { admitting, request, startedAt }).catch(
      (error: unknown): IntakeResult => {
        receiving.onError(error)
        return { outcome: 'unavailable' }
      },
    )
    answer(response, received.outcome)
    const { service } = admitting
    receiving.observe({ ...received, service, seconds: (performance.now() - startedAt) / 1000 })
    if (received.outcome !== 'stored' && received.outcome !== 'conflicting') return
    reach('intake.answered')
    receiving.onStored()
  }
}

type Arrival = { admitting: AdmissionDeps; request: IncomingMessage; startedAt: number }

async function receive(
  receiving: IntakeDeps,
  { admitting, request, startedAt }: Arrival,
): Promise<IntakeResult> {
  const source = receiving.sourceOf(request)
  const read = await receiving.readBody(request, source)
  if (read.kind !== 'read') return { outcome: read.kind }
  reach('intake.received')
  const { headers, method, url: path } = request
  const delivery = { headers, body: read.body, receivedAt: receiving.now(), method, path }
  const admission = isPlainJson(headers) ? admitDelivery(admitting, delivery) : wrongType
  if (admission.kind === 'admitted') {
    const traceparent = headers['traceparent']?.toString()
    return store(receiving, admission.row, { traceparent, startedAt: performance.timeOrigin + startedAt })
  }
  const reason = admission.kind === 'refused' ? admission.reason : admission.kind
  const { body, receivedAt } = delivery
  const kept = quarantinedHeaders(delivery, admitting.signing, admitting.secrets)
  const { service } = admitting
  receiving.quarantine({ service, receivedAt, source, reason, headers: kept, body })
  return admission.kind === 'refused'
    ? { outcome: refusedAs[admission.reason], reason: admission.reason }
    : { outcome: admission.kind }
}

/** Only authenticated webhooks are traced, so no one else can enlarge a trace or choose its id. */
async function store(
  { write, trace }: IntakeDeps,
  row: ReceivedWebhook,
  arriving: Omit<IntakeTraceStart, 'sourceKey'>,
): Promise<IntakeResult> {
  const traced = trace?.({ ...arriving, sourceKey: row.sourceKey }) ?? null
  const event = row.sourceKey
  if (traced === null) return { outcome: await write(row), event }
  const { traceId, traceparent, end } = traced
  let outcome: IntakeOutcome = 'unavailable'
  try {
    outcome = await write({ ...row, headers: { ...row.headers, traceparent } })
  } finally {
    end(outcome)
  }
  return { outcome, event, traceId }
}

const wrongType = { kind: 'wrong_type' } as const

const jsonType = /^application\/(?:[\w.-]+\+)?json(?:\s*;\s*charset="?utf-8"?)?\s*$/i

/** Not compressed: the signature covers the bytes as sent, and decompression enables zip bombs. */
function isPlainJson(headers: IncomingHttpHeaders): boolean {
  const encoding = headers['content-encoding'] ?? 'identity'
  return encoding.toLowerCase() === 'identity' && jsonType.test(headers['content-type'] ?? '')
}

const refusedAs: Record<Refusal, IntakeOutcome> = {
  id_malformed: 'bad_signature',
  timestamp_malformed: 'bad_timestamp',
  timestamp_too_old: 'bad_timestamp',
  timestamp_too_new: 'bad_timestamp',
  signature_missing: 'bad_signature',
  signature_wrong: 'bad_signature',
  scheme_unknown: 'bad_signature',
}

const statusOf: Record<IntakeOutcome, number> = {
  stored: 202,
  duplicate: 202,
  conflicting: 202,
  canary: 202,
  bad_signature: 401,
  bad_timestamp: 401,
  not_json: 400,
  too_large: 413,
  wrong_type: 415,
  overloaded: 503,
  unavailable: 503,
  aborted: 400,
}

const retryAfterSeconds = '5'

function answer(response: ServerResponse, outcome: IntakeOutcome): void {
  const status = statusOf[outcome]
  const document = status === 202 ? { status: outcome } : { code: outcome }
  const headers: Record<string, string> = status === 503 ? { 'retry-after': retryAfterSeconds } : {}
  sendJson(response, { status, document, headers })
}

type JsonReply = { status: number; document: Record<string, string>; headers?: Record<string, string> }

/**
 * Sent at once, with only the necessary headers, but ends after the rest of the request is read: closing a connection
 * with unread bytes often loses the answer.
 */
export function sendJson(response: ServerResponse, { status, document, headers }: JsonReply): void {
  const { req: request } = response
  const text = JSON.stringify(document)
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...headers,
  })
  if (request.complete) {
    response.end(text)
    return
  }
  response.write(text)
  request.resume().once('close', () => response.end())
}
