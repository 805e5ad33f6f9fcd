import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { batchMax } from '../../src/jobs/books/apply.ts'
import { describeMachine, listed, type Machine, machineLines } from '../machine.ts'
import { startPostgresGround } from '../postgres-ground.ts'
import { type Figure, type Result, ratioFigure } from '../result.ts'
import { type Ratio, ratioLine, ratioOf, type Spread, spreadOf, spreadText } from '../statistics.ts'
import { type Arm, armNames, arms } from './apply-arms.ts'
import { type ApplyRound, measureApply, measureSizes, type Sized } from './measure-apply.ts'
import {
  type Matcher,
  type Matching,
  matcherNames,
  matchers,
  measureMatching,
  scoreText,
} from './measure-matching.ts'

/** `scale` is the part of the whole that is measured: 1 for 100,000 deposits in B3 and 1,000,000 in B4. */
type Settings = { rounds: number; scale: number; large: boolean; parts?: readonly Part[] }

/** B3 and B4. */
type Part = 'apply' | 'match'

const whole = { applied: 100_000, matched: 1_000_000 }
/** Row by row takes long: it is measured on this part of the deposits. */
const rowsPart = 100
/** The least and the most deposits that are applied for the time per deposit and the heap, as parts of the whole; the most where that is asked for. */
const sizeParts = [0.1, 10] as const
const trouble = { seed: 4, troubledShare: 0.03 }
const targets = { copy: 0.25, rows: 20, sql: 0.5, timePerDeposit: 1.2, heap: 1.1 }

type Report = {
  machine: Machine
  servers: Record<string, string>
  settings: Record<string, number>
  apply: Applying | null
  match: Matched | null
}

type SizedAgainst = Sized & { timeOverFirst: number; isMet: boolean }

type Applying = {
  arms: Record<Arm, Spread>
  overCopy: Ratio
  overRows: Ratio
  sizes: SizedAgainst[]
  invariants: string
}

type Matched = { arms: Record<Matcher, Spread>; overSql: Ratio; trouble: Matching['counts']; score: string }

const progress = (text: string) => void process.stderr.write(text)

/** All arms of a part in turns, on a server of their own. Throws where an invariant fails: the run is void then. */
export async function runReconcile(settings: Settings): Promise<Result> {
  const { rounds, scale, large, parts = ['apply', 'match'] } = settings
  setFlagsFromString('--expose-gc')
  globalThis.gc = runInNewContext('gc') as typeof globalThis.gc
  await using stack = new AsyncDisposableStack()
  const stop = () => void stack.disposeAsync().finally(() => process.exit(1))
  process.once('SIGINT', stop).once('SIGTERM', stop)
  const ground = await startPostgresGround(stack)
  const machine = describeMachine(ground.folder, ['pg', 'kysely'])
  const deposits = Math.round(whole.applied * scale)
  const rowsDeposits = Math.max(20, Math.round(deposits / rowsPart))
  const matched = Math.round(whole.matched * scale)
  const apply = async () =>
    reportApply(
      await measureApply(ground, { rounds, deposits, rowsDeposits }, progress),
      await measureSizes(ground, [sizeParts[0] * deposits, (large ? sizeParts[1] : 1) * deposits], progress),
    )
  const match = async () =>
    reportMatching(await measureMatching(ground, { rounds, deposits: matched, ...trouble }, progress))
  const report: Report = {
    machine,
    apply: parts.includes('apply') ? await apply() : null,
    match: parts.includes('match') ? await match() : null,
    servers: await ground.settings(),
    settings: { rounds, deposits, rowsDeposits, matched, ...trouble, ...batchMax },
  }
  return { report, text: textOf(report), figures: figuresOf(report) }
}

function reportApply(rounds: readonly ApplyRound[], sizes: readonly Sized[]): Applying {
  const of = (wanted: Arm) => rounds.filter(({ arm }) => arm === wanted).map(({ perSecond }) => perSecond)
  return {
    arms: { ours: spreadOf(of('ours')), copy: spreadOf(of('copy')), rows: spreadOf(of('rows')) },
    overCopy: ratioOf(of('ours'), of('copy'), targets.copy),
    overRows: ratioOf(of('ours'), of('rows'), targets.rows),
    sizes: sizes.map((one) => sizedAgainst(sizes[0] ?? one, one)),
    invariants:
      'held: every deposit is reconciled and booked once, every asset adds up to zero, no row waits',
  }
}

function reportMatching({ rounds, counts }: Matching): Matched {
  const of = (wanted: Matcher) =>
    rounds.filter(({ matcher }) => matcher === wanted).map(({ perSecond }) => perSecond)
  const worst = rounds.toSorted((left, right) => left.score.right - right.score.right)[0]
  return {
    arms: { ours: spreadOf(of('ours')), sql: spreadOf(of('sql')) },
    overSql: ratioOf(of('ours'), of('sql'), targets.sql),
    trouble: counts,
    score: worst === undefined ? '' : scoreText(worst.score),
  }
}

function sizedAgainst(first: Sized, one: Sized) {
  const timeOverFirst = first.perSecond / one.perSecond
  return { ...one, timeOverFirst, isMet: timeOverFirst <= targets.timePerDeposit }
}

function figuresOf({ apply, match }: Report): Figure[] {
  const last = apply?.sizes.at(-1)
  return [
    ...(apply === null
      ? []
      : [ratioFigure('B3', 'copy', apply.overCopy), ratioFigure('B3', 'rows', apply.overRows)]),
    ...(last === undefined ? [] : sizeFigures(last)),
    ...(match === null ? [] : [ratioFigure('B4', 'join', match.overSql), scoreFigure(match.score)]),
  ]
}

function sizeFigures({ deposits, timeOverFirst, isMet, heapFirst, heapLast }: SizedAgainst): Figure[] {
  const many = deposits.toLocaleString('en')
  const isFlat = heapLast <= heapFirst * targets.heap
  return [
    {
      bench: 'B3',
      what: `time per deposit of ${many} x that of the least`,
      target: `at most ${targets.timePerDeposit}`,
      measured: timeOverFirst.toFixed(2),
      isMet,
    },
    {
      bench: 'B3',
      what: `heap after ${many} x that after the first batches`,
      target: `at most ${targets.heap}`,
      measured: `${(heapLast / heapFirst).toFixed(2)} (${megabytes(heapLast)} MB)`,
      isMet: isFlat,
    },
  ]
}

/** Matching with an error ends the run, so that only what is right comes here. */
function scoreFigure(measured: string): Figure {
  return { bench: 'B4', what: 'precision and recall', target: '100 %', measured, isMet: true }
}

function textOf({ machine, servers, settings, apply, match }: Report): string {
  return [
    ...machineLines(machine, [servers, settings]),
    ...(apply === null ? [] : applyLines(apply)),
    ...(match === null ? [] : matchLines(match)),
    '',
  ].join('\n')
}

function applyLines(apply: Applying): string[] {
  return [
    '',
    'B3 apply: median (range) over the rounds',
    ...armNames.map(
      (arm) => `  ${arm.padEnd(5)} ${spreadText(apply.arms[arm]).padStart(26)} inbox rows/s   ${arms[arm]}`,
    ),
    ratioLine('copy', apply.overCopy),
    ratioLine('rows', apply.overRows),
    ...apply.sizes.map(sizedLine),
    `  invariants ${apply.invariants}`,
  ]
}

function matchLines(match: Matched): string[] {
  return [
    '',
    'B4 matching only',
    ...matcherNames.map(
      (one) => `  ${one.padEnd(5)} ${spreadText(match.arms[one]).padStart(26)} deposits/s   ${matchers[one]}`,
    ),
    ratioLine('sql', match.overSql),
    `  ${match.score}; ${listed(match.trouble)}`,
  ]
}

function sizedLine(one: Applying['sizes'][number]) {
  const { deposits, perSecond, heapFirst, heapLast, timeOverFirst, isMet } = one
  const heap = `heap ${megabytes(heapFirst)} MB at first, ${megabytes(heapLast)} MB at last`
  const time = `${timeOverFirst.toFixed(2)} x the time per deposit, to be at most ${targets.timePerDeposit} x`
  return `  ${deposits.toLocaleString('en')} deposits: ${Math.round(perSecond).toLocaleString('en')} inbox rows/s, ${heap}; ${time}: ${isMet ? 'met' : 'MISSED'}`
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1)
}
