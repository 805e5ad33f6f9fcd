import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Observation } from '../../../src/core/evidence.ts'
import { anyWorld } from '../../support/any-world.ts'
import { openConvergingBooks, type Turn } from '../../support/converging-books.ts'

let books: Awaited<ReturnType<typeof openConvergingBooks>>

beforeAll(async () => {
  books = await openConvergingBooks()
})
afterAll(() => books[Symbol.asyncDispose]())

/** Chosen anew each time, unless it is given; `SEED` and `WORLDS` repeat a run, or make it a long one. */
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31))
const worlds = Number(process.env.WORLDS ?? 12)
const shrinkMs = Number(process.env.SHRINK_MS ?? 0)
process.stdout.write(`seed ${seed}, worlds ${worlds}\n`)

const anyTurn = fc.record({
  minute: fc.nat({ max: 300 }),
  workers: fc.array(fc.constantFrom(1, 3, 10, 100), { minLength: 1, maxLength: 3 }),
  crashAt: fc.option(fc.nat({ max: 20 })),
  waitsAgain: fc.constantFrom(0, 0, 1, 2, 5),
})

const anyCourse = anyWorld.chain((world) =>
  fc.record({
    world: fc.constant(world),
    reported: fc
      .shuffledSubarray([...world, ...world], { minLength: world.length })
      .map((some) => [...some, ...world.filter((one) => !some.includes(one))]),
    turns: fc.array(anyTurn, { minLength: 1, maxLength: 5 }),
    cuts: fc.array(fc.nat({ max: world.length * 2 }), { minLength: 5, maxLength: 5 }),
  }),
)

type Course = typeof anyCourse extends fc.Arbitrary<infer Found> ? Found : never

const plain = { minute: 3000, workers: [500], crashAt: null, waitsAgain: 0 }

async function converges({ world, reported, turns, cuts }: Course): Promise<void> {
  const atOnce = await books.run([{ ...plain, observations: world }])
  expect(atOnce).toMatchObject({ differing: [], due: 0, rebuilt: atOnce.live })
  const bumpy = await books.run(turnsOf(reported, turns, cuts))
  expect(bumpy).toEqual(atOnce)
}

/** Deals the evidence out to the turns, which come in order of time; the last gets the rest. */
function turnsOf(reported: readonly Observation[], turns: Course['turns'], cuts: readonly number[]): Turn[] {
  const inTime = turns.toSorted((left, right) => left.minute - right.minute)
  const places = cuts.slice(0, turns.length - 1).toSorted((left, right) => left - right)
  return inTime.map((turn, place) => ({
    ...turn,
    observations: reported.slice(place === 0 ? 0 : places[place - 1], places[place]),
  }))
}

test(
  'any order, repetition, batching, crash and number of workers ends in the books that a rebuild gives',
  async () => {
    let done = 0
    await fc.assert(
      fc.asyncProperty(anyCourse, async (course) => {
        await converges(course)
        done++
        if (done % 100 === 0) process.stdout.write(`${done} of ${worlds}\n`)
      }),
      // To make a failing world smaller takes many runs more: that is for who looks into it, with `SHRINK_MS`.
      {
        seed,
        numRuns: worlds,
        ...(shrinkMs > 0 ? { interruptAfterTimeLimit: shrinkMs } : { endOnFailure: true }),
      },
    )
  },
  60_000 + shrinkMs + worlds * 5000,
)
