import { readFileSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { Fault } from '../core/errors.ts'
import type { UserIds } from './processes.ts'

/**
 * PostgreSQL refuses to run as root, so root hands it to another user: the owner of the data, or for new data
 * one that is there already. Null where we are not root.
 * @throws Fault `remote_failed` where no such user exists.
 */
export function findServerUser(data: string): UserIds | null {
  if (process.getuid?.() !== 0) return null
  const owner = statSync(data, { throwIfNoEntry: false })
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid }
  const users = readFileSync('/etc/passwd', 'utf8').split('\n')
  for (const wanted of ['postgres', 'nobody']) {
    const [, , uid, gid] = users.find((line) => line.startsWith(`${wanted}:`))?.split(':') ?? []
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 }
  }
  const problem = 'PostgreSQL does not run as root, and there is neither a user postgres nor a user nobody'
  throw new Fault('remote_failed', { what: 'starting PostgreSQL', problem })
}

/** Whether that user may pass through every folder above the path. */
export function canReach(path: string, { uid, gid }: UserIds): boolean {
  const folder = dirname(resolve(path))
  const { mode, uid: owner, gid: group } = statSync(folder)
  const passes = owner === uid ? 0o100 : group === gid ? 0o010 : 0o001
  return (mode & passes) !== 0 && (folder === dirname(folder) || canReach(folder, { uid, gid }))
}
