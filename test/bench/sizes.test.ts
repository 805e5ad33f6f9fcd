import { expect, test } from 'vitest'
import { type Smoked, smoke } from './run-bench.ts'

type Report = {
  deposits: number
  arms: {
    arm: string
    tables: { table: string; rows: number }[]
    costs: { step: string; walBytes: number; programMs: number }[]
  }[]
}

test('what a deposit leaves behind is told by table, and what each step cost, out of a backlog and as it arrives', async () => {
  const { report } = (await smoke('sizes')) as Smoked<Report>
  expect(report.arms.map(({ arm }) => arm)).toEqual(['backlog', 'live', 'peak', 'behind'])
  for (const { arm, tables, costs } of report.arms) {
    const rows = Object.fromEntries(tables.map(({ table, rows: count }) => [table, count]))
    expect(rows, arm).toMatchObject({
      inbox: 4,
      evidence: 4,
      deposit: 1,
      ledger_journal: 3,
      ledger_transfer: 6,
    })
    for (const { walBytes, programMs } of costs) {
      expect(walBytes, arm).toBeGreaterThan(0)
      expect(programMs, arm).toBeGreaterThan(0)
    }
  }
  const walOf = (which: string) =>
    report.arms
      .find(({ arm }) => arm === which)
      ?.costs.filter(({ step }) => step !== 'list it again')
      .reduce((sum, { walBytes }) => sum + walBytes, 0)
  expect(walOf('live')).toBeGreaterThan(1.2 * (walOf('backlog') ?? 0))
})
