import { parseArgs } from 'node:util'
import { messageOf } from '../../src/core/errors.ts'
import { allFaults } from './all-faults.ts'
import type { FaultName } from './fault.ts'
import { type Plan, planOf, type Wishes } from './plan.ts'
import { isWell, replayOf, reportPeople, titleOf } from './print-run.ts'
import { runSeed, type SeedResult } from './run-seed.ts'

const usage = `npm run chaos -- [--seed N] [--seeds N] [--faults F1,F6] [--backend redis|postgres] [--json] [--plan]

  --seed N      the seed, or the first of several; one by the clock without it
  --seeds N     so many seeds, one after the other; 1 by default
  --faults      only these, with all their variants
  --backend     the queue, which the seed chooses otherwise
  --json        one document in the end, and nothing else
  --plan        says what would be struck, and ends
`

type Asked = { seeds: readonly number[]; wishes: Wishes; asJson: boolean; onlyPlan: boolean }

const asked = readWords()
const stopping = new AbortController()
// The parts are ended in order by those who started them.
process.on('SIGINT', () => stopping.abort()).on('SIGTERM', () => stopping.abort())
// What nobody waits for any more must not take the run down, and leave its servers: it is a finding like others.
const problems: string[] = []
process.on('uncaughtException', noteUnmatchedDelivery).on('unhandledRejection', noteUnmatchedDelivery)
const print = (line: string) => void (asked.asJson ? null : process.stdout.write(`${line}\n`))

const results: SeedResult[] = []
for (const seed of asked.seeds) {
  const plan = planOf(seed, allFaults, asked.wishes)
  print(titleOf(plan))
  if (asked.onlyPlan) reportPlan(plan)
  else if (!stopping.signal.aborted) await runOne(plan)
}
if (asked.asJson) process.stdout.write(`${JSON.stringify({ results }, null, 2)}\n`)
const failed = results.filter((result) => !isWell(result))
if (stopping.signal.aborted) print('stopped before its end')
else if (!asked.onlyPlan) print(`${results.length - failed.length} of ${asked.seeds.length} seeds held`)
for (const result of failed) print(`again: ${replayOf(result)}`)
const isStopped = stopping.signal.aborted && !asked.onlyPlan
process.exitCode = failed.length > 0 || problems.length > 0 || isStopped ? 1 : 0
endAnyhow()

function noteUnmatchedDelivery(error: unknown): void {
  const problem = `nobody waited for: ${messageOf(error)}`
  problems.push(problem)
  process.stderr.write(`  ${problem}\n`)
}

/** All that was started has ended by now; what a fault forgot may keep the process, but not for long. */
function endAnyhow(): void {
  const leftMs = 5000
  setTimeout(endNow, leftMs).unref()
}

function endNow(): void {
  const own = new Set(['TTYWrap', 'PipeWrap', 'Immediate'])
  const left = process.getActiveResourcesInfo().filter((name) => !own.has(name))
  process.stderr.write(`ended although this was left open: ${left.join(', ')}\n`)
  process.exit()
}

async function runOne(plan: Plan): Promise<void> {
  const report = reportPeople(print)
  const { seed, backend } = plan
  try {
    results.push(await runSeed(plan, report, stopping.signal))
  } catch (error) {
    // No world, or one that could not be ended: the other seeds are run all the same.
    print(`  ${messageOf(error)}`)
    results.push({ seed, backend, struck: [], differences: [messageOf(error)] })
  }
}

function reportPlan({ faults }: Plan): void {
  for (const { name, title } of faults) print(`  ${name.padEnd(4)}${title}`)
}

function readWords(): Asked {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string' },
      seeds: { type: 'string', default: '1' },
      faults: { type: 'string' },
      backend: { type: 'string' },
      json: { type: 'boolean', default: false },
      plan: { type: 'boolean', default: false },
    },
  })
  const first = wholeNumber('seed', values.seed ?? String(Date.now() % 1_000_000))
  const count = wholeNumber('seeds', values.seeds)
  const { backend } = values
  if (backend !== undefined && backend !== 'redis' && backend !== 'postgres')
    refuse(`--backend is redis or postgres, not ${backend}`)
  const faults = values.faults?.split(',').map(faultName)
  return {
    seeds: Array.from({ length: count }, (_, place) => first + place),
    wishes: { ...(faults && { faults }), ...(backend && { backend }) },
    asJson: values.json,
    onlyPlan: values.plan,
  }
}

function wholeNumber(name: string, text: string): number {
  return /^\d{1,9}$/.test(text) ? Number(text) : refuse(`--${name} takes a whole number, not ${text}`)
}

function faultName(text: string): FaultName {
  const known = allFaults.find(({ name }) => name === text.trim().toUpperCase())
  return known?.name ?? refuse(`there is no fault ${text}`)
}

function refuse(problem: string): never {
  process.stderr.write(`${problem}\n\n${usage}`)
  process.exit(2)
}
