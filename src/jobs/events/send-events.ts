import { setTimeout as sleep } from 'node:timers/promises'
import type { Kysely, Transaction } from 'kysely'
import { Fault } from '../../core/errors.ts'
import { reach } from '../../failpoint.ts'
import type { Poster } from '../../outbox/post-webhook.ts'
import type { SecretVault } from '../../outbox/secret-vault.ts'
import type { SigningKey } from '../../outbox/signing-key.ts'
import { pause } from '../../store/change-endpoints.ts'
import { inTransaction } from '../../store/database.ts'
import {
  appendAttempts,
  type DueEvent,
  dueEndpoints,
  dueEvents,
  endDeliveries,
  type HeldEndpoint,
  hastenDeliveries,
  holdEndpoint,
  saveHealth,
  takeEvents,
} from '../../store/event-deliveries.ts'
import { sealedSecrets } from '../../store/event-endpoints.ts'
import { keepLease, type Lease, releaseLease, takeLease, underLease } from '../../store/streams.ts'
import type { Tables } from '../../store/tables.ts'
import { attemptOf, eventBody, signedRequest, signingKeys } from './event-request.ts'
import {
  concurrentMax,
  type EventOutcome,
  heldMax,
  outcomeOf,
  roomOf,
  type SentEvent,
  settleAttempts,
} from './retries.ts'

export type EventSenderDeps = {
  db: Kysely<Tables>
  holder: string
  leaseMs: number
  /**
   * What an attempt takes at most. It begins only if it ends within the lease, so that the next holder sends after the
   * last attempt of this one.
   */
  attemptMs: number
  /** Null without the key of the settings. */
  vault: SecretVault | null
  poster: Poster
  now: () => Date
  random: () => number
  observe: {
    /** `seconds`: from the change to the answer, of a delivered event. */
    sent: (outcome: EventOutcome, seconds: number) => void
    stopped: (endpoint: string, reason: string) => void
    failed: (error: unknown) => void
  }
}

export type EventSender = {
  /** Looks for events to send, in the background. */
  wake: () => void
  /** Until nothing is due. */
  idle: () => Promise<void>
  stop: () => Promise<void>
}

/** Another process than the one that sends to an endpoint may number events. */
const lookAgainMs = 250

/** One of all processes sends to an endpoint at a time; several events of an endpoint are sent at once, of one deposit one. */
export function openEventSender(deps: EventSenderDeps): EventSender {
  const running = new Map<bigint, { nudge: Nudge; ended: Promise<void> }>()
  const stopping = new AbortController()
  const look: { underWay: Promise<void> | null; isAsked: boolean } = { underWay: null, isAsked: false }

  const begin = (id: bigint): void => {
    if (running.has(id) || stopping.signal.aborted) return
    const nudge = createNudge()
    const ended = sendTo(deps, { id, nudge, stopping: stopping.signal })
      .catch(deps.observe.failed)
      .finally(() => {
        running.delete(id)
        if (nudge.isSet()) wake()
      })
    running.set(id, { nudge, ended })
  }
  const lookForDue = async (): Promise<void> => {
    while (look.isAsked) {
      look.isAsked = false
      for (const id of await dueEndpoints(deps.db, deps.now())) begin(id)
    }
  }
  const wake = (): void => {
    if (stopping.signal.aborted) return
    for (const { nudge } of running.values()) nudge.set()
    look.isAsked = true
    look.underWay ??= lookForDue()
      .catch(deps.observe.failed)
      .finally(() => {
        look.underWay = null
        if (look.isAsked) wake()
      })
  }
  const idle = async (): Promise<void> => {
    while (look.underWay !== null || running.size > 0)
      await Promise.all([look.underWay, ...[...running.values()].map(({ ended }) => ended)])
  }
  return {
    wake,
    idle,
    stop: () => {
      stopping.abort()
      for (const { nudge } of running.values()) nudge.set()
      return idle()
    },
  }
}

type Nudge = ReturnType<typeof createNudge>

function createNudge() {
  let next = Promise.withResolvers<void>()
  let isNudged = false
  return {
    isSet: () => isNudged,
    set: () => {
      isNudged = true
      next.resolve()
    },
    clear: () => {
      isNudged = false
      next = Promise.withResolvers()
    },
    /** At most that long. */
    wait: async (ms: number) => {
      const waiting = new AbortController()
      const timeout = sleep(ms, undefined, { signal: waiting.signal }).catch(() => undefined)
      await Promise.race([next.promise, timeout])
      waiting.abort()
    },
  }
}

type EndpointRun = { id: bigint; nudge: Nudge; stopping: AbortSignal }

async function sendTo(deps: EventSenderDeps, run: EndpointRun): Promise<void> {
  const { db, holder, leaseMs: ttlMs } = deps
  const lease = await takeLease(db, { stream: `events/${run.id}`, holder, ttlMs })
  if (lease === null) return
  await underLease(db, lease, () => sendDue(deps, run, lease))
  await releaseLease(db, lease)
}

/**
 * Ends once nothing is due or under way. Events that a turn took are sent, those of a lane in order, while the next turn
 * stores what earlier attempts came to.
 */
async function sendDue(deps: EventSenderDeps, run: EndpointRun, lease: Lease): Promise<void> {
  const { nudge, stopping } = run
  /** By lane. */
  const underWay = new Map<bigint, { delivery: bigint; ended: Promise<void> }>()
  const sent: SentEvent[] = []
  let waiting: TakenEvent[] = []
  let isLeftOut = false
  const send = async (taken: TakenEvent): Promise<void> => {
    const one = await attempt(deps, taken, stopping)
    underWay.delete(taken.due.lane)
    if (one !== null) sent.push(one)
    begin()
    if (waiting.length <= heldMax / 2) nudge.set()
  }
  /** What is left out is taken again by a later turn, and so is what the turn takes that is under way. */
  const begin = (): void => {
    isLeftOut ||= stopping.aborted || sent.some(isFailure) || waiting.some(isLate)
    if (isLeftOut) waiting = []
    const later: TakenEvent[] = []
    for (const next of waiting) {
      const { lane, delivery } = next.due
      if (underWay.has(lane) || underWay.size >= concurrentMax) later.push(next)
      else underWay.set(lane, { delivery, ended: send(next) })
    }
    waiting = later
  }
  try {
    for (;;) {
      nudge.clear()
      isLeftOut = false
      const held = [...underWay.values(), ...waiting.map(({ due }) => due)].map(({ delivery }) => delivery)
      const turn = await takeTurn(deps, lease, { ...run, sent: sent.splice(0), held })
      waiting = turn.endpoint.isActive ? [...waiting, ...turn.due.map((due) => ({ ...turn, due }))] : []
      begin()
      if (underWay.size > 0) await nudge.wait(lookAgainMs)
      else if (!nudge.isSet() && !turn.hasMore) return
      if (stopping.aborted && underWay.size === 0 && sent.length === 0) return
    }
  } finally {
    waiting = []
    await Promise.all([...underWay.values()].map(({ ended }) => ended))
  }
}

function isLate({ beginUntil }: TakenEvent): boolean {
  return performance.now() >= beginUntil
}

function isFailure({ answer }: SentEvent): boolean {
  return outcomeOf(answer) !== 'delivered'
}

type Turn = {
  endpoint: HeldEndpoint
  /** By the monotonic clock: after that, an attempt might end after the lease. */
  beginUntil: number
  keys: readonly SigningKey[]
  due: readonly DueEvent[]
  hasMore: boolean
}

type TakenEvent = Pick<Turn, 'endpoint' | 'keys' | 'beginUntil'> & { due: DueEvent }

/** `held`: deliveries that are under way, or taken to be sent. */
type TurnInput = EndpointRun & { sent: readonly SentEvent[]; held: readonly bigint[] }

/** Stores what attempts came to, and takes what is sent next, in one transaction under the lease. */
async function takeTurn(deps: EventSenderDeps, lease: Lease, input: TurnInput): Promise<Turn> {
  const { turn, stop } = await inTransaction(deps.db, async (tx) => {
    const beginUntil = performance.now() + deps.leaseMs - deps.attemptMs
    await keepLease(tx, lease, deps.leaseMs)
    const endpoint = await holdEndpoint(tx, input.id)
    const settled = await settle(tx, { ...input, endpoint, random: deps.random })
    const isOn = endpoint.isActive && settled.stop === null && !input.stopping.aborted
    const next = isOn ? await takeNext(deps, tx, { ...input, health: settled.health }) : nothing
    return { turn: { endpoint, beginUntil, ...next }, stop: settled.stop }
  })
  if (stop !== null) deps.observe.stopped(turn.endpoint.name, stop)
  return turn
}

const nothing = { keys: [], due: [], hasMore: false }

type SettleInput = TurnInput & { endpoint: HeldEndpoint; random: () => number }

async function settle(tx: Transaction<Tables>, { id, sent, endpoint, random }: SettleInput) {
  const settled = settleAttempts(endpoint, sent, random)
  if (sent.length === 0) return settled
  await appendAttempts(
    tx,
    id,
    sent.map(({ due, ...one }) => attemptOf(due.sequence, one)),
  )
  await endDeliveries(tx, settled.ended)
  if (settled.health.failures + endpoint.failures > 0) await saveHealth(tx, id, settled.health)
  if (settled.recoveredSince !== null) await hastenDeliveries(tx, id, settled.recoveredSince)
  if (settled.stop !== null) await pause(tx, id, settled.stop)
  return settled
}

type NextInput = TurnInput & { health: Parameters<typeof roomOf>[0] }

async function takeNext(
  { now, vault }: EventSenderDeps,
  tx: Transaction<Tables>,
  { id, health, held }: NextInput,
): Promise<Pick<Turn, 'keys' | 'due' | 'hasMore'>> {
  const at = now()
  const limit = roomOf(health, at, held.length)
  if (limit === 0) return nothing
  const read = () => dueEvents(tx, id, { now: at, held, limit })
  const waiting = await read()
  // Events that keep failing do not hold back those of other deposits.
  const isShort = waiting.filter(({ tries }) => tries === 0).length < limit
  const hasMore = isShort && (await takeEvents(tx, id))
  const due = isShort ? await read() : waiting
  if (due.length === 0) return { ...nothing, hasMore }
  if (vault === null) throw keyMissing()
  return { due, hasMore, keys: signingKeys(vault, id, await sealedSecrets(tx, id, at)) }
}

export function keyMissing(): Fault {
  const fault =
    'EVENTS_KEY is missing, and the secrets of event endpoints are encrypted with it: set EVENTS_KEY_FILE to a file with 32 random bytes in base64 (openssl rand -base64 32)'
  return new Fault('settings_bad', { faults: [fault] })
}

/** Null if the process stopped before the answer: that does not count against the endpoint. */
async function attempt(
  { poster, now, observe }: EventSenderDeps,
  { endpoint, keys, due }: TakenEvent,
  stopping: AbortSignal,
): Promise<SentEvent | null> {
  const body = eventBody(due, endpoint.payload)
  const began = performance.now()
  const request = signedRequest(keys, { url: endpoint.url, id: due.id, body, at: now() })
  const answer = await poster.post(request, stopping)
  reach('events.answered')
  if (answer.kind === 'unanswered' && answer.problem === 'stopped') return null
  const at = now()
  observe.sent(outcomeOf(answer), Math.max(0, at.getTime() - due.at.getTime()) / 1000)
  return { due, answer, at, durationMs: Math.round(performance.now() - began) }
}
