import type { Logger } from 'pino'
import { tell } from '../../log/tell.ts'
import type { Faults } from '../faults/faults.ts'
import { describeError } from '../running/describe-error.ts'
import type { ServiceDatabase } from '../tables.ts'
import { decideDelivery } from './decide-delivery.ts'
import { misdeliver } from './misdeliver.ts'
import type { EndpointAnswer, Poster } from './post-webhook.ts'
import { saveAttempt } from './save-attempt.ts'
import type { SecretVault } from './secret-vault.ts'
import { openKey, signingSecrets } from './secrets.ts'
import type { SecretRow } from './tables.ts'
import { type DeliveryCapacity, type DueDelivery, takeDue } from './take-due.ts'

export type CourierDeps = {
  db: ServiceDatabase
  vault: SecretVault
  poster: Poster
  faults: Faults
  now: () => Date
  random: () => number
  /** Called whenever an attempt ended, so that there is room for another. */
  onRoom: () => void
  log: Logger
}

export type Courier = {
  /** Begins the attempts that are due and for which there is room. */
  turn(stopping: AbortSignal): Promise<void>
  /** Resolves when no attempt is under way. */
  idle(): Promise<void>
}

const totalMax = 64
const perEndpointMax = 8
/** An endpoint that did not answer is tried with one event at a time until it does. */
const perSilentEndpointMax = 1

/**
 * Sends webhooks. An endpoint may receive an event more than once; it receives it with the same id and the same bytes
 * until it answers 2xx. Attempts go on beside each other, so that an endpoint that is slow holds up no other.
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
      tell(log, 'webhook_attempt_lost', { webhook: event, endpoint, problem: describeError(error) })
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
        // It was deleted this moment, and its deliveries with it.
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

/** Counts the attempts under way at each endpoint, and so how many more there is room for. */
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
  const answer = await misdeliver(faults, due, {
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
