import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { redisInstalled } from '../support/redis.ts'
import { allFaults } from './all-faults.ts'
import { createRandom } from './random.ts'
import { startChaosWorld } from './start-world.ts'
import { strike } from './strike.ts'
import { differencesToTwin } from './twin.ts'
import type { ChaosWorld } from './world.ts'

/**
 * The whole deck, with the queue on Redis and on Postgres, is `npm run chaos -- --seeds 16`; these are quick, and each
 * strikes another part.
 */
const shortSet = [
  'the daemon is killed after the commit, before 202',
  'a worker is killed inside the posting transaction',
  'Postgres is killed and started again',
  'the connection is cut behind COMMIT',
  'Redis is killed and started again',
  'Redis is emptied by FLUSHALL',
]

const seed = Number(process.env.SEED ?? Date.now() % 1_000_000)
const withinMs = 600_000

const backend = redisInstalled() ? 'redis' : 'postgres'

describe(`with the queue on ${backend} (seed ${seed})`, () => {
  const stack = new AsyncDisposableStack()
  let world: ChaosWorld
  beforeAll(async () => {
    world = await startChaosWorld({ backend }, stack)
  }, withinMs)
  afterAll(() => stack.disposeAsync(), withinMs)

  const faults = allFaults.filter(
    (fault) => shortSet.includes(fault.title) && (fault.backend ?? backend) === backend,
  )

  test.each(faults.map((fault) => [`${fault.name}: ${fault.title}`, fault] as const))(
    '%s',
    { timeout: withinMs },
    async (_name, fault) => {
      expect((await strike(world, fault, createRandom(seed))).problems).toEqual([])
    },
  )

  test('in the end the books are those of a daemon that nothing struck', { timeout: withinMs }, async () => {
    expect(await differencesToTwin(world)).toEqual([])
  })
})

test('each fault of the short set is in the deck', () => {
  expect(shortSet.filter((title) => !allFaults.some((fault) => fault.title === title))).toEqual([])
})
