import { readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
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
  const first = await startPostgres(settings)
  const url = (database: string) => first.url(database)
  let server: PostgresServer | null = first
  const port = Number(new URL(url('postgres')).port)
  for (const name of databases) await first.createDatabase(name)
  return {
    pid: () => pidIn(folder),
    data: join(folder, 'data'),
    url,
    async kill() {
      if (server === null) return
      await killWithChildren(pidIn(folder))
      await server.stop()
      server = null
    },
    async start() {
      if (server !== null) return
      server = await startPostgres({ ...settings, port })
      if (server.url('postgres') !== url('postgres')) throw new Error(`port ${port} was taken meanwhile`)
    },
    async stop() {
      await server?.stop()
      server = null
    },
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
