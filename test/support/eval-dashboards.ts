import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { pino } from 'pino'
import { startPostgres } from '../../src/sandbox/postgres.ts'
import { keepBooks, payHonestly, startDemonstration, untilShown, withinMs } from './demonstration.ts'
import { badOnes, describeEvaluated } from './describe-evaluated.ts'
import { evaluateDashboards } from './evaluate-dashboards.ts'
import { evaluatedRules } from './evaluate-rules.ts'
import { goWrong } from './go-wrong.ts'
import type { TestDatabase } from './postgres.ts'
import { until } from './until.ts'

/**
 * `npm run dashboards:eval [-- --json]`: a demonstration with faults, a Prometheus that watches it, and what every panel
 * of every dashboard shows of it. The exit status is 1 where a query fails, or finds nothing without a reason.
 */
const { values } = parseArgs({ options: { json: { type: 'boolean', default: false } } })

const startedAt = performance.now()
const report = (line: string): void => {
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0)
  process.stderr.write(`${seconds.padStart(4)} s  ${line}\n`)
}

await using stack = new AsyncDisposableStack()
report('starting Postgres, chains, the deposit service, depositd and Prometheus')
const makeDatabase = await startDatabases(stack)
const demonstration = await startDemonstration({ makeDatabase }, stack)
report('up; paying in every asset')
await payHonestly(demonstration)
await keepBooks(demonstration)
report('all of it is reconciled; now much goes wrong')
await goWrong(demonstration)
report('everything that went wrong is told; waiting until all of it is shown')
await untilShown(demonstration, new Date())
const rules = await until('every rule is evaluated', () => evaluatedRules(demonstration.prometheus), withinMs)
report('asking every query of every dashboard')
const dashboards = await evaluateDashboards(demonstration, {
  from: demonstration.startedAt,
  to: new Date(),
})
const json = () => `${JSON.stringify({ dashboards, rules }, null, 2)}\n`
process.stdout.write(values.json ? json() : describeEvaluated(dashboards, rules))
process.exitCode = badOnes(dashboards).length === 0 ? 0 : 1
report('stopping')

/** A server of its own, in a folder that goes with it. */
async function startDatabases(ending: AsyncDisposableStack): Promise<() => Promise<TestDatabase>> {
  const folder = await mkdtemp(join(tmpdir(), 'depositd-dashboards-'))
  ending.defer(() => rm(folder, { recursive: true, force: true }))
  const server = await startPostgres({ folder, durability: 'none', log: pino({ level: 'silent' }) })
  ending.defer(() => server.stop())
  let count = 0
  return async () => {
    const name = `demonstration_${++count}`
    await server.createDatabase(name)
    return { url: server.url(name), drop: () => Promise.resolve() }
  }
}
