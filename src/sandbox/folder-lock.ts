import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Fault } from '../core/errors.ts'

export type FolderLock = { release(): void }

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
