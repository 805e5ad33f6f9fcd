import { join } from 'node:path'
import { sql } from 'kysely'
import { applyPending } from '../../src/jobs/books/apply.ts'
import { type Database, inTransaction, openDatabase } from '../../src/store/database.ts'
import type { Tables } from '../../src/store/tables.ts'
import { heapBytes } from '../chain/heap-bytes.ts'
import { applyOneByOne } from './apply-one-by-one.ts'
import { applyDeps } from './store-backlog.ts'

/** How the backlog of one arm of B3 gets into the books. */
export const arms = {
  ours: 'depositd: applyPending until nothing waits',
  copy: 'COPY of what ours wrote into the same tables, from files on the server, in one transaction',
  rows: 'each inbox row in a transaction of its own: reads what it touches, decides, writes',
} as const

export type Arm = keyof typeof arms
export const armNames = Object.keys(arms) as Arm[]

/** A copy of the backlog, and where files of the server may be. */
export type Place = { url: string; folder: string; deposits: number }

export type Worked = { inboxRows: number; seconds: number; heap: number[] }

const heapEvery = 20

export async function workOurs({ url, deposits }: Place): Promise<Worked> {
  await using db = openAs(url, 'depositd_daemon')
  const deps = applyDeps(db, deposits)
  const heap: number[] = []
  let inboxRows = 0
  let pausedMs = 0
  const startedAt = performance.now()
  for (let batch = 1; ; batch++) {
    const { rows } = await applyPending(deps)
    if (rows === 0) break
    inboxRows += rows
    if (batch % heapEvery !== 0) continue
    const pausedAt = performance.now()
    heap.push(heapBytes())
    pausedMs += performance.now() - pausedAt
  }
  const seconds = (performance.now() - startedAt - pausedMs) / 1000
  return { inboxRows, seconds, heap: heap.length > 0 ? heap : [heapBytes()] }
}

export async function workRows({ url, deposits }: Place): Promise<Worked> {
  await using db = openAs(url, 'depositd_daemon')
  const deps = applyDeps(db, deposits)
  let inboxRows = 0
  const startedAt = performance.now()
  while (await applyOneByOne(deps)) inboxRows++
  return { inboxRows, seconds: (performance.now() - startedAt) / 1000, heap: [] }
}

/** Those that applying writes to, in an order in which each finds what it refers to. */
const written = [
  'evidence_group',
  'link_key',
  'evidence',
  'deposit',
  'mismatch',
  'named_transaction',
  'ledger_account',
  'ledger_journal',
  'ledger_transfer',
  'credit_safety',
  'event_pending',
]

/** Has the server write to files what ours wrote. */
export async function keepForCopy({ url, folder }: Place): Promise<void> {
  await using db = openAs(url)
  for (const table of written) {
    await sql`copy (select * from ${sql.table(table)}) to ${sql.lit(join(folder, `${table}.copy`))}`.execute(
      db,
    )
  }
}

export async function workCopy({ url, folder, deposits }: Place): Promise<Worked> {
  await using db = openAs(url)
  const startedAt = performance.now()
  await inTransaction(db, async (tx) => {
    // A copy writes a journal and its transfers in two statements.
    await sql`alter table ledger_journal disable trigger ledger_journal_whole`.execute(tx)
    for (const table of written) {
      await sql`copy ${sql.table(table)} from ${sql.lit(join(folder, `${table}.copy`))}`.execute(tx)
    }
  })
  const seconds = (performance.now() - startedAt) / 1000
  await sql`delete from inbox_pending`.execute(db)
  return { inboxRows: 4 * deposits, seconds, heap: [] }
}

function openAs(url: string, role?: string): Database<Tables> {
  return openDatabase<Tables>({ url, poolMax: 4, applicationName: 'bench', ...(role && { role }) })
}
