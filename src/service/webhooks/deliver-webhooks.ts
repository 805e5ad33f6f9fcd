import type { Logger } from 'pino'
import { readRetryAfter } from '../../http/retry-after.ts'
import { logEvent } from '../../log/log-event.ts'
import type { EndpointAnswer, Poster } from '../../outbox/post-webhook.ts'
import type { SecretVault } from '../../outbox/secret-vault.ts'
import { inTransaction } from '../../store/database.ts'
import type { Faults } from '../faults/faults.ts'
import { sendWithFaults } from '../faults/webhook-faults.ts'
import { describeError } from '../running/requests.ts'
import type { SecretRow, ServiceDatabase, ServiceTransaction } from '../tables.ts'
import { type DeliveryCapacity, type DueDelivery, takeDue } from './deliveries.ts'
import { endEndpoint } from './endpoints.ts'
import { openKey, signingSecrets } from './secrets.ts'

export type CourierDeps = {
  db: ServiceDatabase
  vault: SecretVault
  poster: Poster
  faults: Faults
  now: () => Date
  random: () => number
  onRoom: () => void
  log: Logger
}

export type Courier = {
  turn(stopping: AbortSignal): Promise<void>
  idle(): Promise<void>
}

const totalMax = 64
const perEndpointMax = 8
/** An endpoint that does not answer gets one event at a time. */
const perSilentEndpointMax = 1

/**
 * An endpoint may receive an event repeatedly until it answers 2xx, always with the same id and bytes. Attempts run
 * concurrently, so that a slow endpoint does not delay the others.
 */
export function openCourier(delivering: CourierDeps): Courier {
  const { db, log, now, onRoom } = delivering
  const underWay = new Set<Promise<void>>()
  const load = createLoad()

  const attempt = async (making: DeliveryAttemptInput): Promise<void> => {
    const { event_id: event, endpoint_id: endpoint } = making.due
    load.begin(endpoint)
    try {
      load.heard(endpoint, (await makeAttempt(delivering, making)).kind === 'answered')
    } catch (error) {
      logEvent(log, 'webhook_attempt_lost', { webhook: event, endpoint, problem: describeError(error) })
    }
    load.end(endpoint)
    onRoom()
  }

  return {
    turn: async (stopping) => {
      const room = load.room()
      if (room.total <= 0) return
      const at = now()
      const batch = await takeDue(db, room, at)
      const ids = [...new Set(batch.map((due) => due.endpoint_id))]
      const secrets = await signingSecrets(db, ids, at)
      for (const due of batch) {
        const own = secrets.filter((secret) => secret.endpoint_id === due.endpoint_id)
        // The endpoint was deleted just now, together with its deliveries.
        if (own.length === 0) continue
        const ended = attempt({ due, secrets: own, stopping }).finally(() => underWay.delete(ended))
        underWay.add(ended)
      }
    },
    idle: async () => {
      await Promise.all(underWay)
    },
  }
}

function createLoad() {
  const counts = new Map<string, number>()
  const silent = new Set<string>()
  return {
    begin: (id: string): void => {
      counts.set(id, (counts.get(id) ?? 0) + 1)
    },
    heard: (id: string, answered: boolean): void => {
      if (answered) silent.delete(id)
      else silent.add(id)
    },
    end: (id: string): void => {
      const left = (counts.get(id) ?? 1) - 1
      if (left > 0) counts.set(id, left)
      else counts.delete(id)
    },
    room: (): DeliveryCapacity => {
      const places = (id: string): number => (silent.has(id) ? perSilentEndpointMax : perEndpointMax)
      const taken = [...counts.values()].reduce((sum, count) => sum + count, 0)
      const own = [...new Set([...counts.keys(), ...silent])].map((id): [string, number] => [
        id,
        Math.max(0, places(id) - (counts.get(id) ?? 0)),
      ])
      return { total: totalMax - taken, perEndpoint: perEndpointMax, own: new Map(own) }
    },
  }
}

const type = { 'content-type': 'application/json' }

type DeliveryAttemptInput = { due: DueDelivery; secrets: readonly SecretRow[]; stopping: AbortSignal }

async function makeAttempt(
  delivering: CourierDeps,
  { due, secrets, stopping }: DeliveryAttemptInput,
): Promise<EndpointAnswer> {
  const { db, vault, poster, faults, now, random } = delivering
  const startedAt = performance.now()
  const timestamp = Math.floor(now().getTime() / 1000).toString()
  const answer = await sendWithFaults(faults, due, {
    message: { id: due.event_id, timestamp, body: due.body },
    keys: secrets.map((secret) => openKey(vault, secret)),
    post: (headers, body) => poster.post({ url: due.url, headers: { ...headers, ...type }, body }, stopping),
  })
  const endedAt = now()
  const step = decideDelivery({ answer, tries: due.tries, now: endedAt, random })
  const durationMs = Math.round(performance.now() - startedAt)
  await saveAttempt(db, due, { answer, durationMs, step, now: endedAt })
  return answer
}

type DeliveryAttemptRecord = {
  answer: EndpointAnswer
  durationMs: number
  step: DeliveryStep
  now: Date
}

function saveAttempt(db: ServiceDatabase, due: DueDelivery, attempt: DeliveryAttemptRecord): Promise<void> {
  return inTransaction(db, async (tx) => {
    await logAnswer(tx, due, attempt)
    const { step } = attempt
    if (step.kind === 'gone') {
      await endEndpoint(tx, due.endpoint_id, { status: 'disabled', disabled_because: 'gone' })
    } else await moveOn(tx, due, { step, now: attempt.now })
  })
}

async function logAnswer(
  tx: ServiceTransaction,
  due: DueDelivery,
  { answer, durationMs }: DeliveryAttemptRecord,
): Promise<void> {
  const answered = answer.kind === 'answered'
  await tx
    .updateTable('service.delivery_attempt')
    .set({
      duration_ms: durationMs,
      status_code: answered ? answer.status : null,
      problem: answered ? null : answer.problem,
      answer: answered && answer.text !== '' ? answer.text : null,
    })
    .where('event_id', '=', due.event_id)
    .where('endpoint_id', '=', due.endpoint_id)
    .where('number', '=', due.attempts)
    .execute()
}

type DatedDeliveryStep = { step: Exclude<DeliveryStep, { kind: 'gone' }>; now: Date }

/**
 * Applies only if the delivery is unchanged since: a resend, a later attempt after the lease, or a cancellation takes
 * precedence.
 */
async function moveOn(
  tx: ServiceTransaction,
  due: DueDelivery,
  { step, now }: DatedDeliveryStep,
): Promise<void> {
  if (step.kind === 'retry' && step.restUntil !== null) {
    await tx
      .updateTable('service.webhook_endpoint')
      .set({ resume_at: step.restUntil })
      .where('id', '=', due.endpoint_id)
      .execute()
  }
  await tx
    .updateTable('service.delivery')
    .set(step.kind === 'retry' ? { next_at: step.at } : { status: step.kind, next_at: null, ended_at: now })
    .where('event_id', '=', due.event_id)
    .where('endpoint_id', '=', due.endpoint_id)
    .where('status', '=', 'pending')
    .where('attempts', '=', due.attempts)
    .where('tries', '=', due.tries)
    .execute()
}

type DeliveryStep =
  | { kind: 'delivered' }
  /** `restUntil`: a busy receiver asked for a pause. */
  | { kind: 'retry'; at: Date; restUntil: Date | null }
  | { kind: 'failed' }
  | { kind: 'gone' }

const [minute, hour] = [60, 3600]

/** In seconds, after each failed try: a little over three days in total. */
const pausesSeconds = [
  1,
  5,
  15,
  30,
  minute,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
]

const retryAfterMaxMs = hour * 1000

/** `tries`: since the delivery was last requested, including this one. */
type DeliveryAttemptResult = { answer: EndpointAnswer; tries: number; now: Date; random: () => number }

export function decideDelivery(attempted: DeliveryAttemptResult): DeliveryStep {
  const { answer, now } = attempted
  if (answer.kind === 'unanswered') {
    // It does not count against the endpoint.
    return answer.problem === 'stopped'
      ? { kind: 'retry', at: now, restUntil: null }
      : decideRetry(attempted, 0, false)
  }
  const { status, retryAfter } = answer
  if (status >= 200 && status < 300) return { kind: 'delivered' }
  if (status === 410) return { kind: 'gone' }
  return decideRetry(
    attempted,
    Math.min(readRetryAfter(retryAfter, now) ?? 0, retryAfterMaxMs),
    status === 429 || status === 503,
  )
}

/** 20% jitter, so that retries do not arrive all at once. */
function decideRetry(
  { tries, now, random }: DeliveryAttemptResult,
  askedMs: number,
  busy: boolean,
): DeliveryStep {
  const pauseSeconds = pausesSeconds[tries - 1]
  if (pauseSeconds === undefined) return { kind: 'failed' }
  const pauseMs = pauseSeconds * 1000 * (0.8 + 0.4 * random())
  const at = new Date(now.getTime() + Math.max(pauseMs, askedMs))
  const restUntil = busy && askedMs > 0 ? new Date(now.getTime() + askedMs) : null
  return { kind: 'retry', at, restUntil }
}
