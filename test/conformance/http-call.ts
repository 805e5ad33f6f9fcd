import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'

export type HttpRequest = {
  url: string
  method: 'GET' | 'POST' | 'PUT'
  headers: Readonly<Record<string, string>>
  body?: string
  /** PEM of an authority that is trusted beside those of the system. */
  ca?: string
}

export type HttpAnswer = { status: number; text: string }

const timeoutMs = 30_000
const waitsMax = 10
const waitMaxSeconds = 30

/** A service that is looked at is not to be overrun. */
const atOnceMax = 8
let underWay = 0
const waiting: (() => void)[] = []

async function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
  if (underWay >= atOnceMax) await new Promise<void>((resolve) => waiting.push(resolve))
  underWay++
  try {
    return await work()
  } finally {
    underWay--
    waiting.shift()?.()
  }
}

/** Sends one request. A service that asks for patience (429 with Retry-After) is given it. */
export async function httpCall(request: HttpRequest): Promise<HttpAnswer> {
  for (let waits = 0; ; waits++) {
    const { retryAfter: seconds, ...answer } = await inTurn(() => send(request))
    const isAskedToWait = answer.status === 429 && seconds >= 0 && seconds <= waitMaxSeconds
    if (!isAskedToWait || waits === waitsMax) return answer
    await sleep(seconds * 1000)
  }
}

async function send({
  url,
  method,
  headers,
  body,
  ca,
}: HttpRequest): Promise<HttpAnswer & { retryAfter: number }> {
  const isSecure = url.startsWith('https:')
  const options = { method, headers, timeout: timeoutMs, ...(isSecure && ca !== undefined ? { ca } : {}) }
  const request = isSecure ? requestHttps(url, options) : requestHttp(url, options)
  request.once('timeout', () => request.destroy(new Error(`no answer within ${timeoutMs / 1000} s`)))
  request.end(body)
  const [answer] = (await once(request, 'response')) as [IncomingMessage]
  const retryAfter = Number(answer.headers['retry-after'])
  return { status: answer.statusCode ?? 0, text: await text(answer), retryAfter }
}
