import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { Fault, messageOf } from '../core/errors.ts'
import type { PostgresPrograms } from './postgres-programs.ts'
import type { UserIds } from './processes.ts'

/**
 * Holds what PostgreSQL's user could not reach in the checkout, such as one below /root. It needs no capability, so
 * it works in a container that has dropped them.
 */
const reachableFolder = '/var/lib/depositd'

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
export function canReach(path: string, user: UserIds): boolean {
  const folder = dirname(resolve(path))
  return isAllowed(folder, user, 0o1) && (folder === dirname(folder) || canReach(folder, user))
}

function isAllowed(path: string, { uid, gid }: UserIds, bits: number): boolean {
  const { mode, uid: owner, gid: group } = statSync(path)
  const shift = owner === uid ? 6 : group === gid ? 3 : 0
  return ((mode >> shift) & bits) === bits
}

/**
 * Where the data of this folder are: in it, or elsewhere with a link to them if the server's user cannot reach it.
 * @throws Fault `remote_failed` if there is no such place.
 */
export function placeData(folder: string, user: UserIds | null): string {
  const data = join(folder, 'data')
  if (user === null) return data
  const link = lstatSync(data, { throwIfNoEntry: false })
  if (link?.isSymbolicLink() === true) return readlinkSync(data)
  if (canReach(folder, user)) {
    chmodSync(folder, statSync(folder).mode | 0o011)
    return data
  }
  const name = `data-${createHash('sha256').update(resolve(folder)).digest('hex').slice(0, 16)}`
  return elsewhere(folder, (place) => {
    const placed = join(place, name)
    // Without a link they belong to a folder that has been removed since.
    removeTree(placed, user)
    if (link !== undefined) execFileSync('mv', [data, placed])
    symlinkSync(placed, data)
    return placed
  })
}

/** The programs, or a copy of them if the server's user cannot run them where they are. */
export function placePrograms(programs: PostgresPrograms, user: UserIds | null): PostgresPrograms {
  const { postgres } = programs
  if (user === null || (isAllowed(postgres, user, 0o5) && canReach(postgres, user))) return programs
  const installed = dirname(dirname(postgres))
  const { version } = JSON.parse(readFileSync(join(dirname(installed), 'package.json'), 'utf8')) as {
    version: string
  }
  const copy = elsewhere(postgres, (place) => {
    const copied = join(place, `postgres-${version}`)
    if (!existsSync(copied)) copyForAll(installed, copied)
    return copied
  })
  return { initdb: join(copy, 'bin/initdb'), postgres: join(copy, 'bin', basename(postgres)) }
}

/** Removes a folder of that user's: root without CAP_DAC_OVERRIDE cannot empty it, the user can. */
export function removeTree(path: string, user: UserIds | null): void {
  if (!existsSync(path)) return
  if (user === null) return rmSync(path, { recursive: true })
  execFileSync('find', [path, '-mindepth', '1', '-delete'], { ...user, cwd: '/' })
  rmdirSync(path)
}

/** Gets its name only when it is whole; another start may have made the same copy in the meantime. */
function copyForAll(from: string, to: string): void {
  const copying = mkdtempSync(`${to}-`)
  try {
    execFileSync('cp', ['-R', `${from}/.`, copying])
    execFileSync('chmod', ['-R', 'a+rX', copying])
    renameSync(copying, to)
  } catch (error) {
    rmSync(copying, { recursive: true, force: true })
    if (!existsSync(to)) throw error
  }
}

function elsewhere(path: string, put: (place: string) => string): string {
  try {
    mkdirSync(reachableFolder, { recursive: true })
    chmodSync(reachableFolder, 0o755)
    return put(reachableFolder)
  } catch (cause) {
    throw new Fault(
      'remote_failed',
      {
        what: 'starting PostgreSQL',
        problem: `its user cannot reach ${path}, and ${reachableFolder} cannot be used instead (${messageOf(cause)}); run as an ordinary user, or move the checkout to a folder that others may enter`,
      },
      { cause },
    )
  }
}
