import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { sql } from 'kysely'
import { pino } from 'pino'
import { type Daemon, startDaemon } from '../../src/app/daemon.ts'
import { parseSettings } from '../../src/config/settings.ts'
import { roles } from '../../src/health.ts'
import { type Database, openDatabase } from '../../src/store/database.ts'
import type { Tables } from '../../src/store/tables.ts'
import { testDatabase } from './postgres.ts'
import {
  type Credited,
  cursorOf,
  type Reported,
  saveDepositor,
  startCreditingService,
  writeReportedSettings,
} from './reported-networks.ts'
import { until } from './until.ts'

/** The whole daemon, ticking each second, over chains that a test mines; the service is a list that a test writes. */
export type DaemonOnAnvil = {
  daemon: Daemon
  db: Database<Tables>
  databaseUrl: string
  /** By which a command reaches the same parts. */
  environment: Record<string, string>
  /** Whatever the service says that it has credited. */
  credited: Credited[]
  /** All that was logged as a warning or worse. */
  logged: string[]
  /** What a network is read up to as final; null before the first scan. */
  cursor(network: string): Promise<{ height: bigint; hash: string } | null>
}

export async function startDaemonOnAnvil(
  networks: readonly Reported[],
  stack: AsyncDisposableStack,
): Promise<DaemonOnAnvil> {
  const database = await testDatabase()
  stack.defer(() => database.drop())
  const db = openDatabase<Tables>({ url: database.url, poolMax: 4, applicationName: 'test' })
  stack.defer(() => db.destroy())
  await saveDepositor(db, networks)
  const credited: Credited[] = []
  const service = stack.use(await startCreditingService(credited))
  const folder = await mkdtemp(join(tmpdir(), 'depositd-anvil-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const environment = await writeReportedSettings(folder, networks, {
    DATABASE_URL: database.url,
    SERVICE_URL: service.url,
  })
  const file = await readFile(join(folder, 'settings.yaml'), 'utf8')
  const logged: string[] = []
  const log = pino({ level: 'warn' }, lineByLine(logged))
  const daemon = await startDaemon(
    parseSettings(environment, () => file),
    { roles, version: 'test', log },
  )
  stack.defer(() => daemon.stop())
  const cursor = (network: string) => cursorOf(db, network)
  return { daemon, db, databaseUrl: database.url, environment, credited, logged, cursor }
}

/** Waits until a network is read up to that height, and everything found is applied. */
export async function untilRead(world: DaemonOnAnvil, network: string, height: bigint) {
  return until(`${network} is read up to ${height}`, async () => {
    const reached = await world.cursor(network)
    const { rows } = await sql`select from inbox_pending limit 1`.execute(world.db)
    return reached !== null && reached.height >= height && rows.length === 0 ? reached : null
  })
}

/** How many scans failed so far: a problem that comes up again soon is counted, and not logged again. */
export async function failedScans({ daemon }: DaemonOnAnvil): Promise<number> {
  const metrics = await (await fetch(`${daemon.opsUrl}/metrics`)).text()
  return Number(/^depositd_job_failures_total\{name="scan"\} (\d+)$/m.exec(metrics)?.[1] ?? 0)
}

/** Waits until scans fail again and again, and the log says why. */
export async function untilRefused(world: DaemonOnAnvil, reason: RegExp): Promise<void> {
  const before = await failedScans(world)
  await until(`scans fail: ${reason.source}`, async () =>
    (await failedScans(world)) >= before + 2 ? true : null,
  )
  await until(`the log says ${reason.source}`, () =>
    world.logged.some((line) => reason.test(line)) ? true : null,
  )
}

function lineByLine(lines: string[]): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString())
      done()
    },
  })
}
