import type { Random } from './random.ts'
import type { ChaosWorld } from './world.ts'

export type FaultName = `F${number}`

/**
 * One way in which the world goes wrong. It strikes a world at work, makes sure by what it sees that it did strike, and holds
 * what must hold meanwhile. Whoever calls then recovers the world, waits until it is at rest, and asks the oracle.
 */
export type Fault = {
  name: FaultName
  /** As in `two workers on one batch`; a fault may have several variants, each an entry of its own. */
  title: string
  /** On which queue it matters; both without it. */
  backend?: 'redis' | 'postgres'
  /** `own`: it would leave the shared world in a state that no one recovers; it makes what it needs, and asks the oracle itself. */
  ground: 'shared' | 'own'
  /** @throws where something that must hold did not, in words that say what. */
  strike: (world: ChaosWorld, random: Random) => Promise<void>
}
