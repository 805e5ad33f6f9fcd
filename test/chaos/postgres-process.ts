import { readFileSync } from 'node:fs'
import { chmod, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'pg'
import { pino } from 'pino'
import { type PostgresServer, startPostgres } from '../../src/sandbox/postgres.ts'
import { until } from '../support/until.ts'

const log = pino({ level: 'silent' })

/** PostgreSQL that can be killed as a machine that loses power does, and started again on the same port and data. */
export type PostgresProcess = {
  pid: () => number
  /** Where its data are. */
  readonly data: string
  url: (database: string) => string
  kill: () => Promise<void>
  start: () => Promise<void>
  /**
   * Steps the clock that its processes see, beside the real time. For the first step it is killed and started with that clock;
   * started again, it has the real one. @throws where libfaketime is not installed
   */
  setClock: (offsetMs: number) => Promise<void>
  /** In order. */
  stop: () => Promise<void>
}

export type PostgresChoices = { folder: string; durability: 'full' | 'none'; databases: readonly string[] }

export async function startPostgresProcess({
  folder,
  databases,
  durability,
}: PostgresChoices): Promise<PostgresProcess> {
  const settings = { folder, durability, log }
  const clock = join(folder, 'clock')
  let hasOwnClock = false
  const first = await startPostgres(settings)
  const url = (database: string) => first.url(database)
  let server: PostgresServer | null = first
  const port = Number(new URL(url('postgres')).port)
  for (const name of databases) await first.createDatabase(name)
  const kill = async () => {
    if (server === null) return
    await killWithChildren(pidIn(folder))
    await server.stop()
    server = null
    hasOwnClock = false
  }
  const start = async (environment: Record<string, string> = {}) => {
    if (server !== null) return
    server = await startPostgres({ ...settings, port, environment })
    if (server.url('postgres') !== url('postgres')) throw new Error(`port ${port} was taken meanwhile`)
  }
  return {
    pid: () => pidIn(folder),
    data: join(folder, 'data'),
    url,
    kill,
    start: () => start(),
    async setClock(offsetMs) {
      await writeFile(clock, `${offsetMs < 0 ? '-' : '+'}${Math.abs(offsetMs) / 1000}`)
      await chmod(clock, 0o644)
      if (!hasOwnClock) {
        await kill()
        await start(clockOf(clock))
        hasOwnClock = true
      }
      await untilShown(url('postgres'), offsetMs)
    },
    async stop() {
      await server?.stop()
      server = null
    },
  }
}

/** Where Debian's package puts it; the loader fills in which kind of machine it is. */
const libfaketime = '/usr/$LIB/faketime/libfaketime.so.1'

/** Only the time of day: what waits for so and so long waits as ever. */
function clockOf(file: string): Record<string, string> {
  return {
    LD_PRELOAD: libfaketime,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_CACHE_DURATION: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  }
}

async function untilShown(connectionString: string, offsetMs: number): Promise<void> {
  const client = new Client({ connectionString })
  client.on('error', () => undefined)
  await client.connect()
  const toleratedMs = 5000
  const fix = 'is libfaketime installed?'
  try {
    await until(`the clock of Postgres is ${offsetMs / 1000} s off (${fix})`, async () => {
      const { rows } = await client.query<{ now: Date }>('select clock_timestamp() as now')
      const shownMs = (rows[0]?.now.getTime() ?? 0) - Date.now()
      return Math.abs(shownMs - offsetMs) < toleratedMs ? true : null
    })
  } finally {
    await client.end()
  }
}

function pidIn(folder: string): number {
  const { pid } = JSON.parse(readFileSync(join(folder, 'postgres.process.json'), 'utf8')) as { pid: number }
  return pid
}

/**
 * The server's own children write on for a moment when their parent is gone. None may be left when another server takes
 * the data, so the parent is stopped first and makes no more of them.
 */
async function killWithChildren(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP')
  const children = await childrenOf(pid)
  for (const one of [...children, pid]) send(one, 'SIGKILL')
  await until('every process of the server is gone', async () => {
    const left = await Promise.all(children.map(statOf))
    return left.every((stat) => stat === null || stat.state === 'Z') || null
  })
}

async function childrenOf(pid: number): Promise<number[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const stats = await Promise.all(ids.map(async (id) => ({ id, stat: await statOf(id) })))
  return stats.filter(({ stat }) => stat?.parent === pid).map(({ id }) => id)
}

async function statOf(pid: number): Promise<{ state: string; parent: number } | null> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  if (text === null) return null
  // The name before may hold anything, but ends at the last parenthesis.
  const [state = '', parent = ''] = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return { state, parent: Number(parent) }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended by itself.
  }
}
