import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'

/** A machine with much to do is slow, and what never comes is told all the same. */
const withinMs = 120_000
const askEveryMs = 50

/** Asks until the answer is this one. @throws with the last answer where it never is. */
export async function untilSame<Answer>(
  what: string,
  ask: () => Answer | Promise<Answer>,
  wanted: Answer,
): Promise<void> {
  const deadline = performance.now() + withinMs
  for (;;) {
    const answer = await ask()
    if (isDeepStrictEqual(answer, wanted)) return
    if (performance.now() > deadline)
      throw new Error(`${what}: ${reported(answer)} in the place of ${reported(wanted)}`)
    await sleep(askEveryMs)
  }
}

/** @throws where an answer is another one. */
export function mustBeSame<Answer>(what: string, answer: Answer, wanted: Answer): void {
  if (!isDeepStrictEqual(answer, wanted)) {
    throw new Error(`${what}: ${reported(answer)} in the place of ${reported(wanted)}`)
  }
}

function reported(answer: unknown): string {
  return JSON.stringify(answer, (_key, part: unknown) => (typeof part === 'bigint' ? part.toString() : part))
}
