import { execFileSync } from 'node:child_process'
import { chownSync, copyFileSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client, type QueryResultRow } from 'pg'
import type { Logger } from 'pino'
import { type PostgresServer, startPostgres } from '../../src/sandbox/postgres.ts'
import { until } from './until.ts'

/** A server that keeps all that it writes, and copies of its data: what the chapter on backups has. */
export type ArchivedPostgres = {
  server: PostgresServer
  /** A base backup, by the calls that pg_basebackup makes, while everybody works on. */
  backUp: () => Promise<void>
  /** Now, as the server's clock has it; all of before is in the archive. */
  archivedUntil: () => Promise<Date>
  /** Starts another server on the backup and the archive, as all stood at that moment. */
  restore: (at: Date) => Promise<PostgresServer>
}

export async function startArchivedPostgres(
  folder: string,
  log: Logger,
  stack: AsyncDisposableStack,
): Promise<ArchivedPostgres> {
  const [source, archive, backup, restored] = ['source', 'archive', 'backup', 'restored'].map((name) =>
    join(folder, name),
  ) as [string, string, string, string]
  mkdirSync(archive)
  const first = await startPostgres({ folder: source, log })
  const { uid, gid } = statSync(join(source, 'data'))
  chownSync(archive, uid, gid)
  await query(first.url('postgres'), 'alter system set archive_mode = on')
  await query(first.url('postgres'), `alter system set archive_command = 'cp %p ${archive}/%f'`)
  await first.stop()
  const server = await startPostgres({ folder: source, log })
  stack.defer(() => server.stop())
  const url = server.url('postgres')
  return {
    server,
    backUp: () => backUp(url, { source, backup }),
    async archivedUntil() {
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
    },
    async restore(at) {
      execFileSync('cp', ['-a', backup, restored])
      const data = join(restored, 'data')
      const settings = [
        `restore_command = 'cp ${archive}/%f %p'`,
        // An abbreviated time zone is not understood this early.
        `recovery_target_time = '${at.toISOString().replace('Z', '+00')}'`,
        `recovery_target_action = promote`,
        `archive_mode = off`,
      ]
      writeFileSync(join(data, 'postgresql.auto.conf'), `${settings.join('\n')}\n`)
      writeFileSync(join(data, 'recovery.signal'), '')
      execFileSync('chown', ['-R', `${uid}:${gid}`, data])
      const copy = await startPostgres({ folder: restored, log })
      stack.defer(() => copy.stop())
      return copy
    },
  }
}

/** The copy is begun and ended on one connection; what the last call says belongs into it. */
async function backUp(url: string, { source, backup }: { source: string; backup: string }): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(`select pg_backup_start('backup', true)`)
    mkdirSync(backup)
    copyFileSync(join(source, 'password'), join(backup, 'password'))
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

async function query<Row extends QueryResultRow>(url: string, text: string): Promise<Row[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Row>(text)).rows
  } finally {
    await client.end()
  }
}
