import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Logger } from 'pino'
import { Fault } from '../core/errors.ts'
import { type Chains, type OnPart, startChains, timed } from './chains.ts'
import { type PostgresServer, startPostgres } from './postgres.ts'

export type GroundSettings = {
  folder: string
  log: Logger
  onPart: OnPart
}

export type Ground = { postgres: PostgresServer; chains: Chains }

export const databases = { daemon: 'depositd', service: 'deposit_service' } as const

const postgresPort = 15_432

/**
 * Locks the folder, and continues the data in it.
 * @param stack receives the shutdown of each component
 * @throws Fault `usage_bad` if another process uses the folder, `remote_failed` if a component does not
 * start
 */
export async function startGround(settings: GroundSettings, stack: AsyncDisposableStack): Promise<Ground> {
  const { folder } = settings
  mkdirSync(folder, { recursive: true })
  const lock = lockFolder(folder)
  stack.defer(() => lock.release())
  // Waits for both even if one fails, so that neither starts after the stack has ended the other.
  const outcomes = await Promise.allSettled([startServer(settings, stack), startNetworks(settings, stack)])
  const [postgres, chains] = outcomes
  if (postgres.status === 'rejected') throw postgres.reason
  if (chains.status === 'rejected') throw chains.reason
  return { postgres: postgres.value, chains: chains.value }
}

function startServer(
  { folder, log, onPart }: GroundSettings,
  stack: AsyncDisposableStack,
): Promise<PostgresServer> {
  return timed(onPart, 'postgres', async () => {
    const part = await startPostgres({ folder: join(folder, 'postgres'), port: postgresPort, log })
    stack.defer(() => part.stop())
    await Promise.all(Object.values(databases).map((name) => part.createDatabase(name)))
    return { part, address: new URL(part.url(databases.daemon)).host }
  })
}

async function startNetworks(
  { folder, log, onPart }: GroundSettings,
  stack: AsyncDisposableStack,
): Promise<Chains> {
  const chains = await startChains({ folder: join(folder, 'chains'), usualPorts: true, log, onPart })
  stack.defer(() => chains.stop())
  return chains
}

type FolderLock = { release(): void }

const sqliteBusy = 5

/** Garbage collection would release a lock without a reference. */
const held = new Set<DatabaseSync>()

/**
 * Node has no file lock, so this uses SQLite's: the operating system releases it even after a kill -9.
 * @throws Fault `usage_bad` if another process holds the lock
 */
export function lockFolder(folder: string): FolderLock {
  mkdirSync(folder, { recursive: true })
  const holder = join(folder, 'lock.pid')
  const lock = new DatabaseSync(join(folder, 'lock'))
  try {
    lock.exec('begin exclusive')
  } catch (cause) {
    lock.close()
    if (!isBusy(cause)) throw cause
    const pid = readFileSync(holder, { encoding: 'utf8', flag: 'a+' })
    throw new Fault(
      'usage_bad',
      {
        problem: `process ${pid} is already running in ${folder}`,
        fix: `end it (kill ${pid}) or start in another folder`,
      },
      { cause },
    )
  }
  writeFileSync(holder, String(process.pid))
  held.add(lock)
  return {
    release() {
      held.delete(lock)
      lock.close()
    },
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === sqliteBusy
}
