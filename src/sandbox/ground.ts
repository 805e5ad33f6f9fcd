import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Logger } from 'pino'
import { Fault } from '../core/errors.ts'
import { type Chains, startChains } from './chains.ts'
import { type PostgresServer, startPostgres } from './postgres.ts'
import { type OnPart, timed } from './started-part.ts'

export type GroundSettings = {
  /** Holds all state; made if it is not there. */
  folder: string
  log: Logger
  onPart: OnPart
}

/** What stands on this machine instead of servers of others. */
export type Ground = { postgres: PostgresServer; chains: Chains }

export const databases = { daemon: 'depositd', service: 'deposit_service' } as const

const postgresPort = 15_432

/**
 * Takes the folder for this process, and starts a database server and local chains on what the folder holds.
 * @param stack is given how to end each part.
 * @throws Fault `usage_bad` where another process works in the folder; `remote_failed` where a part does not start.
 */
export async function startGround(settings: GroundSettings, stack: AsyncDisposableStack): Promise<Ground> {
  const { folder } = settings
  mkdirSync(folder, { recursive: true })
  const lock = lockFolder(folder)
  stack.defer(() => lock.release())
  // Each is waited for, also where the other failed, so that none comes up after the stack has ended the rest.
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

/** A lock that is collected as garbage is given back, so those held are kept here. */
const held = new Set<DatabaseSync>()

/**
 * Holds a folder for this process alone. Node has no file lock of its own, so SQLite's is used: the operating
 * system gives it back when the process ends, however it ends, so that a kill -9 leaves nothing to clean up.
 * @throws Fault `usage_bad` where another process holds it.
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
        mend: `end it (kill ${pid}) or start in another folder`,
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
