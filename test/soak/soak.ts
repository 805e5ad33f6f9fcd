import { setTimeout as sleep } from 'node:timers/promises'
import { startChaosWorld, type WorldChoices } from '../chaos/start-world.ts'
import type { ChaosWorld } from '../chaos/world.ts'
import { contradictionsIn } from '../oracle/hold.ts'
import type { Soaked } from './judge.ts'
import { type Sample, sampleTables, takeSample, walBytes } from './sample.ts'
import { strikesOf } from './strikes.ts'

export type SoakSettings = { minutes: number; backend: WorldChoices['backend']; say: (line: string) => void }

const paymentsAtOnce = 3
const paymentEveryMs = 2000
const sampleEveryMs = 5000
const strikesEach = 60_000

export async function soak({ minutes, backend, say }: SoakSettings): Promise<Soaked> {
  await using stack = new AsyncDisposableStack()
  return soakWorld(await startChaosWorld({ backend, say }, stack), minutes)
}

/** Runs a world of real processes under payments and faults for that long, brings it to rest, and asks the oracle. */
export async function soakWorld(world: ChaosWorld, minutes: number): Promise<Soaked> {
  const client = await world.connect()
  const walBefore = await walBytes(client)
  await client.end()
  const startedAt = performance.now()
  const clock = { now: () => performance.now() - startedAt, endsAt: minutes * 60_000 }
  const [samples] = await Promise.all([
    sampleAll(world, clock),
    payAll(world, clock),
    strikeAll(world, clock),
  ])
  await world.recover()
  await world.untilAtRest()
  world.say(`at rest after ${world.paid.length} payments`)
  const atRest = await takeSample(world, clock.now())
  const contradictions = await contradictionsIn(world)
  const last = await world.connect()
  try {
    return {
      minutes,
      samples: atRest === null ? samples : [...samples, atRest],
      tables: await sampleTables(last),
      deposits: world.paid.length,
      walBytes: (await walBytes(last)) - walBefore,
      mismatches: await openByKind(last),
      contradictions: contradictions.map(({ invariant, question }) => `${invariant} ${question}`),
    }
  } finally {
    await last.end()
  }
}

/** In milliseconds since the beginning. */
type Clock = { now: () => number; endsAt: number }

async function sampleAll(world: ChaosWorld, clock: Clock): Promise<Sample[]> {
  const samples: Sample[] = []
  while (clock.now() < clock.endsAt) {
    const one = await takeSample(world, clock.now())
    if (one !== null) samples.push(one)
    await sleep(Math.min(sampleEveryMs, Math.max(0, clock.endsAt - clock.now())))
  }
  return samples
}

async function payAll(world: ChaosWorld, clock: Clock): Promise<void> {
  while (clock.now() < clock.endsAt) {
    await world.pay(paymentsAtOnce)
    await sleep(paymentEveryMs)
  }
}

/** One after the other, each once a minute has passed, and at least one however short the run is. */
async function strikeAll(world: ChaosWorld, { now, endsAt }: Clock): Promise<void> {
  for (let number = 0; ; number++) {
    await sleep(Math.min(strikesEach, endsAt / 3))
    if (now() >= endsAt) return
    const strikes = strikesOf(now() < endsAt / 2 ? 'first' : 'second')
    const { title, strike } = strikes[number % strikes.length] ?? { title: '', strike: async () => undefined }
    world.say(`${Math.round(now() / 1000)} s: ${title}, after ${world.paid.length} payments`)
    await strike(world)
  }
}

async function openByKind(
  client: Awaited<ReturnType<ChaosWorld['connect']>>,
): Promise<Record<string, number>> {
  const { rows } = await client.query<{ kind: string; count: number }>(
    `select kind, count(*)::int as count from open_mismatch group by kind order by kind`,
  )
  return Object.fromEntries(rows.map(({ kind, count }) => [kind, count]))
}
