import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { checkSnapshots } from '../../../src/jobs/books/ledger-checks.ts'
import { auditBooks, createSnapshotAudit, snapshotBooks } from '../../../src/jobs/books/ledger-work.ts'
import { inTransaction, openDatabase } from '../../../src/store/database.ts'
import type { Tables } from '../../../src/store/tables.ts'
import type { Books } from '../../support/books.ts'
import { payment } from '../../support/evidence.ts'
import { openScriptedWork, type ScriptedWork } from '../../support/scripted-work.ts'
import { tamper } from '../../support/tamper.ts'

let world: ScriptedWork
let books: Books

beforeEach(async () => {
  world = await openScriptedWork()
  books = world.books
})
afterEach(() => world[Symbol.asyncDispose]())

/** As if the books had been kept for so long. */
async function setBack(interval: string): Promise<void> {
  const owner = openDatabase<Tables>({ url: books.url, poolMax: 1, applicationName: 'test owner' })
  await inTransaction(owner, async (tx) => {
    await sql`set local session_replication_role = replica`.execute(tx)
    for (const table of ['ledger_journal', 'ledger_transfer']) {
      await sql`update ${sql.table(table)} set recorded_at = recorded_at - ${interval}::interval`.execute(tx)
    }
  })
  await owner.destroy()
}

async function made(): Promise<{ days: number; partitions: number }> {
  const { rows } = await sql<{ days: number; partitions: number }>`
    select (select count(*)::int from ledger_snapshot_day) as days,
      (select count(*)::int from pg_inherits where inhparent = 'ledger_transfer'::regclass) as partitions`.execute(
    books.db,
  )
  return rows[0] ?? expect.fail()
}

test('an audit makes the partitions of the next months, and adds up the days that are over', async () => {
  await books.receive(payment())
  await books.settle()
  await setBack('3 days')
  const before = await made()
  await world.work().audit()
  const after = await made()
  expect(before).toEqual({ days: 0, partitions: 1 })
  expect(after.partitions).toBeGreaterThanOrEqual(4)
  expect([2, 3]).toContain(after.days)
  await world.work().audit()
  expect(await made()).toEqual(after)
})

test('a sum that is wrong is told by an audit and stands until it is right, whatever else audits look at', async () => {
  await books.receive(payment())
  await books.settle()
  await setBack('5 days')
  const audit = createSnapshotAudit(books.db, 2)
  await snapshotBooks(books.db)
  for (let run = 0; run < 4; run++) expect(await audit()).toEqual([])
  await tamper(books, 'update ledger_snapshot set debit = debit + 1, credit = credit + 1 where debit > 0')
  const reported: string[] = []
  const runs = async () => {
    for (let run = 0; run < 4; run++) {
      for (const { kind, change } of await audit()) reported.push(`${kind} ${change}`)
      for (const { kind, change } of await auditBooks(books.db)) reported.push(`${kind} ${change}`)
    }
  }
  await runs()
  expect(reported).toEqual(['ledger_imbalance opened'])
  const { rows } = await sql<{ subject: string; found: string }>`
    select subject, detail ->> 'found' as found from open_mismatch where kind = 'ledger_imbalance'`.execute(
    books.db,
  )
  expect(rows).toEqual([
    {
      subject: expect.stringMatching(/^snapshot\/\d{4}-\d\d-\d\d$/),
      found: expect.stringContaining('recomputed debit 100000000 credit 0'),
    },
  ])
  await tamper(books, 'update ledger_snapshot set debit = debit - 1, credit = credit - 1 where debit > 0')
  await runs()
  expect(reported).toEqual(['ledger_imbalance opened', 'ledger_imbalance cleared'])
})

test('the check finds days without a snapshot, and sums of such days', async () => {
  await books.receive(payment())
  await books.settle()
  await setBack('40 days')
  await snapshotBooks(books.db)
  const findings = async () => (await checkSnapshots.run(books.db, () => undefined)).findings
  expect(await findings()).toEqual([])
  const days = await sql<{ day: string }>`
    select recorded as day from ledger_snapshot_day order by recorded`.execute(books.db)
  const day = (place: number) => days.rows.at(place)?.day ?? ''
  await tamper(books, `delete from ledger_snapshot_day where recorded in ('${day(2)}', '${day(3)}')`)
  expect(await findings()).toEqual([
    `recorded ${day(2)} to ${day(3)}: no snapshot, although the days before and after have one`,
  ])
  await tamper(books, `delete from ledger_snapshot_day where recorded < '${day(5)}'`)
  expect(await findings()).toEqual([
    `recorded ${day(0)} to ${day(4)}: no snapshot, although the journals begin there`,
    `recorded ${day(0)}: the day has sums but no snapshot`,
  ])
  const month = days.rows.map((row) => row.day).findLast((one) => one.endsWith('-01')) ?? ''
  await tamper(books, `delete from ledger_snapshot_day where recorded >= '${month}'::date - 1`)
  expect(await findings()).toContain(
    `recorded ${day(0).slice(0, 7)}: the month has sums, but its last day has no snapshot`,
  )
})

test('on the day on which it was begun, books have nothing to add up', async () => {
  await books.receive(payment())
  await books.settle()
  await world.work().audit()
  expect((await made()).days).toBe(0)
})
