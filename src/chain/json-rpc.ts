import { messageOf } from '../core/errors.ts'
import { readRetryAfter } from '../http/retry-after.ts'
import type { NodeConnection } from './options.ts'
import { Pace, type RequestAttempt } from './pace.ts'
import { noteLatency } from './pool.ts'
import { isQuota } from './refusals.ts'

export type RpcPayload = { jsonrpc: '2.0'; id: number | string | bigint; method: string; params?: unknown }
/** `status` is the HTTP status. It is missing if the error was one of several answers in a batch. */
export type RpcError = { code: number; message: string; data?: unknown; status?: number }
/** Either a result, which may be null, or an error. */
export type RpcAnswer = { result: unknown; error?: undefined } | { error: RpcError; result?: undefined }

/** Converts values to text and back. Integers may exceed the range of a JavaScript number. */
export type Codec = { encode: (value: unknown) => string; decode: (text: string) => unknown }

export type Exchange = {
  /** Sends one request, and retries while the server is busy. An error in the answer is a result. @throws Error */
  ask: (payload: RpcPayload) => Promise<RpcAnswer>
  /** Sends several requests as one batch, or one by one if the server refuses batches. Each settles on its own. */
  askTogether: (payloads: readonly RpcPayload[]) => Promise<PromiseSettledResult<RpcAnswer>[]>
}

/** How long to send no batch to a server that refused one. */
const batchRefusedMs = 600_000

/** JSON-RPC over HTTP with one server: paced and bounded. An answer counts only if it matches its request. */
export function openExchange(connection: NodeConnection, codec: Codec): Exchange {
  const pace = new Pace(connection.bounds)
  let noBatchUntilMs = -Infinity
  const ask = (payload: RpcPayload) =>
    pace.run(() => attemptOf(connection, [payload], () => sendOne(connection, codec, payload)))
  const oneByOne = (payloads: readonly RpcPayload[]) => Promise.allSettled(payloads.map(ask))
  return {
    ask,
    async askTogether(payloads) {
      if (payloads.length < 2 || performance.now() < noBatchUntilMs) return oneByOne(payloads)
      const answers = await pace.run(() =>
        attemptOf(connection, payloads, () => sendBatch(connection, codec, payloads)),
      )
      if (answers !== 'refused') return settleEach(answers, ask)
      noBatchUntilMs = performance.now() + batchRefusedMs
      return oneByOne(payloads)
    },
  }
}

type Ask = Exchange['ask']

/** Requests of the batch that exceeded a quota are sent again one by one. */
function settleEach(
  answers: readonly { payload: RpcPayload; answer: RpcAnswer }[],
  ask: Ask,
): Promise<PromiseSettledResult<RpcAnswer>[]> {
  const settled = answers.map(({ payload, answer }) =>
    answer.error !== undefined && isQuota(200, answer.error) ? ask(payload) : Promise.resolve(answer),
  )
  return Promise.allSettled(settled)
}

/** Reports an attempt to the observer, and its latency to the node's health. */
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

type RpcBatchOutcome = readonly { payload: RpcPayload; answer: RpcAnswer }[] | 'refused'

async function sendBatch(
  connection: NodeConnection,
  codec: Codec,
  payloads: readonly RpcPayload[],
): Promise<RequestAttempt<RpcBatchOutcome>> {
  const reply = await postJson(connection, codec.encode(payloads))
  const document = decoded(codec, reply.text)
  const answers = isGood(reply) ? matched(document, payloads) : null
  if (answers !== null) return { outcome: 'fine', retryAfterMs: null, settle: () => answers }
  const whole = readError(document)
  const { outcome, retryAfterMs } = outcomeOf(reply, whole, whole === null)
  const settle = (): RpcBatchOutcome => {
    if (outcome === 'quota') throw whole === null ? new HttpProblem(reply) : new Error(whole.message)
    return 'refused'
  }
  return { outcome, retryAfterMs, settle }
}

/** Null unless each payload was answered exactly once; the order does not matter. */
function matched(document: unknown, payloads: readonly RpcPayload[]): RpcBatchOutcome | null {
  if (!Array.isArray(document) || document.length !== payloads.length) return null
  const byId = new Map(document.map((one: unknown) => [idOf(one), one]))
  const answers = payloads.map((payload) => ({
    payload,
    answer: readAnswer(byId.get(String(payload.id)), payload),
  }))
  return answers.every(
    (one): one is { payload: RpcPayload; answer: RpcAnswer } => typeof one.answer !== 'string',
  )
    ? answers
    : null
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

/** The answer, or the problem with it. */
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

/** A gateway timed out (524 is Cloudflare's). The same request would take as long again. */
const gatewayTimeouts = new Set([504, 524])

function isGood({ status }: NodeReply): boolean {
  return status >= 200 && status < 300
}

const shownMax = 200

/** An error known only by its HTTP status. */
export class HttpProblem extends Error {
  readonly status: number

  constructor({ status, text }: NodeReply) {
    const shown = text.slice(0, shownMax).replace(/\s+/g, ' ').trim()
    super(`${shown === '' ? 'no answer' : shown} (HTTP ${status})`)
    this.status = status
  }
}

/** One complete response. `retryAfterMs` is the wait that the server asks for; null if it asks for none. */
export type NodeReply = { status: number; text: string; retryAfterMs: number | null }

/**
 * Posts JSON and reads the whole response within one deadline and one size limit; follows no redirect. HTTP libraries
 * limit only the wait for the headers, so a node that trickles its body would block a scan indefinitely. Errors never
 * contain the URL, which may hold a key.
 */
export async function postJson({ url, bounds }: NodeConnection, body: string): Promise<NodeReply> {
  const signal = AbortSignal.timeout(bounds.timeoutMs)
  try {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'error', signal })
    const bytes = await readBody(response, bounds.bodyBytesMax)
    return {
      status: response.status,
      text: bytes.toString('utf8'),
      retryAfterMs: readRetryAfter(response.headers.get('retry-after'), new Date()),
    }
  } catch (error) {
    if (signal.aborted) throw new Error(`no complete answer within ${bounds.timeoutMs} ms`, { cause: error })
    if (error instanceof TooLarge) throw error
    throw new ConnectionProblem(innermostMessage(error), { cause: error })
  }
}

/** The connection failed or broke. A retry may help, unlike after a timeout. */
export class ConnectionProblem extends Error {}

class TooLarge extends Error {}

async function readBody(response: Response, bytesMax: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > bytesMax) throw new TooLarge(`answer exceeds ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** `fetch` reports only "fetch failed"; its cause has the reason. */
function innermostMessage(error: unknown): string {
  if (error instanceof Error && error.cause !== undefined) return innermostMessage(error.cause)
  const message = messageOf(error)
  return message === 'unexpected redirect' ? redirected : message
}

const redirected =
  'the server redirects, and redirects are not followed: use the final address in the RPC setting'

type BatchQueueEntry = {
  payload: RpcPayload
  resolve: (answer: RpcAnswer) => void
  reject: (reason: unknown) => void
}

/** Collects the requests of one turn of the event loop, and sends them in batches of at most `atOnce`. */
export function createTogether(askTogether: Exchange['askTogether'], atOnce: number): Exchange['ask'] {
  const waiting: BatchQueueEntry[] = []
  const send = async (part: readonly BatchQueueEntry[]): Promise<void> => {
    try {
      const settled = await askTogether(part.map(({ payload }) => payload))
      for (const [place, { resolve, reject }] of part.entries()) {
        const one = settled[place]
        if (one?.status === 'fulfilled') resolve(one.value)
        else reject(one?.reason)
      }
    } catch (error) {
      for (const { reject } of part) reject(error)
    }
  }
  return (payload) =>
    new Promise((resolve, reject) => {
      if (waiting.push({ payload, resolve, reject }) > 1) return
      // Runs after the promise callbacks of this turn, when all its requests are queued.
      setImmediate(() => {
        while (waiting.length > 0) void send(waiting.splice(0, atOnce))
      })
    })
}
