import type { SigningKey } from '../../outbox/signing-key.ts'
import type { DueEvent, HeldEndpoint } from '../../store/event-deliveries.ts'
import { concurrentMax, heldMax, outcomeOf, type SentEvent } from './retries.ts'

/** `beginUntil`: by the monotonic clock; after that, an attempt might end after the lease. */
export type TakenEvent = {
  endpoint: HeldEndpoint
  keys: readonly SigningKey[]
  beginUntil: number
  due: DueEvent
}

/** `revision`: of the endpoint, when the event was taken. */
export type MadeAttempt = SentEvent & { revision: number }

/** `held`: deliveries that are under way, or taken to be sent. `sent`: attempts that are not stored yet. */
export type TakenState = { held: readonly bigint[]; sent: readonly MadeAttempt[] }

type LanesInput = {
  /** Null if the process stopped before the answer. */
  send: (taken: TakenEvent) => Promise<MadeAttempt | null>
  /** A turn is needed: few events wait. */
  isNeeded: () => void
  stopping: AbortSignal
}

/**
 * Events of an endpoint that are taken to be sent: those of a lane one after another, several lanes at once. After a
 * failure, what waits is left out, and so is what the turn takes that is under way; a later turn takes all of it again.
 */
export function openLanes({ send, isNeeded, stopping }: LanesInput) {
  /** By lane. */
  const underWay = new Map<bigint, { delivery: bigint; ended: Promise<void> }>()
  const sent: MadeAttempt[] = []
  let waiting: TakenEvent[] = []
  let isLeftOut = false

  const sendOne = async (taken: TakenEvent): Promise<void> => {
    const one = await send(taken)
    underWay.delete(taken.due.lane)
    if (one !== null) sent.push(one)
    sendNext()
    if (waiting.length <= heldMax / 2) isNeeded()
  }
  const sendNext = (): void => {
    isLeftOut ||= stopping.aborted || sent.some(isFailure) || waiting.some(isLate)
    if (isLeftOut) waiting = []
    const later: TakenEvent[] = []
    for (const next of waiting) {
      const { lane, delivery } = next.due
      if (underWay.has(lane) || underWay.size >= concurrentMax) later.push(next)
      else underWay.set(lane, { delivery, ended: sendOne(next) })
    }
    waiting = later
  }
  return {
    /** Of a turn. */
    begin: (): TakenState => {
      isLeftOut = false
      const all = [...underWay.values(), ...waiting.map(({ due }) => due)]
      return { held: all.map(({ delivery }) => delivery), sent: sent.splice(0) }
    },
    leaveOut: () => {
      isLeftOut = true
    },
    add: (taken: readonly TakenEvent[]) => {
      waiting = [...waiting, ...taken]
      sendNext()
    },
    areBusy: () => underWay.size > 0,
    areDone: () => underWay.size === 0 && sent.length === 0,
    end: async () => {
      waiting = []
      await Promise.all([...underWay.values()].map(({ ended }) => ended))
    },
  }
}

function isLate({ beginUntil }: TakenEvent): boolean {
  return performance.now() >= beginUntil
}

export function isFailure({ answer }: Pick<SentEvent, 'answer'>): boolean {
  return outcomeOf(answer) !== 'delivered'
}
