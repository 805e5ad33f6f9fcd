import { messageOf } from '../core/errors.ts'
import type { ComponentHealth } from '../core/health.ts'

/** Asks after several parts at once. What it throws is the fault of `part`, and of the others nothing is known then. */
export type ReadinessCheck = { part: string; ask: () => Promise<readonly ComponentHealth[]> }

export type Readiness = {
  checks: readonly ReadinessCheck[]
  /** Whether this process can do its own work only where that part is well; others are warned of. */
  isNeeded: (part: string) => boolean
  /** What works and should not stay as it is. */
  warnings: () => readonly Problem[]
}

export type Problem = { part: string; problem: string }

export type ReadinessReport = { ready: boolean; unready: Problem[]; warnings: Problem[]; fine: string[] }

/** Who asks gives up after a few seconds, and has to be told before which part it was. */
export const answerMaxMs = 2000

/** Makes what asks after every part at once; each has so long and no longer. */
export function createReadiness({ checks, isNeeded, warnings }: Readiness): () => Promise<ReadinessReport> {
  const asks = checks.map(({ part, ask }) => ({ part, ask: shared(ask) }))
  return async () => {
    const states = (await Promise.all(asks.map(stateOf))).flat()
    const faults = states.filter(({ state }) => state === 'fault')
    const unready = faults.filter(({ part }) => isNeeded(part)).map(problemOf)
    const warned = states.filter(
      ({ state, part }) => state === 'warning' || (state === 'fault' && !isNeeded(part)),
    )
    return {
      ready: unready.length === 0,
      unready,
      warnings: [...warned.map(problemOf), ...warnings()],
      fine: states.filter(({ state }) => state === 'fine').map(({ part }) => part),
    }
  }
}

async function stateOf({ part, ask }: ReadinessCheck): Promise<readonly ComponentHealth[]> {
  try {
    return await inTime(ask())
  } catch (error) {
    return [{ part, state: 'fault', says: messageOf(error) }]
  }
}

function problemOf({ part, says }: ComponentHealth): Problem {
  return { part, problem: says }
}

/** Whoever asks while an answer is awaited waits for that one: what hangs is asked once. */
function shared<Result>(ask: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<Result> | null = null
  return () => {
    running ??= ask().finally(() => {
      running = null
    })
    return running
  }
}

async function inTime<Result>(answer: Promise<Result>): Promise<Result> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no answer within ${answerMaxMs} ms`)), answerMaxMs)
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}
