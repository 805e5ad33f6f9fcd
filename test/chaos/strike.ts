import { messageOf } from '../../src/core/errors.ts'
import type { Fault } from './fault.ts'
import { holdTruth } from './hold-truth.ts'
import { holdNoSecrets, holdResumed } from './liveness.ts'
import type { Random } from './random.ts'
import type { ChaosWorld } from './world.ts'

/** What came of one fault; `problems` is empty where all held. */
export type Struck = {
  name: string
  title: string
  seconds: number
  /** Until everything worked again after the recovery; null where the fault did not touch the shared world. */
  resumedSeconds: number | null
  problems: readonly string[]
}

/**
 * Strikes a world at work, recovers it, waits until it is at rest, and asks the oracle. A fault on a ground of its own holds
 * the same of that itself; of the shared world, which must not have noticed, the oracle is asked all the same.
 */
export async function strike(world: ChaosWorld, fault: Fault, random: Random): Promise<Struck> {
  const begun = performance.now()
  let resumedSeconds: number | null = null
  const problems = await problemsOf(async () => {
    if (fault.ground === 'shared') await world.pay(random.between(1, 3))
    await fault.strike(world, random)
    if (fault.ground === 'own') return
    await world.recover()
    resumedSeconds = (await holdResumed(world)) / 1000
    await world.untilAtRest()
    const outputs = world.daemons().map((daemon) => daemon.output())
    holdNoSecrets({ environment: world.environment, secret: world.intake.secret, outputs })
  })
  const contradictions = problems.length > 0 ? [] : await problemsOf(() => holdAll(world))
  const seconds = (performance.now() - begun) / 1000
  const { name, title } = fault
  return { name, title, seconds, resumedSeconds, problems: [...problems, ...contradictions] }
}

/** The chains are read for the one, and asked by the other. */
async function holdAll(world: ChaosWorld): Promise<void> {
  await holdTruth(world)
  await world.events.hold(world.paid)
}

/** In words; what is thrown here is a finding of the run and not its end. */
async function problemsOf(work: () => Promise<void>): Promise<string[]> {
  try {
    await work()
    return []
  } catch (error) {
    return messageOf(error).split('\n')
  }
}
