import type { ReaderBounds } from './options.ts'

export type Clock = { nowMs(): number; wait(ms: number): Promise<void> }

/**
 * How one request went. `quota`: the server wants to be asked less often. `broken`: it failed in a way that may pass.
 * `settle` gives the result, or throws what is wrong with it.
 */
export type RequestAttempt<Result> = {
  outcome: 'fine' | 'refused' | 'quota' | 'broken'
  /** How long the server asks to be left alone; null where it does not say. */
  retryAfterMs: number | null
  settle: () => Result
}

type PaceBounds = Pick<ReaderBounds, 'requestsAtOnce' | 'quotaWaitMs' | 'pauseMaxMs' | 'triesMax'>
type PaceQueueEntry = { start: () => void; refuse: (reason: Error) => void }

/** First waits; each further one is twice as long, up to a bound. */
const quotaFirstMs = 200
const quotaMostMs = 4000
const brokenFirstMs = 100
const brokenTriesMax = 3
/** One answer of a hundred that asks to slow down leaves the pace nearly whole; a run of them brings it down. */
const cutTo = 0.85
const ratePerSecondMin = 0.5
/** Beyond it a rate binds nobody. */
const ratePerSecondMax = 1000
/** How many answers the share of refusals is of, about, and how much of them is too much. */
const shareOf = 32
const muchRefused = 0.2
/** What each answer adds to the rate of requests a second: above what is known to be borne, two hundredths a second. */
const creeping = 0.02

/**
 * How often one server is asked. As many requests are under way as it bears: one less for each that it refuses, one
 * more for each round that it answers. Where it refuses several on end nothing is sent for a while, and then no more
 * a second than it answered before; that limit rises again until it wears off.
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
  /** Refusals since the last answer, and the rounds that they came in. */
  #refusals = 0
  #rounds = 0
  /** How much of the last answers was refusals. */
  #refusedShare = 0
  /** Answers since the last pause began, while there was something to ask: by them the rate is known. */
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
   * Sends a request when it is its turn, and again, within bounds, where the server asks to wait or fails.
   * @throws what the last try settles to; an Error at once while the server wants to be left alone for longer
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
    if (leftMs > this.#bounds.quotaWaitMs) return Promise.reject(new LeftAlone(leftMs))
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

  /** @returns how long to wait before another try; null where none would help */
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
    // One or two may be somebody else's doing behind the same gateway; three on end, or many, are meant, and two that
    // say for how long.
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

  /** Once for all that were under way together. */
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
    for (const { refuse } of this.#waiting.splice(0)) refuse(new LeftAlone(leftMs))
  }
}

/** The request was not sent: the server asked to be left alone for longer than a request waits. */
export class LeftAlone extends Error {
  constructor(ms: number) {
    super(`it asks for too many requests to be left alone for another ${Math.ceil(ms / 1000)} s`)
  }
}

const realClock: Clock = {
  nowMs: () => performance.now(),
  wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
}
