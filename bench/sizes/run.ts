import { sql } from 'kysely'
import type { Database } from '../../src/store/database.ts'
import type { Tables } from '../../src/store/tables.ts'
import { describeMachine, type Machine, machineLines } from '../machine.ts'
import { startPostgresGround } from '../postgres-ground.ts'
import { watchSessions } from '../processor-time.ts'
import { workOurs } from '../reconcile/apply-arms.ts'
import { storeBacklog } from '../reconcile/store-backlog.ts'
import type { Result } from '../result.ts'

type Table = { table: string; rows: number; bytes: number; indexBytes: number }
/** What one step cost per deposit. */
type Cost = { step: string; walBytes: number; programMs: number; postgresMs: number }

type Report = {
  machine: Machine
  servers: Record<string, string>
  deposits: number
  /** Per deposit, the largest first; of each table that is partitioned, all partitions together. */
  tables: Table[]
  costs: Cost[]
}

/** As many deposits, by the part of it that is measured. */
const whole = 50_000
const worthTelling = 1

/** What one deposit leaves behind and costs: with its webhook, its record, its payment and its delivery. */
export async function runSizes({ scale }: { scale: number }): Promise<Result> {
  const deposits = Math.max(50, Math.round(whole * scale))
  await using stack = new AsyncDisposableStack()
  const ground = await startPostgresGround(stack)
  const { url, db } = await ground.database('sizes')
  const before = await readTables(db)
  const costs = [
    await costOf(db, { step: 'take in', deposits }, () => storeBacklog(db, deposits)),
    await costOf(db, { step: 'apply and book', deposits }, () =>
      workOurs({ url, deposits, folder: ground.folder }),
    ),
  ]
  await holdBooked(db, deposits)
  await sql`vacuum analyze`.execute(db)
  const report: Report = {
    machine: describeMachine(ground.folder, ['pg', 'kysely']),
    servers: await ground.settings(),
    deposits,
    tables: perDeposit(await readTables(db), before, deposits),
    costs,
  }
  return { report, text: textOf(report), figures: [] }
}

type Step = { step: string; deposits: number }

async function costOf(
  db: Database<Tables>,
  { step, deposits }: Step,
  work: () => Promise<unknown>,
): Promise<Cost> {
  using sessions = watchSessions('sizes')
  const [cpu, wal] = [process.cpuUsage(), await walAt(db)]
  await work()
  const { user, system } = process.cpuUsage(cpu)
  return {
    step,
    walBytes: Number((await walAt(db)) - wal) / deposits,
    programMs: (user + system) / 1000 / deposits,
    postgresMs: sessions.taken() / deposits,
  }
}

async function walAt(db: Database<Tables>): Promise<bigint> {
  const { rows } = await sql<{ at: bigint }>`
    select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint as at`.execute(db)
  return rows[0]?.at ?? 0n
}

async function readTables(db: Database<Tables>): Promise<Table[]> {
  const { rows } = await sql<Record<keyof Table, string>>`
    select coalesce(parent.relname, part.relname) as "table", sum(part.reltuples)::bigint::text as rows,
      sum(pg_table_size(part.oid))::text as bytes, sum(pg_indexes_size(part.oid))::text as "indexBytes"
    from pg_class part
      left join pg_inherits on inhrelid = part.oid left join pg_class parent on parent.oid = inhparent
    where part.relnamespace = 'public'::regnamespace and part.relkind = 'r'
    group by 1 order by 1`.execute(db)
  return rows.map(({ table, rows: count, bytes, indexBytes }) => ({
    table,
    rows: Math.max(0, Number(count)),
    bytes: Number(bytes),
    indexBytes: Number(indexBytes),
  }))
}

function perDeposit(after: readonly Table[], before: readonly Table[], deposits: number): Table[] {
  const was = new Map(before.map((one) => [one.table, one]))
  return after
    .map(({ table, rows, bytes, indexBytes }) => ({
      table,
      rows: rows / deposits,
      bytes: (bytes - (was.get(table)?.bytes ?? 0)) / deposits,
      indexBytes: (indexBytes - (was.get(table)?.indexBytes ?? 0)) / deposits,
    }))
    .filter((one) => one.bytes + one.indexBytes > worthTelling)
    .toSorted((left, right) => right.bytes + right.indexBytes - left.bytes - left.indexBytes)
}

/** @throws where not every deposit is booked: what was measured says nothing then */
async function holdBooked(db: Database<Tables>, deposits: number): Promise<void> {
  const { rows } = await sql<{ booked: string }>`
    select count(*)::text as booked from deposit where state = 'reconciled'`.execute(db)
  if (Number(rows[0]?.booked) !== deposits)
    throw new Error(`${rows[0]?.booked} of ${deposits} are reconciled`)
}

function textOf({ machine, deposits, tables, costs, servers }: Report): string {
  const sum = (of: (table: Table) => number) => tables.reduce((total, table) => total + of(table), 0)
  const total = {
    table: 'total',
    rows: sum(({ rows }) => rows),
    bytes: sum(({ bytes }) => bytes),
    indexBytes: sum(({ indexBytes }) => indexBytes),
  }
  const lines = [...tables, total].map(
    ({ table, rows, bytes, indexBytes }) =>
      `${table.padEnd(24)}${rows.toFixed(2).padStart(8)}${bytes.toFixed(0).padStart(9)}${indexBytes.toFixed(0).padStart(9)}`,
  )
  const costLines = costs.map(
    ({ step, walBytes, programMs, postgresMs }) =>
      `${step.padEnd(24)}${walBytes.toFixed(0).padStart(8)}${programMs.toFixed(3).padStart(9)}${postgresMs.toFixed(3).padStart(9)}`,
  )
  return [
    ...machineLines(machine, [servers]),
    '',
    `per deposit, of ${deposits}`,
    `${'TABLE'.padEnd(24)}${'ROWS'.padStart(8)}${'BYTES'.padStart(9)}${'INDEXES'.padStart(9)}`,
    ...lines,
    '',
    `${'STEP'.padEnd(24)}${'WAL'.padStart(8)}${'PROGRAM'.padStart(9)}${'POSTGRES'.padStart(9)}  (bytes, ms, ms)`,
    ...costLines,
    '',
  ].join('\n')
}
