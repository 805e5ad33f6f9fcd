import { expect, test } from 'vitest'
import { type Smoked, smoke } from './run-bench.ts'

type Report = {
  deposits: number
  tables: { table: string; rows: number }[]
  costs: { step: string; walBytes: number; programMs: number }[]
}

test('what a deposit leaves behind is told by table, and what each step cost', async () => {
  const { report } = (await smoke('sizes')) as Smoked<Report>
  const rows = Object.fromEntries(report.tables.map(({ table, rows: count }) => [table, count]))
  expect(rows).toMatchObject({ inbox: 4, evidence: 4, deposit: 1, ledger_journal: 2, ledger_transfer: 4 })
  expect(report.costs).toMatchObject([{ step: 'take in' }, { step: 'apply and book' }])
  for (const { walBytes, programMs } of report.costs) {
    expect(walBytes).toBeGreaterThan(0)
    expect(programMs).toBeGreaterThan(0)
  }
})
