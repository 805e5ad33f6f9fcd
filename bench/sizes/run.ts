import { sql } from 'kysely'
import type { Database } from '../../src/store/database.ts'
import type { Tables } from '../../src/store/tables.ts'
import { describeMachine, type Machine, machineLines } from '../machine.ts'
import { type PostgresGround, startPostgresGround } from '../postgres-ground.ts'
import { workOurs } from '../reconcile/apply-arms.ts'
import { storeBacklog } from '../reconcile/store-backlog.ts'
import type { Result } from '../result.ts'
import { arrive, listAgain } from './arrive.ts'
import { type Cost, costOf, type Step } from './cost.ts'
import { perDeposit, readTables, type TableSize, totalOf } from './table-sizes.ts'

type Arm = { arm: string; costs: Cost[]; tables: TableSize[] }

type Report = {
  machine: Machine
  servers: Record<string, string>
  deposits: number
  arms: Arm[]
}

/** As many deposits, by the part of it that is measured. */
const whole = 20_000

const arms = (folder: string): Record<string, Step[]> => ({
  backlog: [
    {
      step: 'take in',
      work: ({ db, deposits }) => storeBacklog(db, deposits).then(() => ({ laneSeconds: null })),
    },
    {
      step: 'apply, 2,000 at once',
      work: ({ url, deposits }) =>
        workOurs({ url, deposits, folder }).then(({ seconds }) => ({ laneSeconds: seconds })),
    },
  ],
  live: [
    { step: 'all, 10 rows at once', work: (ground) => arrive(ground, 10) },
    { step: 'list it again', work: listAgain },
  ],
  peak: [{ step: 'all, 200 rows at once', work: (ground) => arrive(ground, 200) }],
  behind: [{ step: 'all, 2,000 at once', work: (ground) => arrive(ground, 2000) }],
})

/**
 * What one deposit leaves behind and costs, with its webhook, its record, its payment and its delivery: out of a backlog,
 * where it is mostly decided once, and as they arrive, where each of the four is decided by itself.
 */
export async function runSizes({ scale }: { scale: number }): Promise<Result> {
  const deposits = Math.max(50, Math.round(whole * scale))
  await using stack = new AsyncDisposableStack()
  const ground = await startPostgresGround(stack)
  const done: Arm[] = []
  for (const [arm, steps] of Object.entries(arms(ground.folder)))
    done.push(await measure({ arm, steps, deposits }, ground))
  const report: Report = {
    machine: describeMachine(ground.folder, ['pg', 'kysely']),
    servers: await ground.settings(),
    deposits,
    arms: done,
  }
  return { report, text: textOf(report), figures: [] }
}

type Wanted = { arm: string; steps: readonly Step[]; deposits: number }

async function measure({ arm, steps, deposits }: Wanted, server: PostgresGround): Promise<Arm> {
  const name = `sizes_${arm}`
  const ground = { ...(await server.database(name)), deposits }
  const before = await readTables(ground.db)
  const costs: Cost[] = []
  for (const step of steps) {
    const cost = await costOf(name, ground, step)
    process.stderr.write(
      `sizes, ${arm}, ${step.step}: ${cost.walBytes.toFixed(0)} bytes of log per deposit\n`,
    )
    costs.push(cost)
  }
  await holdBooked(ground.db, deposits)
  await sql`vacuum analyze`.execute(ground.db)
  return { arm, costs, tables: perDeposit(await readTables(ground.db), before, deposits) }
}

/** @throws where not every deposit is booked: what was measured says nothing then */
async function holdBooked(db: Database<Tables>, deposits: number): Promise<void> {
  const { rows } = await sql<{ booked: string }>`
    select count(*)::text as booked from deposit where state = 'reconciled'`.execute(db)
  if (Number(rows[0]?.booked) !== deposits)
    throw new Error(`${rows[0]?.booked} of ${deposits} are reconciled`)
}

function textOf({ machine, deposits, arms: measured, servers }: Report): string {
  const lines = measured.flatMap(({ arm, tables, costs }) => [
    `${arm}: per deposit, of ${deposits}`,
    `${'TABLE'.padEnd(24)}${right(['ROWS', 'BYTES', 'INDEXES'])}`,
    ...[...tables, totalOf(tables)].map(
      ({ table, rows, bytes, indexBytes }) =>
        `${table.padEnd(24)}${right([rows.toFixed(2), bytes.toFixed(0), indexBytes.toFixed(0)])}`,
    ),
    '',
    `${'STEP'.padEnd(24)}${right(['WAL', 'PROGRAM', 'POSTGRES', 'LANE'])}  (bytes, ms, ms, ms)`,
    ...costs.map(
      ({ step, walBytes, programMs, postgresMs, laneMs }) =>
        `${step.padEnd(24)}${right([walBytes.toFixed(0), programMs.toFixed(3), postgresMs.toFixed(3), laneMs?.toFixed(3) ?? '-'])}`,
    ),
    '',
  ])
  return [...machineLines(machine, [servers]), '', ...lines].join('\n')
}

function right(cells: readonly string[]): string {
  return cells.map((cell) => cell.padStart(9)).join('')
}
