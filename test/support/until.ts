import { setTimeout as sleep } from 'node:timers/promises'

const askEveryMs = 20

/** Asks until the answer is not null, and returns it. Throws where that takes longer than allowed. */
export async function until<Answer>(
  what: string,
  ask: () => Answer | null | Promise<Answer | null>,
  withinMs = 60_000,
): Promise<Answer> {
  const deadline = Date.now() + withinMs
  for (;;) {
    const answer = await ask()
    if (answer !== null) return answer
    if (Date.now() > deadline) throw new Error(`${what} did not happen within ${withinMs} ms`)
    await sleep(askEveryMs)
  }
}
