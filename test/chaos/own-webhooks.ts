import { setTimeout as sleep } from 'node:timers/promises'
import { transfersPath } from '../../src/intake/server.ts'
import { signStandardWebhook } from '../support/sign-webhook.ts'
import { until } from '../support/until.ts'
import type { ChaosWorld } from './world.ts'

/** How a webhook was answered; `status` is null where nothing came back, so that nobody knows what became of it. */
export type Answered = { id: string; status: number | null; retryAfter: string | null }

type Sending = Pick<ChaosWorld, 'intake'>

const answerWithinMs = 30_000

/** Of an event that the profile passes over: genuine, stored, and of no deposit, so that the books stay what they would be. */
function passedOver(id: string): Buffer {
  return Buffer.from(
    JSON.stringify({ id, type: 'endpoint.test', created_at: new Date().toISOString(), data: {} }),
  )
}

/** Sends one webhook as the service signs them, on a connection of its own, and waits for its answer. */
export async function sendOwn({ intake }: Sending, id: string, at = new Date()): Promise<Answered> {
  const body = passedOver(id)
  const headers = {
    'content-type': 'application/json',
    connection: 'close',
    ...signStandardWebhook({ secret: intake.secret, id, body, at }),
  }
  try {
    const signal = AbortSignal.timeout(answerWithinMs)
    const response = await fetch(addressOf(intake.url), { method: 'POST', headers, body, signal })
    // What was answered is known by now, whether or not the text of it still arrives.
    await response.text().catch(() => '')
    return { id, status: response.status, retryAfter: response.headers.get('retry-after') }
  } catch {
    return { id, status: null, retryAfter: null }
  }
}

function addressOf(url: string): string {
  return url.endsWith(transfersPath) ? url : url.replace(/\/$/, '') + transfersPath
}

/** It sends no more once it is disposed of. */
export type Sender = AsyncDisposable & {
  readonly answered: readonly Answered[]
  /** Once what is under way is answered. */
  stop: () => Promise<readonly Answered[]>
}

/** Between an answer and the next webhook of that sender: a trickle that the oracle has no trouble to read. */
const usualPauseMs = 40

/** Sends webhook after webhook, so many beside each other, until it is stopped. */
export function keepSending(
  world: Sending,
  prefix: string,
  { beside = 2, pauseMs = usualPauseMs }: { beside?: number; pauseMs?: number } = {},
): Sender {
  const answered: Answered[] = []
  const stopping = new AbortController()
  const one = async (place: number) => {
    for (let count = 0; !stopping.signal.aborted; count++) {
      answered.push(await sendOwn(world, `${prefix}_${place}_${count}`))
      await sleep(pauseMs)
    }
  }
  const all = Promise.all(Array.from({ length: beside }, (_, place) => one(place)))
  const stop = async () => {
    stopping.abort()
    await all
    return answered
  }
  return { answered, stop, [Symbol.asyncDispose]: () => stop().then(() => undefined) }
}

/** The ids among these that the inbox has. */
export async function storedOf(world: ChaosWorld, ids: readonly string[]): Promise<Set<string>> {
  const client = await world.connect()
  try {
    const { rows } = await client.query<{ source_key: string }>(
      `select source_key from inbox where source = 'webhook' and source_key = any($1::text[])`,
      [ids],
    )
    return new Set(rows.map(({ source_key }) => source_key))
  } finally {
    await client.end()
  }
}

/** @throws where one was answered 2xx and is not in the inbox (I1). */
export async function holdAccepted(world: ChaosWorld, answered: readonly Answered[]): Promise<void> {
  const accepted = answered.filter(({ status }) => status !== null && status >= 200 && status < 300)
  const stored = await storedOf(
    world,
    accepted.map(({ id }) => id),
  )
  const lost = accepted.filter(({ id }) => !stored.has(id))
  if (lost.length > 0)
    throw new Error(`answered 2xx and not in the inbox: ${lost.map(({ id }) => id).join(', ')}`)
}

/** @throws where a webhook was answered with anything but 202, or 503 with a time to come back. */
export function holdAnswers(answered: readonly Answered[]): void {
  const wrong = answered.find(
    ({ status, retryAfter }) =>
      status !== null && status !== 202 && !(status === 503 && /^\d+$/.test(retryAfter ?? '')),
  )
  if (wrong !== undefined)
    throw new Error(`a webhook was answered ${wrong.status}, Retry-After ${wrong.retryAfter}`)
}

/** @throws where one was not answered at all, by a process that lives. */
export function holdAnswered(answered: readonly Answered[]): void {
  const silent = answered.filter(({ status }) => status === null)
  if (silent.length > 0) throw new Error(`${silent.length} of ${answered.length} webhooks were not answered`)
}

/** Waits until webhooks that are sent from now on are taken in again. */
export function untilTaken({ answered }: Sender): Promise<unknown> {
  const from = answered.length
  return until('webhooks are answered 202', () =>
    answered.slice(from).some(({ status }) => status === 202) ? true : null,
  )
}
