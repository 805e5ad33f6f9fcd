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
  type DueEvent,
  dueEndpoints,
  dueEvents,
  type HeldEndpoint,
  hastenDeliveries,
  holdEndpoint,
  saveHealth,
  storeAttempts,
  takeEvents,
} from '../../store/event-deliveries.ts'
import { type SealedSecret, sealedSecrets } from '../../store/event-endpoints.ts'
import { keepLease, type Lease, releaseLease, takeLease, underLease } from '../../store/streams.ts'
import type { Tables } from '../../store/tables.ts'
import { attemptOf, eventBody, signedRequest, signingKeys } from './event-request.ts'
import { isFailure, type MadeAttempt, openLanes, type TakenEvent, type TakenState } from './lanes.ts'
import { type EventOutcome, outcomeOf, roomOf, settleAttempts } from './retries.ts'

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
        if (nudge.isSet()) lookAgain()
      })
    running.set(id, { nudge, ended })
  }
  const lookForDue = async (): Promise<void> => {
    while (look.isAsked) {
      look.isAsked = false
      for (const id of await dueEndpoints(deps.db, deps.now())) begin(id)
    }
  }
  const lookAgain = (): void => {
    if (stopping.signal.aborted) return
    look.isAsked = true
    look.underWay ??= lookForDue()
      .catch(deps.observe.failed)
      .finally(() => {
        look.underWay = null
        if (look.isAsked) lookAgain()
      })
  }
  const wake = (): void => {
    for (const { nudge } of running.values()) nudge.set()
    lookAgain()
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

/** Ends once nothing is due or under way. While a turn stores what attempts came to, events that earlier ones took are sent. */
async function sendDue(deps: EventSenderDeps, run: EndpointRun, lease: Lease): Promise<void> {
  const { nudge, stopping } = run
  const lanes = openLanes({ send: (taken) => attempt(deps, taken, stopping), isNeeded: nudge.set, stopping })
  let before: Turn | null = null
  try {
    for (;;) {
      nudge.clear()
      const turn: Turn = await takeTurn(deps, lease, { ...run, ...lanes.begin(), before })
      if (before !== null && !isOfSameRevision(before, turn)) {
        lanes.leaveOut()
        nudge.set()
      }
      before = turn
      if (!turn.endpoint.isActive) lanes.leaveOut()
      lanes.add(turn.due.map((due) => ({ ...turn, due })))
      if (lanes.areBusy()) await nudge.wait(lookAgainMs)
      else if (!nudge.isSet() && !turn.hasMore) return
      if (stopping.aborted && lanes.areDone()) return
    }
  } finally {
    await lanes.end()
  }
}

type Turn = {
  endpoint: HeldEndpoint
  beginUntil: number
  due: readonly DueEvent[]
  /** As many events wait as there is room for, or more: the next turn looks at them before it takes new ones. */
  isFull: boolean
  /** New ones. */
  hasMore: boolean
} & TurnKeys

/** Without keys until something is due. */
type TurnKeys = { keys: readonly SigningKey[]; keysUntil: Date | null }

type TurnInput = EndpointRun & TakenState & { before: Turn | null }

function isOfSameRevision(one: Pick<Turn, 'endpoint'>, other: Pick<Turn, 'endpoint'>): boolean {
  return one.endpoint.revision === other.endpoint.revision
}

/** Stores what attempts came to, and takes what is sent next, in one transaction under the lease. */
async function takeTurn(deps: EventSenderDeps, lease: Lease, input: TurnInput): Promise<Turn> {
  const { turn, stop } = await inTransaction(deps.db, async (tx) => {
    const beginUntil = performance.now() + deps.leaseMs - deps.attemptMs
    await keepLease(tx, lease, deps.leaseMs)
    const endpoint = await holdEndpoint(tx, input.id)
    const settled = await settle(tx, { ...input, endpoint, random: deps.random })
    const isOn = endpoint.isActive && settled.stop === null && !input.stopping.aborted
    const next = isOn ? await takeNext(deps, tx, { ...input, endpoint, health: settled.health }) : nothing
    return { turn: { endpoint, beginUntil, ...next }, stop: settled.stop }
  })
  if (stop !== null) deps.observe.stopped(turn.endpoint.name, stop)
  return turn
}

const nothing = { keys: [], keysUntil: null, due: [], isFull: false, hasMore: false }

type SettleInput = TurnInput & { endpoint: HeldEndpoint; random: () => number }

async function settle(tx: Transaction<Tables>, { id, sent, endpoint, random }: SettleInput) {
  // A failure says nothing about what people set since.
  const isOfNow = (one: MadeAttempt) => one.revision === endpoint.revision || !isFailure(one)
  const settled = settleAttempts(endpoint, sent.filter(isOfNow), random)
  if (sent.length === 0) return settled
  const attempts = sent.map(({ due, ...one }) => attemptOf(due.sequence, one))
  await storeAttempts(tx, id, { attempts, ended: settled.ended })
  if (settled.health.failures + endpoint.failures > 0) await saveHealth(tx, id, settled.health)
  if (settled.recoveredSince !== null) await hastenDeliveries(tx, id, settled.recoveredSince)
  if (settled.stop !== null) await pause(tx, id, settled.stop)
  return settled
}

type NextInput = TurnInput & { endpoint: HeldEndpoint; health: Parameters<typeof roomOf>[0] }

async function takeNext(
  deps: EventSenderDeps,
  tx: Transaction<Tables>,
  input: NextInput,
): Promise<Omit<Turn, 'endpoint' | 'beginUntil'>> {
  const { id, health, held, before } = input
  const at = deps.now()
  const limit = roomOf(health, at, held.length)
  const mayBeFull = before?.isFull ?? true
  if (limit === 0) return { ...nothing, isFull: mayBeFull }
  const read = () => dueEvents(tx, id, { now: at, held, limit })
  const waiting = mayBeFull ? await read() : []
  const isFull = areFresh(waiting, limit)
  const hasMore = !isFull && (await takeEvents(tx, id))
  const due = isFull ? waiting : await read()
  if (due.length === 0) return { ...nothing, hasMore }
  return { due, hasMore, isFull: areFresh(due, limit), ...(await readKeys(deps, tx, { ...input, at })) }
}

/** Whether so many are sent for the first time. Events that keep failing do not hold back those of other deposits. */
function areFresh(due: readonly DueEvent[], count: number): boolean {
  return due.filter(({ tries }) => tries === 0).length >= count
}

/** Those of the turn before, unless they changed or one ended. */
async function readKeys(
  { vault }: EventSenderDeps,
  tx: Transaction<Tables>,
  { id, endpoint, before, at }: NextInput & { at: Date },
): Promise<TurnKeys> {
  if (before !== null && before.keys.length > 0 && isOfSameRevision(before, { endpoint })) {
    const { keys, keysUntil } = before
    if (keysUntil === null || at < keysUntil) return { keys, keysUntil }
  }
  if (vault === null) throw keyMissing()
  const secrets = await sealedSecrets(tx, id, at)
  return { keys: signingKeys(vault, id, secrets), keysUntil: firstEnd(secrets) }
}

function firstEnd(secrets: readonly SealedSecret[]): Date | null {
  const ends = secrets.flatMap(({ expiresAt }) => (expiresAt === null ? [] : [expiresAt.getTime()]))
  return ends.length === 0 ? null : new Date(Math.min(...ends))
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
): Promise<MadeAttempt | null> {
  const body = eventBody(due, endpoint.payload)
  const began = performance.now()
  const beganAt = now()
  const request = signedRequest(keys, { url: endpoint.url, id: due.id, body, at: beganAt })
  const answer = await poster.post(request, stopping)
  reach('events.answered')
  if (answer.kind === 'unanswered' && answer.problem === 'stopped') return null
  const at = now()
  observe.sent(outcomeOf(answer), Math.max(0, at.getTime() - due.at.getTime()) / 1000)
  const durationMs = Math.round(performance.now() - began)
  return { due, answer, beganAt, at, durationMs, revision: endpoint.revision }
}
