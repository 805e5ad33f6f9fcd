import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../core/errors.ts'
import type { ComponentHealth } from '../health.ts'

/** An error counts for `part`; the state of the others is then unknown. */
export type ReadinessCheck = { part: string; ask: () => Promise<readonly ComponentHealth[]> }

export type Readiness = {
  checks: readonly ReadinessCheck[]
  /** By this process; other components only cause warnings. */
  isNeeded: (part: string) => boolean
}

export type Problem = { part: string; problem: string }

export type ReadinessReport = { ready: boolean; unready: Problem[]; warnings: Problem[]; fine: string[] }

/** Probes give up after a few seconds, and the response has to name the component before that. */
export const answerMaxMs = 2000

/** Checks all at once, each with a time limit. */
export function createReadiness({ checks, isNeeded }: Readiness): () => Promise<ReadinessReport> {
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
      warnings: warned.map(problemOf),
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

/** A check that hangs runs only once. */
function shared<Result>(ask: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<Result> | null = null
  return () => {
    running ??= ask().finally(() => {
      running = null
    })
    return running
  }
}

function inTime<Result>(answer: Promise<Result>): Promise<Result> {
  const late = sleep(answerMaxMs, null, { ref: false }).then(() => {
    throw new Error(`no answer within ${answerMaxMs} ms`)
  })
  return Promise.race([answer, late])
}
