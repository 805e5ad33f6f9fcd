import { backgroundWork } from './background.ts'
import type { ReaderBounds } from './options.ts'

export type Clock = { nowMs(): number; wait(ms: number): Promise<void> }

/** `quota`: the server asks for fewer requests. `broken`: the failure may be temporary. */
export type RequestAttempt<Result> = {
  outcome: 'fine' | 'refused' | 'quota' | 'broken'
  retryAfterMs: number | null
  settle: () => Result
}

type PaceBounds = Pick<ReaderBounds, 'requestsAtOnce' | 'quotaWaitMs' | 'pauseMaxMs' | 'triesMax'> &
  Partial<Pick<ReaderBounds, 'backgroundPerSecond'>>
/** `calls`: how many the provider counts; a batch is several. */
type PaceQueueEntry = { calls: number; start: () => void; refuse: (reason: Error) => void }

/** Each further wait is twice as long, up to a limit. */
const quotaFirstMs = 200
const quotaMostMs = 4000
const brokenFirstMs = 100
const brokenTriesMax = 3
/** The concurrency is multiplied by this on each refusal. One in a hundred hardly matters. */
const cutTo = 0.85
const ratePerSecondMin = 0.5
/** Above this, the rate limit is dropped. */
const ratePerSecondMax = 1000
/** Covers about the last 32 answers; above a fifth of refusals, requests pause. */
const shareOf = 32
const muchRefused = 0.2
/** Requests per second that each answer adds above the known rate. */
const creeping = 0.02

/**
 * The number of requests in flight falls with each refusal, and grows by one with each round of answers. After a pause
 * for several refusals, the rate at which the server answered before is the limit; it rises until it has no effect.
 * Requests of background work use at most half of the places, one if others wait, and keep to their rate.
 */
export class Pace {
  readonly #bounds: PaceBounds
  readonly #clock: Clock
  readonly #waiting: PaceQueueEntry[] = []
  readonly #waitingBehind: PaceQueueEntry[] = []
  #atOnce: number
  #underWay = 0
  #underWayBehind = 0
  #nextBehindMs = -Infinity
  #sleepingUntilMs = Infinity
  #cutMs = -Infinity
  #pausedUntilMs = -Infinity
  #nextStartMs = -Infinity
  #ratePerSecond: number | null = null
  #bearablePerSecond = Infinity
  /** Since the last answer. */
  #refusals = 0
  #rounds = 0
  #refusedShare = 0
  /** Since the last pause began, without idle time. */
  #answers = 0
  #countingSinceMs: number
  #idleSinceMs: number
  #unfinished = 0

  constructor(bounds: PaceBounds, clock: Clock = realClock) {
    this.#bounds = bounds
    this.#clock = clock
    this.#atOnce = bounds.requestsAtOnce
    this.#countingSinceMs = clock.nowMs()
    this.#idleSinceMs = clock.nowMs()
  }

  /**
   * Retries within the bounds.
   * @throws the error of the last attempt; an Error at once if the server asks for a longer pause than a request waits
   */
  async run<Result>(send: () => Promise<RequestAttempt<Result>>, calls = 1): Promise<Result> {
    // In the background, only the node's refusals count, not the wait for a turn.
    let untilMs = backgroundWork() === null ? this.#clock.nowMs() + this.#bounds.quotaWaitMs : null
    if (this.#unfinished === 0) this.#countingSinceMs += this.#clock.nowMs() - this.#idleSinceMs
    this.#unfinished++
    try {
      for (let tries = 1; ; tries++) {
        const { attempt, waitMs, startedMs } = await this.#once(send, { tries, calls })
        untilMs ??= startedMs + this.#bounds.quotaWaitMs
        const again =
          waitMs !== null && tries < this.#bounds.triesMax && this.#clock.nowMs() + waitMs <= untilMs
        if (!again) return attempt.settle()
        await this.#clock.wait(waitMs)
      }
    } finally {
      this.#unfinished--
      this.#idleSinceMs = this.#clock.nowMs()
    }
  }

  async #once<Result>(
    send: () => Promise<RequestAttempt<Result>>,
    { tries, calls }: { tries: number; calls: number },
  ) {
    const background = backgroundWork()
    await this.#turn(calls, background !== null)
    const startedMs = this.#clock.nowMs()
    if (background !== null) background.requests += calls
    try {
      const attempt = await send()
      return { attempt, startedMs, waitMs: this.#learn(attempt, { startedMs, tries }) }
    } finally {
      this.#underWay--
      if (background !== null) this.#underWayBehind--
      this.#startNext()
    }
  }

  #turn(calls: number, isBehind: boolean): Promise<void> {
    const leftMs = this.#pausedUntilMs - this.#clock.nowMs()
    if (leftMs > this.#bounds.quotaWaitMs) return Promise.reject(new PauseRequested(leftMs))
    return new Promise((start, refuse) => {
      const queue = isBehind ? this.#waitingBehind : this.#waiting
      queue.push({ calls, start, refuse })
      this.#startNext()
    })
  }

  #startNext(): void {
    while (this.#underWay < this.#atOnce) {
      const isBehind = this.#waiting.length === 0 || this.#isBehindOwed()
      const [next] = isBehind ? this.#waitingBehind : this.#waiting
      if (next === undefined) return
      if (isBehind && this.#underWayBehind >= Math.max(1, Math.floor(this.#atOnce / 2))) return
      const nowMs = this.#clock.nowMs()
      const startMs = this.#startMs(isBehind)
      if (startMs > nowMs) {
        void this.#wakeIn(startMs - nowMs)
        return
      }
      this.#underWay++
      if (this.#ratePerSecond !== null) this.#nextStartMs = nowMs + 1000 / this.#ratePerSecond
      if (isBehind) this.#startBehind(nowMs, next.calls)
      else this.#waiting.shift()
      next.start()
    }
  }

  #startMs(isBehind: boolean): number {
    return Math.max(this.#pausedUntilMs, this.#nextStartMs, isBehind ? this.#nextBehindMs : -Infinity)
  }

  /** One at a time, so that others do not stop it for ever. */
  #isBehindOwed(): boolean {
    const isFree = this.#underWayBehind === 0 && this.#nextBehindMs <= this.#clock.nowMs()
    return isFree && this.#waitingBehind.length > 0 && this.#atOnce >= 2
  }

  #startBehind(nowMs: number, calls: number): void {
    const { backgroundPerSecond = Infinity } = this.#bounds
    this.#waitingBehind.shift()
    this.#underWayBehind++
    this.#nextBehindMs = nowMs + (1000 * calls) / backgroundPerSecond
  }

  /** A request that need not wait as long as the one before it wakes earlier. */
  async #wakeIn(ms: number): Promise<void> {
    const untilMs = this.#clock.nowMs() + ms
    if (untilMs >= this.#sleepingUntilMs) return
    this.#sleepingUntilMs = untilMs
    await this.#clock.wait(ms)
    this.#sleepingUntilMs = Infinity
    this.#startNext()
  }

  /** Null if a retry would not help. */
  #learn(
    attempt: RequestAttempt<unknown>,
    { startedMs, tries }: { startedMs: number; tries: number },
  ): number | null {
    const { outcome, retryAfterMs } = attempt
    if (outcome === 'fine' || outcome === 'refused') {
      this.#speedUp()
      return null
    }
    this.#slowDown(startedMs)
    if (outcome === 'broken') return tries < brokenTriesMax ? brokenFirstMs * 2 ** (tries - 1) : null
    this.#refusals++
    const waitMs = retryAfterMs ?? Math.min(quotaMostMs, quotaFirstMs * 2 ** (this.#rounds - 1))
    this.#refusedShare += (1 - this.#refusedShare) / shareOf
    // One or two may be meant for another client behind the same gateway.
    if (this.#refusals > (retryAfterMs === null ? 2 : 1) || this.#refusedShare > muchRefused)
      this.#pause(waitMs)
    return waitMs
  }

  #speedUp(): void {
    this.#refusals = 0
    this.#rounds = 0
    this.#refusedShare -= this.#refusedShare / shareOf
    this.#answers++
    this.#atOnce = Math.min(this.#bounds.requestsAtOnce, this.#atOnce + 1 / this.#atOnce)
    if (this.#ratePerSecond === null) return
    this.#ratePerSecond += this.#ratePerSecond < this.#bearablePerSecond ? 1 : creeping
    if (this.#ratePerSecond > ratePerSecondMax) this.#ratePerSecond = null
  }

  /** Counts once for all requests in flight together. */
  #slowDown(startedMs: number): void {
    if (startedMs < this.#cutMs) return
    this.#cutMs = this.#clock.nowMs()
    this.#rounds++
    this.#atOnce = Math.max(1, this.#atOnce * cutTo)
  }

  #pause(waitMs: number): void {
    const nowMs = this.#clock.nowMs()
    if (nowMs >= this.#pausedUntilMs) {
      const answered = (this.#answers * 1000) / Math.max(1, nowMs - this.#countingSinceMs)
      this.#bearablePerSecond = answered > 0 ? answered : Infinity
      this.#ratePerSecond = Math.max(ratePerSecondMin, Math.min(this.#ratePerSecond ?? Infinity, answered))
      this.#answers = 0
      this.#countingSinceMs = nowMs
    }
    const untilMs = nowMs + Math.min(waitMs, this.#bounds.pauseMaxMs)
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, untilMs)
    const leftMs = this.#pausedUntilMs - nowMs
    if (leftMs <= this.#bounds.quotaWaitMs) return
    for (const queue of [this.#waiting, this.#waitingBehind])
      for (const { refuse } of queue.splice(0)) refuse(new PauseRequested(leftMs))
  }
}

/** The server asked for a longer pause than a request waits. */
export class PauseRequested extends Error {
  constructor(ms: number) {
    super(`the server asked for a pause because of too many requests; ${Math.ceil(ms / 1000)} s remain`)
  }
}

const realClock: Clock = {
  nowMs: () => performance.now(),
  wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
}
