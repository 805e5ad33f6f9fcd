import type { ReaderBounds } from './options.ts'

export type Clock = { nowMs(): number; wait(ms: number): Promise<void> }

/** `quota`: the server asks for fewer requests. `broken`: the failure may be temporary. */
export type RequestAttempt<Result> = {
  outcome: 'fine' | 'refused' | 'quota' | 'broken'
  retryAfterMs: number | null
  settle: () => Result
}

type PaceBounds = Pick<ReaderBounds, 'requestsAtOnce' | 'quotaWaitMs' | 'pauseMaxMs' | 'triesMax'>
type PaceQueueEntry = { start: () => void; refuse: (reason: Error) => void }

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
 */
export class Pace {
  readonly #bounds: PaceBounds
  readonly #clock: Clock
  readonly #waiting: PaceQueueEntry[] = []
  #atOnce: number
  #underWay = 0
  #sleeping = false
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
  async run<Result>(send: () => Promise<RequestAttempt<Result>>): Promise<Result> {
    const untilMs = this.#clock.nowMs() + this.#bounds.quotaWaitMs
    if (this.#unfinished === 0) this.#countingSinceMs += this.#clock.nowMs() - this.#idleSinceMs
    this.#unfinished++
    try {
      for (let tries = 1; ; tries++) {
        const { attempt, waitMs } = await this.#once(send, tries)
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

  async #once<Result>(send: () => Promise<RequestAttempt<Result>>, tries: number) {
    await this.#turn()
    const startedMs = this.#clock.nowMs()
    try {
      const attempt = await send()
      return { attempt, waitMs: this.#learn(attempt, { startedMs, tries }) }
    } finally {
      this.#underWay--
      this.#startNext()
    }
  }

  #turn(): Promise<void> {
    const leftMs = this.#pausedUntilMs - this.#clock.nowMs()
    if (leftMs > this.#bounds.quotaWaitMs) return Promise.reject(new PauseRequested(leftMs))
    return new Promise((start, refuse) => {
      this.#waiting.push({ start, refuse })
      this.#startNext()
    })
  }

  #startNext(): void {
    while (this.#waiting.length > 0 && this.#underWay < this.#atOnce) {
      const nowMs = this.#clock.nowMs()
      const startMs = Math.max(this.#pausedUntilMs, this.#nextStartMs)
      if (startMs > nowMs) {
        void this.#wakeIn(startMs - nowMs)
        return
      }
      this.#underWay++
      if (this.#ratePerSecond !== null) this.#nextStartMs = nowMs + 1000 / this.#ratePerSecond
      this.#waiting.shift()?.start()
    }
  }

  async #wakeIn(ms: number): Promise<void> {
    if (this.#sleeping) return
    this.#sleeping = true
    await this.#clock.wait(ms)
    this.#sleeping = false
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
    for (const { refuse } of this.#waiting.splice(0)) refuse(new PauseRequested(leftMs))
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
