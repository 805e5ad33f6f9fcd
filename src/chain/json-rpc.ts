import { messageOf } from '../core/errors.ts'
import { ResponseTooLarge, readResponse } from '../http/read-response.ts'
import { readRetryAfter } from '../http/retry-after.ts'
import { type BackgroundWork, backgroundWork } from './background.ts'
import type { NodeConnection } from './options.ts'
import { Pace, type RequestAttempt } from './pace.ts'
import { noteLatency } from './pool.ts'
import { isQuota } from './refusals.ts'

export type RpcPayload = { jsonrpc: '2.0'; id: number | string | bigint; method: string; params?: unknown }
/** `status`: HTTP; missing for one of several answers in a batch. */
export type RpcError = { code: number; message: string; data?: unknown; status?: number }
export type RpcAnswer = { result: unknown; error?: undefined } | { error: RpcError; result?: undefined }

/** Integers may exceed the range of a JavaScript number. */
export type Codec = { encode: (value: unknown) => string; decode: (text: string) => unknown }

type QueuedRequest = {
  payload: RpcPayload
  resolve: (answer: RpcAnswer | Promise<RpcAnswer>) => void
  reject: (reason: unknown) => void
}

/** How long to send no batch after a refusal. */
const batchRefusedMs = 600_000

/** Requests are paced and bounded. An answer counts only if it matches its request. */
export class JsonRpcClient {
  readonly #connection: NodeConnection
  readonly #codec: Codec
  readonly #pace: Pace
  /** Requests in the background do not share a batch with others, which would wait for it. */
  readonly #queues = new Map<BackgroundWork | null, QueuedRequest[]>()
  #noBatchUntilMs = -Infinity

  constructor(connection: NodeConnection, codec: Codec) {
    this.#connection = connection
    this.#codec = codec
    this.#pace = new Pace(connection.bounds)
  }

  /** Retries while the server is busy. An error in the answer is a result. @throws Error */
  ask(payload: RpcPayload, codec = this.#codec): Promise<RpcAnswer> {
    return this.#pace.run(() =>
      attemptOf(this.#connection, [payload], () => sendOne(this.#connection, codec, payload)),
    )
  }

  /**
   * Sends one batch per turn of the event loop, or one by one if the server refuses batches. Each settles on its own.
   */
  askInBatch(payload: RpcPayload): Promise<RpcAnswer> {
    return new Promise((resolve, reject) => {
      const of = backgroundWork()
      const queue = this.#queues.get(of) ?? []
      this.#queues.set(of, queue)
      if (queue.push({ payload, resolve, reject }) > 1) return
      // After the promise callbacks of this turn.
      setImmediate(() => {
        this.#queues.delete(of)
        while (queue.length > 0) void this.#send(queue.splice(0, this.#connection.bounds.requestsPerBatch))
      })
    })
  }

  async #send(batch: readonly QueuedRequest[]): Promise<void> {
    try {
      const answers = await this.#batchAnswers(batch.map(({ payload }) => payload))
      for (const [index, { payload, resolve }] of batch.entries()) {
        const answer = answers?.[index]
        // Requests over a quota, or in a refused batch, are sent again one by one.
        const isFinal = answer !== undefined && !(answer.error !== undefined && isQuota(200, answer.error))
        resolve(isFinal ? answer : this.ask(payload))
      }
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }

  /** In the order of the payloads; null if they must be sent one by one. */
  async #batchAnswers(payloads: readonly RpcPayload[]): Promise<readonly RpcAnswer[] | null> {
    if (payloads.length < 2 || performance.now() < this.#noBatchUntilMs) return null
    const answers = await this.#pace.run(
      () => attemptOf(this.#connection, payloads, () => sendBatch(this.#connection, this.#codec, payloads)),
      payloads.length,
    )
    if (answers === null) this.#noBatchUntilMs = performance.now() + batchRefusedMs
    return answers
  }
}

async function attemptOf<Result>(
  { network, url, observe, health }: NodeConnection,
  payloads: readonly RpcPayload[],
  send: () => Promise<RequestAttempt<Result>>,
): Promise<RequestAttempt<Result>> {
  const startedMs = performance.now()
  const attempt = await send().catch(failed)
  const ms = performance.now() - startedMs
  if (attempt.outcome === 'fine') noteLatency(health, ms)
  const outcome = attempt.outcome === 'fine' ? 'ok' : 'error'
  for (const { method } of payloads) observe({ network, node: url.host, method, outcome, seconds: ms / 1000 })
  return attempt
}

function failed(error: unknown): RequestAttempt<never> {
  const outcome = error instanceof ConnectionProblem ? 'broken' : 'refused'
  return {
    outcome,
    retryAfterMs: null,
    settle: () => {
      throw error
    },
  }
}

async function sendOne(
  connection: NodeConnection,
  codec: Codec,
  payload: RpcPayload,
): Promise<RequestAttempt<RpcAnswer>> {
  const reply = await postJson(connection, codec.encode(payload))
  const answer = readAnswer(decoded(codec, reply.text), payload)
  const error = typeof answer === 'string' ? null : (answer.error ?? null)
  const settle = () => {
    // An error counts with any HTTP status, a result only with a 2xx status.
    if (error === null && !isGood(reply)) throw new HttpProblem(reply)
    if (typeof answer === 'string') throw new Error(answer)
    return error === null ? answer : { error: { ...error, status: reply.status } }
  }
  return { ...outcomeOf(reply, error, typeof answer === 'string'), settle }
}

async function sendBatch(
  connection: NodeConnection,
  codec: Codec,
  payloads: readonly RpcPayload[],
): Promise<RequestAttempt<readonly RpcAnswer[] | null>> {
  const reply = await postJson(connection, codec.encode(payloads))
  const document = decoded(codec, reply.text)
  const answers = isGood(reply) ? matched(document, payloads) : null
  if (answers !== null) return { outcome: 'fine', retryAfterMs: null, settle: () => answers }
  const whole = readError(document)
  const { outcome, retryAfterMs } = outcomeOf(reply, whole, whole === null)
  const settle = () => {
    if (outcome === 'quota') throw whole === null ? new HttpProblem(reply) : new Error(whole.message)
    return null
  }
  return { outcome, retryAfterMs, settle }
}

/** Null unless each payload was answered exactly once, in any order. */
function matched(document: unknown, payloads: readonly RpcPayload[]): RpcAnswer[] | null {
  if (!Array.isArray(document) || document.length !== payloads.length) return null
  const byId = new Map(document.map((one: unknown) => [idOf(one), one]))
  const answers = payloads.map((payload) => readAnswer(byId.get(String(payload.id)), payload))
  return answers.every((answer) => typeof answer !== 'string') ? answers : null
}

function outcomeOf(
  reply: NodeReply,
  error: RpcError | null,
  unreadable: boolean,
): Pick<RequestAttempt<never>, 'outcome' | 'retryAfterMs'> {
  const { status, retryAfterMs } = reply
  if (isQuota(status, error) || (status === 503 && retryAfterMs !== null))
    return { outcome: 'quota', retryAfterMs }
  if (status >= 500 && unreadable && !gatewayTimeouts.has(status))
    return { outcome: 'broken', retryAfterMs: null }
  return { outcome: error !== null || unreadable || !isGood(reply) ? 'refused' : 'fine', retryAfterMs: null }
}

function readAnswer(document: unknown, { id }: RpcPayload): RpcAnswer | string {
  if (document === undefined) return 'the answer is not JSON'
  const error = readError(document)
  const answered = idOf(document)
  // A server that could not parse the request does not know its id either (JSON-RPC 2.0, 5).
  if (answered !== String(id) && !(error !== null && answered === 'null')) {
    return `it answers request ${answered.slice(0, 40)} instead of ${id}`
  }
  if (error !== null) return { ...(document as object), error }
  if (typeof document !== 'object' || document === null || !('result' in document)) {
    return 'the answer has neither a result nor an error'
  }
  return document
}

function idOf(document: unknown): string {
  const id = typeof document === 'object' && document !== null && 'id' in document ? document.id : undefined
  return typeof id === 'string' || typeof id === 'number' || typeof id === 'bigint'
    ? `${id}`
    : `${id === null ? id : 'without an id'}`
}

function readError(document: unknown): RpcError | null {
  if (typeof document !== 'object' || document === null || !('error' in document)) return null
  const { error } = document
  if (typeof error === 'string') return { code: 0, message: error }
  if (typeof error !== 'object' || error === null) return null
  const { code, message } = error as Partial<Record<keyof RpcError, unknown>>
  return {
    ...error,
    code: Number(code ?? 0),
    message: typeof message === 'string' ? message : 'an error without a message',
  }
}

function decoded(codec: Codec, text: string): unknown {
  try {
    return codec.decode(text)
  } catch (error) {
    // Deep nesting raises a RangeError in some decoders; bad syntax raises a SyntaxError in all.
    if (error instanceof SyntaxError || error instanceof RangeError) return undefined
    throw new Error(messageOf(error), { cause: error })
  }
}

/** Code 524 is Cloudflare's. The same request would take as long again. */
const gatewayTimeouts = new Set([504, 524])

function isGood({ status }: NodeReply): boolean {
  return status >= 200 && status < 300
}

const shownMax = 200

export class StatedError extends Error {
  readonly code: number
  readonly status: number | null

  constructor({ code, message, status = null }: Omit<RpcError, 'status'> & { status?: number | null }) {
    super(message)
    this.code = code
    this.status = status
  }
}

export class HttpProblem extends Error {
  readonly status: number

  constructor({ status, text }: NodeReply) {
    const shown = text.slice(0, shownMax).replace(/\s+/g, ' ').trim()
    super(`${shown === '' ? 'no answer' : shown} (HTTP ${status})`)
    this.status = status
  }
}

/** `retryAfterMs`: null if the server asks for no wait. */
export type NodeReply = { status: number; text: string; retryAfterMs: number | null }

/**
 * One deadline and one size limit cover the whole response: HTTP libraries limit only the wait for the headers, so a
 * node that trickles its body would block a scan. Follows no redirect. Errors never contain the URL, which may hold a
 * key.
 */
export async function postJson({ url, bounds }: NodeConnection, body: string): Promise<NodeReply> {
  const signal = AbortSignal.timeout(bounds.timeoutMs)
  try {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'error', signal })
    const { bodyBytesMax: bytesMax } = bounds
    const bytes = await readResponse(response, { bytesMax, problem: `answer exceeds ${bytesMax} bytes` })
    return {
      status: response.status,
      text: bytes.toString('utf8'),
      retryAfterMs: readRetryAfter(response.headers.get('retry-after'), new Date()),
    }
  } catch (error) {
    if (signal.aborted) throw new Error(`no complete answer within ${bounds.timeoutMs} ms`, { cause: error })
    if (error instanceof ResponseTooLarge) throw error
    throw new ConnectionProblem(innermostMessage(error), { cause: error })
  }
}

/** A retry may help, unlike after a timeout. */
export class ConnectionProblem extends Error {}

function innermostMessage(error: unknown): string {
  if (error instanceof Error && error.cause !== undefined) return innermostMessage(error.cause)
  const message = messageOf(error)
  return message === 'unexpected redirect' ? redirected : message
}

const redirected =
  'the server redirects, and redirects are not followed: use the final address in the RPC setting'
