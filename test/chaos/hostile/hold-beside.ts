import type { Client } from 'pg'
import { holdTruth } from '../hold-truth.ts'
import { holdNoSecrets, holdResumed } from '../liveness.ts'
import type { ChaosWorld } from '../world.ts'
import type { AnotherDaemon } from './another-daemon.ts'

/** Books of a database of their own, and the processes that keep them: they read the service and the chains of the world. */
export type Beside = {
  readonly databaseUrl: string
  readonly connect: () => Promise<Client>
  readonly processes: readonly AnotherDaemon[]
}

/**
 * Holds of them what is held of the world's. The service's webhooks go to the world, so that what of them was answered is
 * held by whoever sent them here.
 */
export async function holdBeside(
  world: ChaosWorld,
  { databaseUrl, connect, processes }: Beside,
): Promise<void> {
  const daemons = processes.map((one) => ({ ...one, name: `process ${one.pid}`, isRunning: () => true }))
  await holdResumed({ connect, daemons: () => daemons })
  await holdTruth({ databaseUrl, serviceDatabaseUrl: null, networks: world.networks })
  const environment = { ...world.environment, DATABASE_URL: databaseUrl }
  holdNoSecrets({ environment, secret: world.intake.secret, outputs: daemons.map(({ output }) => output()) })
}
