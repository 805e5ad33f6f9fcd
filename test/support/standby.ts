import { execFile } from 'node:child_process'
import { appendFileSync, chownSync, copyFileSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { pino } from 'pino'
import { type PostgresServer, startPostgres } from '../../src/sandbox/postgres.ts'

const log = pino({ level: 'warn' })
const slot = 'standby'

/**
 * Starts a second server that follows the first as a streaming standby: from a copy of the files of its folder, taken
 * between the two calls that make such a copy good, and the log of the first from then on.
 */
export async function startStandby(primaryUrl: string, from: string, to: string): Promise<PostgresServer> {
  mkdirSync(to, { recursive: true })
  const data = join(to, 'data')
  const client = new Client({ connectionString: primaryUrl })
  await client.connect()
  try {
    await client.query(`select pg_create_physical_replication_slot('${slot}', true)`)
    await client.query(`select pg_backup_start('${slot}', true)`)
    await promisify(execFile)('cp', ['-a', join(from, 'data'), data])
    const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)')
    writeFileSync(join(data, 'backup_label'), rows[0]?.labelfile ?? '')
  } finally {
    await client.end()
  }
  rmSync(join(data, 'postmaster.pid'))
  copyFileSync(join(from, 'password'), join(to, 'password'))
  writeFileSync(join(data, 'standby.signal'), '')
  const { uid, gid } = statSync(data)
  for (const name of ['backup_label', 'standby.signal']) chownSync(join(data, name), uid, gid)
  const { hostname, port, username, password } = new URL(primaryUrl)
  const place = `host=${hostname} port=${port} user=${username} password=${password}`
  appendFileSync(
    join(data, 'postgresql.auto.conf'),
    `primary_conninfo = '${place}'\nprimary_slot_name = '${slot}'\nhot_standby_feedback = on\n`,
  )
  return startPostgres({ folder: to, log })
}

/** Until the standby shows all that the first server has committed by now. */
export async function isInStep(primary: Client, standby: Client): Promise<true | null> {
  const { rows: here } = await primary.query<{ at: string }>('select pg_current_wal_insert_lsn() as at')
  const { rows } = await standby.query<{ isThere: boolean }>(
    'select pg_last_wal_replay_lsn() >= $1::pg_lsn as "isThere"',
    [here[0]?.at],
  )
  return rows[0]?.isThere === true || null
}
