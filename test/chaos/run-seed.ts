import { once } from 'node:events'
import { cp, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { messageOf } from '../../src/core/errors.ts'
import type { Plan } from './plan.ts'
import { createRandom } from './random.ts'
import { startChaosWorld } from './start-world.ts'
import { type Struck, strike } from './strike.ts'
import { differencesToTwin } from './twin.ts'
import type { ChaosWorld } from './world.ts'

/** What is told while a seed runs. */
export type Teller = {
  world: (seconds: number) => void
  struck: (struck: Struck) => void
  twin: (differences: readonly string[], seconds: number) => void
  /** Where the logs of a world are in which something did not hold. */
  kept: (folder: string) => void
  say: (line: string) => void
}

export type SeedResult = {
  seed: number
  backend: ChaosWorld['backend']
  struck: readonly Struck[]
  /** What differs from a daemon that nothing struck (I7), at the end of each world. */
  differences: readonly string[]
}

/** One seed in one world; behind a fault after which something did not hold, another world is made. */
export async function runSeed(plan: Plan, report: Teller, stopping: AbortSignal): Promise<SeedResult> {
  const struck: Struck[] = []
  const differences: string[] = []
  while (struck.length < plan.faults.length && !stopping.aborted) {
    const faults = plan.faults.slice(struck.length)
    await inWorld({ ...plan, faults }, { report, stopping, struck, differences })
  }
  return { seed: plan.seed, backend: plan.backend, struck, differences }
}

type Running = { report: Teller; stopping: AbortSignal; struck: Struck[]; differences: string[] }

async function inWorld({ seed, backend, faults }: Plan, running: Running): Promise<void> {
  const { report, stopping, struck, differences } = running
  await using stack = new AsyncDisposableStack()
  const aborted = abortOf(stopping)
  const begun = performance.now()
  const world = await startChaosWorld({ backend, say: report.say }, stack)
  report.world((performance.now() - begun) / 1000)
  for (const fault of faults) {
    // A fault makes the same choices whatever was struck before it.
    const random = createRandom(seed * 1009 + hash(`${fault.name} ${fault.title}`))
    const result = await Promise.race([strike(world, fault, random), aborted])
    // The world is ended under the fault, which then ends by itself.
    if (result === null) return
    struck.push(result)
    report.struck(result)
    if (result.problems.length === 0) continue
    report.kept(await keepLogs(world))
    return
  }
  const asked = performance.now()
  const found = await differencesToTwin(world).catch((error: unknown) => [messageOf(error)])
  differences.push(...found)
  report.twin(found, (performance.now() - asked) / 1000)
  if (found.length > 0) report.kept(await keepLogs(world))
}

async function abortOf(stopping: AbortSignal): Promise<null> {
  if (!stopping.aborted) await once(stopping, 'abort')
  return null
}

/** Fnv-1a: which variant of a fault it is decides its choices, and not its place in the deck. */
function hash(text: string): number {
  let sum = 0x811c9dc5
  for (const byte of Buffer.from(text)) sum = Math.imul(sum ^ byte, 0x01000193) >>> 0
  return sum
}

/** For who looks into it: everything the processes printed, and the logs of the servers. */
async function keepLogs({ daemons, folder }: ChaosWorld): Promise<string> {
  const kept = await mkdtemp(join(tmpdir(), 'depositd-chaos-failed-'))
  for (const daemon of daemons())
    await writeFile(join(kept, `${daemon.name.replace(' ', '-')}.log`), daemon.output())
  for (const name of ['postgres-daemon', 'postgres-service'])
    await cp(join(folder, name, 'postgres.log'), join(kept, `${name}.log`)).catch(() => undefined)
  return kept
}
