import { randomBytes } from 'node:crypto'
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { Fault } from '../core/errors.ts'
import { loopback } from './free-port.ts'
import { findPostgresPrograms, type PostgresPrograms } from './postgres-programs.ts'
import { identifyProcess } from './process-identity.ts'
import { type ChildSettings, endLeftover, lastOutput, startChild, type UserIds } from './processes.ts'
import { findServerUser, placeData, placePrograms, removeTree } from './server-user.ts'

/** The files of one PostgreSQL server and what is needed to run it. */
export type PostgresCluster = {
  folder: string
  data: string
  password: string
  programs: PostgresPrograms
  user: UserIds | null
  log: Logger
}

/** Text sorts by code point on every machine, whatever locales it has. */
const initialOptions = [
  '--username=postgres',
  '--auth=scram-sha-256',
  '--encoding=UTF8',
  '--locale=C',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
]

/** Enough for one demonstration or one run of the tests, and no more than a laptop notices. */
const serverOptions = {
  listen_addresses: loopback,
  unix_socket_directories: '',
  // A daemon of all roles takes up to thirty, and so do the service, commands and a second daemon beside it.
  max_connections: '200',
  // Reads in the server's own processes: the default keeps three more running for it.
  io_method: 'sync',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
}

const undurableOptions = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }

/**
 * Makes the server's data where there is none, with a password made once and kept readable for its owner only.
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

/** How to run the server itself. */
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

/** The data get their name only when they are whole: a start that was killed begins again. */
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
 * The server refuses to start while the process number in its lock file is taken. That number may be a zombie,
 * which a container without an init process never removes, or may have been given to another program.
 */
function removeStaleLock(data: string, endedPid: number | null): void {
  const path = join(data, 'postmaster.pid')
  if (!existsSync(path)) return
  const pid = Number(readFileSync(path, 'utf8').split('\n')[0])
  if (pid === endedPid || identifyProcess(pid) === null) rmSync(path)
}

function processOf(cluster: PostgresCluster, name: keyof PostgresPrograms, args: string[]): ChildSettings {
  const { folder, user, programs, log } = cluster
  // SIGINT is a fast shutdown: connections are closed and the data are left whole.
  const common = { name, folder, stopSignal: 'SIGINT', env: { PATH: '/usr/bin:/bin' }, log } as const
  return { ...common, command: programs[name], args, user }
}

function keepPassword(path: string): string {
  if (!existsSync(path)) writeFileSync(path, randomBytes(24).toString('hex'), { mode: 0o600 })
  return readFileSync(path, 'utf8')
}
