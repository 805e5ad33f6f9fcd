import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { migrationsFolder } from '../../../src/migrations-folder.ts'
import { openDatabase } from '../../../src/store/database.ts'
import { migrate } from '../../../src/store/migrate.ts'
import type { Tables } from '../../../src/store/tables.ts'
import { usdcOnBase } from '../../support/evidence.ts'
import { emptyDatabase } from '../../support/postgres.ts'

/** The migrations before transfers were kept by month, and all that follow on them. */
async function earlierMigrations(): Promise<AsyncDisposable & { folder: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'depositd-migrations-'))
  const names = (await readdir(migrationsFolder)).filter((name) => name < '0018')
  for (const name of names) await cp(join(migrationsFolder, name), join(folder, name))
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) }
}

test('books that were begun before transfers were kept by month go on with every transfer, its times and its month', async () => {
  const database = await emptyDatabase()
  const db = openDatabase<Tables>({ url: database.url, poolMax: 2, applicationName: 'test' })
  await using earlier = await earlierMigrations()
  await migrate(db, earlier.folder)
  await sql`insert into asset (key, network, symbol, decimals) values (${usdcOnBase}, 'base', 'USDC', 6)`.execute(
    db,
  )
  await sql`insert into ledger_account (id, asset) values ('assets:a', ${usdcOnBase}), ('equity:b', ${usdcOnBase})`.execute(
    db,
  )
  await sql`with made as (insert into evidence_group (recheck_at) values (null) returning id)
    insert into deposit (group_id, transfer, state, matrix) select id, 'base/tx/0', 'confirmed', '{}' from made`.execute(
    db,
  )
  await sql`with booked as (
    insert into ledger_journal (posting_key, kind, deposit_id, transfer, event_at, recorded_at)
    select 'key ' || n, 'deposit', id, transfer, '2026-01-31T23:30:00Z'::timestamptz + make_interval(hours => n),
      '2026-02-01T12:00:00.123456Z' from deposit, generate_series(0, 1) n returning id
  ) insert into ledger_transfer select id, leg, 'assets:a', 'equity:b', ${usdcOnBase}, leg
    from booked, generate_series(1, 2) leg`.execute(db)
  expect(await migrate(db, migrationsFolder)).toContain('0018_ledger_ground')
  const { rows } = await sql`
    select j.posting_key as key, t.leg, t.amount::int as amount, j.period, t.period as copied,
      t.event_at = j.event_at and t.recorded_at = j.recorded_at as is_same, t.recorded_at = '2026-02-01T12:00:00.123456Z' as is_kept
    from ledger_journal j join ledger_transfer t on t.journal_id = j.id order by 1, 2`.execute(db)
  const kept = { is_same: true, is_kept: true }
  expect(rows).toEqual([
    { key: 'key 0', leg: 1, amount: 1, period: '2026-01-01', copied: '2026-01-01', ...kept },
    { key: 'key 0', leg: 2, amount: 2, period: '2026-01-01', copied: '2026-01-01', ...kept },
    { key: 'key 1', leg: 1, amount: 1, period: '2026-02-01', copied: '2026-02-01', ...kept },
    { key: 'key 1', leg: 2, amount: 2, period: '2026-02-01', copied: '2026-02-01', ...kept },
  ])
  await expect(sql`delete from ledger_journal`.execute(db)).rejects.toThrow('append-only')
  await db.destroy()
  await database.drop()
})
