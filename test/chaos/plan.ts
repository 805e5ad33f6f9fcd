import type { Fault, FaultName } from './fault.ts'
import { createRandom } from './random.ts'
import type { ChaosWorld } from './world.ts'

/** What one seed does, and in which order. */
export type Plan = { seed: number; backend: ChaosWorld['backend']; faults: readonly Fault[] }

/** Only these faults, or only that queue, in the place of what the seed would choose. */
export type Wishes = { faults?: readonly FaultName[]; backend?: ChaosWorld['backend'] }

const parts = 8

/**
 * The lowest bit of the seed chooses the queue and the next three which eighth of the deck, so that 16 seeds in a row
 * strike every fault on both queues; the whole seed chooses the order. Whoever names faults gets all their variants.
 */
export function planOf(seed: number, deck: readonly Fault[], wishes: Wishes = {}): Plan {
  const backend = wishes.backend ?? (seed % 2 === 0 ? 'redis' : 'postgres')
  const part = Math.floor(seed / 2) % parts
  const fitting = deck.filter((fault) => fault.backend === undefined || fault.backend === backend)
  const chosen =
    wishes.faults === undefined
      ? fitting.filter((_, place) => place % parts === part)
      : fitting.filter(({ name }) => wishes.faults?.includes(name))
  return { seed, backend, faults: createRandom(seed).shuffled(chosen) }
}
