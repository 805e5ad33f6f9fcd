import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  appendFileSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { Client, type QueryResultRow } from 'pg'
import type { Logger } from 'pino'
import { type PostgresServer, startPostgres } from '../../src/sandbox/postgres.ts'
import { blocksBelow, runLines, writeServices } from './backup-page.ts'
import { isInstalled } from './programs-needed.ts'
import { until } from './until.ts'

/** A server that keeps all that it writes, and copies of its data: what the chapter on backups has. */
export type ArchivedPostgres = {
  server: PostgresServer
  /** A base backup by pg_basebackup, where that is installed, or else by the calls that it makes, while everybody works on. */
  backUp: () => Promise<void>
  /** Now, as the server's clock has it; all of before is in the archive. */
  archivedUntil: () => Promise<Date>
  /** Starts another server on the backup and the archive, as all stood at that moment. */
  restore: (at: Date) => Promise<PostgresServer>
  /** Ends the server at once, and starts another one on the backup, the archive and what was not archived yet. */
  restoreAll: () => Promise<PostgresServer>
}

type Place = { source: string; archive: string; backup: string }

export async function startArchivedPostgres(
  folder: string,
  log: Logger,
  stack: AsyncDisposableStack,
): Promise<ArchivedPostgres> {
  const inside = (name: string) => join(folder, name)
  const place = { source: inside('source'), archive: inside('archive'), backup: inside('backup') }
  const first = await startPostgres({ folder: place.source, log })
  await first.stop()
  mkdirSync(place.archive)
  giveToServer(place, place.archive)
  const [archiving = '', copying = ''] = blocksBelow('Base backup, and the log')
  appendFileSync(join(place.source, 'data/postgresql.conf'), archiving.replaceAll('/archive', place.archive))
  const server = await startPostgres({ folder: place.source, log })
  stack.defer(() => server.stop())
  const url = server.url('postgres')
  const startCopy = async (name: string, lines: string) => {
    unpack(place, inside(name), lines)
    const copy = await startPostgres({ folder: inside(name), log })
    stack.defer(() => copy.stop())
    return copy
  }
  return {
    server,
    backUp: () =>
      isInstalled('pg_basebackup') && isInstalled('psql')
        ? copyByLines(url, place, copying)
        : copyByCalls(url, place),
    archivedUntil: () => archivedUntil(url),
    // An abbreviated time zone is not understood this early.
    restore: (at) => startCopy('restored', recoveryTo(place, at.toISOString().replace('Z', '+00'))),
    async restoreAll() {
      await endAtOnce(place)
      keepUnarchived(place)
      // What the other copy wrote since is in the archive, too, and is not what was lost.
      return startCopy('whole', `${recoveryTo(place, null)}recovery_target_timeline = current\n`)
    },
  }
}

/** The lines of the page for the server that is restored; without a moment, to the end of the archive. */
function recoveryTo({ archive }: Place, moment: string | null): string {
  const [text = ''] = blocksBelow('Restore to a point in time')
  const target = moment === null ? '' : `recovery_target_time = '${moment}'\n`
  return text.replaceAll('/archive', archive).replace(/^recovery_target_time = .*\n/m, target)
}

async function copyByLines(url: string, { source, backup }: Place, lines: string): Promise<void> {
  const work = join(source, '../work')
  mkdirSync(work)
  const password = randomBytes(12).toString('hex')
  const copies = new URL(url)
  copies.username = 'depositd_copies'
  copies.password = password
  writeServices(work, { superuser: url, copies: copies.href })
  await runLines(lines.replaceAll(/\/backup\/[\d-]+/g, backup), work, password)
}

/** The copy is begun and ended on one connection; what the last call says belongs into it. */
async function copyByCalls(url: string, { source, backup }: Place): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(`select pg_backup_start('backup', true)`)
    mkdirSync(backup)
    execFileSync('cp', ['-a', join(source, 'data'), join(backup, 'data')])
    const { rows } = await client.query<{ label: string }>('select labelfile as label from pg_backup_stop()')
    const data = join(backup, 'data')
    writeFileSync(join(data, 'backup_label'), rows[0]?.label ?? '')
    rmSync(join(data, 'postmaster.pid'))
    rmSync(join(data, 'pg_wal'), { recursive: true })
    mkdirSync(join(data, 'pg_wal'), { mode: 0o700 })
  } finally {
    await client.end()
  }
}

function unpack(place: Place, folder: string, lines: string): void {
  const { source, backup } = place
  const data = join(folder, 'data')
  mkdirSync(data, { recursive: true, mode: 0o700 })
  copyFileSync(join(source, 'password'), join(folder, 'password'))
  if (existsSync(join(backup, 'data'))) execFileSync('cp', ['-aT', join(backup, 'data'), data])
  else execFileSync('tar', ['-xzf', join(backup, 'base.tar.gz'), '-C', data])
  appendFileSync(join(data, 'postgresql.auto.conf'), lines)
  writeFileSync(join(data, 'recovery.signal'), '')
  giveToServer(place, data)
}

function giveToServer({ source }: Place, path: string): void {
  const { uid, gid } = statSync(join(source, 'data'))
  if (statSync(path).isDirectory()) execFileSync('chown', ['-R', `${uid}:${gid}`, path])
  else chownSync(path, uid, gid)
}

async function archivedUntil(url: string): Promise<Date> {
  const [moment] = await query<{ now: Date; file: string }>(
    url,
    'select clock_timestamp() as now, pg_walfile_name(pg_current_wal_lsn()) as file',
  )
  if (moment === undefined) throw new Error('the server tells no time')
  // A restore ends at the first commit behind its moment, and so wants one there.
  await query(url, 'select pg_current_xact_id()')
  await query(url, 'select pg_switch_wal()')
  await until('the log is archived', async () => {
    const [row] = await query<{ last: string | null }>(
      url,
      'select last_archived_wal as last from pg_stat_archiver',
    )
    return (row?.last ?? '') >= moment.file || null
  })
  return moment.now
}

/** Whoever is stopped in order archives all he has: this one is not. */
async function endAtOnce({ source }: Place): Promise<void> {
  const lock = join(source, 'data/postmaster.pid')
  process.kill(Number(readFileSync(lock, 'utf8').split('\n')[0]), 'SIGQUIT')
  await until('the server is gone', () => !existsSync(lock) || null)
}

/** From the old folder of data into the archive. */
function keepUnarchived(place: Place): void {
  const log = join(place.source, 'data/pg_wal')
  const pieces = readdirSync(log).filter((name) => /^[0-9A-F]{24}$/.test(name))
  for (const name of pieces.filter((piece) => !existsSync(join(place.archive, piece)))) {
    copyFileSync(join(log, name), join(place.archive, name))
    giveToServer(place, join(place.archive, name))
  }
}

async function query<Row extends QueryResultRow>(url: string, text: string): Promise<Row[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Row>(text)).rows
  } finally {
    await client.end()
  }
}
