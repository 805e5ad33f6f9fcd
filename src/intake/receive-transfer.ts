import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { type EventIdReader, eventKey } from './event-key.ts'
import type { InboxRow, InboxWriter } from './inbox-writer.ts'
import { isJson } from './json.ts'
import type { BodyRead } from './read-body.ts'
import type { Delivery, Refusal, Scheme } from './signature/scheme.ts'

/** How a request ended, for the metric. `aborted`: the sender went away before its body was complete. */
export type IntakeOutcome =
  | 'stored'
  | 'duplicate'
  | 'conflicting'
  | 'bad_signature'
  | 'bad_timestamp'
  | 'not_json'
  | 'too_large'
  | 'wrong_type'
  | 'overloaded'
  | 'unavailable'
  | 'aborted'

/** `reason` is there where the signature scheme refused. */
export type Observation = { outcome: IntakeOutcome; seconds: number; reason?: Refusal }

export type Receiving = {
  readBody: (request: IncomingMessage) => Promise<BodyRead>
  verify: Scheme
  /** Asked where the scheme signs no id of the event. */
  readEventId: EventIdReader
  write: InboxWriter['write']
  now: () => Date
  observe: (observation: Observation) => void
  /** After the answer to a webhook that was new: time to wake whoever applies it. */
  onStored: () => void
  /** What kept a webhook from being stored. */
  onError: (error: unknown) => void
}

type Received = { outcome: IntakeOutcome; reason?: Refusal }

/** Takes in one webhook. The answer comes after the commit, never before it. */
export function receiveTransfer(receiving: Receiving) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const startedAt = performance.now()
    const received = await receive(receiving, request).catch((error: unknown): Received => {
      receiving.onError(error)
      return { outcome: 'unavailable' }
    })
    answer(response, received.outcome)
    receiving.observe({ ...received, seconds: (performance.now() - startedAt) / 1000 })
    if (received.outcome === 'stored' || received.outcome === 'conflicting') receiving.onStored()
  }
}

async function receive(receiving: Receiving, request: IncomingMessage): Promise<Received> {
  if (!isPlainJson(request.headers)) return { outcome: 'wrong_type' }
  const read = await receiving.readBody(request)
  if (read.kind !== 'read') return { outcome: read.kind }
  const delivery = { headers: request.headers, body: read.body, receivedAt: receiving.now() }
  const verdict = receiving.verify(delivery)
  if (verdict.kind === 'refused') return { outcome: refusedAs[verdict.reason], reason: verdict.reason }
  if (!isJson(read.body)) return { outcome: 'not_json' }
  const key = verdict.id ?? eventKey(read.body, receiving.readEventId)
  return { outcome: await receiving.write(toRow(delivery, key)) }
}

const jsonType = /^application\/(?:[\w.-]+\+)?json(?:\s*;\s*charset="?utf-8"?)?\s*$/i

/** A packed body is refused: what was signed are the bytes as sent, and unpacking is where bombs go off. */
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
}

const keptHeaders = ['webhook-id', 'webhook-timestamp', 'content-type', 'user-agent']

function toRow({ headers, body, receivedAt }: Delivery, sourceKey: string): InboxRow {
  const kept = keptHeaders.flatMap((name) => {
    const value = headers[name]
    return typeof value === 'string' ? [[name, value]] : []
  })
  return { source: 'webhook', sourceKey, body, headers: Object.fromEntries(kept), receivedAt }
}

const statusOf: Record<IntakeOutcome, number> = {
  stored: 202,
  duplicate: 202,
  conflicting: 202,
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

type Answer = { status: number; document: Record<string, string>; headers?: Record<string, string> }

/** Writes a small answer directly: no entity tag, no other header than needed. */
export function sendJson(response: ServerResponse, { status, document, headers }: Answer): void {
  const text = JSON.stringify(document)
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    ...headers,
  })
  response.end(text)
}
