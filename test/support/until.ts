import { setTimeout as sleep } from 'node:timers/promises'

const firstPauseMs = 20
/** Each pause is longer by half, up to this: what takes seconds is not asked for fifty times in each. */
const pauseMaxMs = 150
/** A pause is also twice as long as the answer took, up to this: to start a program for it takes a second of a core. */
const costlyPauseMaxMs = 1500

/** Asks until the answer is not null, and returns it. Throws where that takes longer than allowed. */
export async function until<Answer>(
  what: string,
  ask: () => Answer | null | Promise<Answer | null>,
  withinMs = 60_000,
): Promise<Answer> {
  const deadline = Date.now() + withinMs
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 1.5, pauseMaxMs)) {
    const askedAt = Date.now()
    const answer = await ask()
    if (answer !== null) return answer
    if (Date.now() > deadline) throw new Error(`${what} did not happen within ${withinMs} ms`)
    await sleep(Math.max(pauseMs, Math.min(2 * (Date.now() - askedAt), costlyPauseMaxMs)))
  }
}
