import { describeMachine, type Machine, machineLines } from '../machine.ts'
import { startPostgresGround } from '../postgres-ground.ts'
import { type Figure, type Result, ratioFigure } from '../result.ts'
import { type Ratio, ratioLine, ratioOf, type Spread, spreadOf, spreadText } from '../statistics.ts'
import { armNames as balanceArmNames, arms as balanceArms } from './balance-arms.ts'
import { type BalanceRound, measureBalances } from './measure-balances.ts'
import { measurePosting, type PostRound } from './measure-posting.ts'
import { type Arm, armNames, arms } from './post-arms.ts'

/** `scale` is the part of the whole that is measured: 1 for 5,000,000 transfers in B8. */
type Settings = { rounds: number; scale: number }

const whole = { batched: 100_000, singles: 20_000, transfers: 5_000_000 }
const targets = { unchecked: 0.75, running: 3, raw: 0.05 }

type Report = {
  machine: Machine
  servers: Record<string, string>
  settings: Record<string, number>
  posting: Record<Arm, Spread>
  overUnchecked: Ratio
  overRunning: Ratio
  /** One by one, as it does; there is no target for that. */
  singleOverRunning: Spread
  /** Milliseconds. */
  balances: Record<keyof typeof balanceArms, Spread>
  /** Of the time, so that less is better. */
  rawShare: Ratio
}

const progress = (text: string) => void process.stderr.write(text)

/** B5 and B8, all arms in turns, on a server of their own. Throws where an arm errs: the run is void then. */
export async function runLedger({ rounds, scale }: Settings): Promise<Result> {
  await using stack = new AsyncDisposableStack()
  const stop = () => void stack.disposeAsync().finally(() => process.exit(1))
  process.once('SIGINT', stop).once('SIGTERM', stop)
  const ground = await startPostgresGround(stack)
  const machine = describeMachine(ground.folder, ['pg', 'kysely'])
  const [batched = 0, singles = 0, transfers = 0] = Object.values(whole).map((count) =>
    Math.round(count * scale),
  )
  const posted = await measurePosting(ground, { rounds, batched, singles }, progress)
  const balanced = await measureBalances(ground, { rounds, transfers }, progress)
  const report: Report = {
    machine,
    servers: await ground.settings(),
    settings: { rounds, batched, singles, transfers },
    ...reportPosting(posted),
    ...reportBalances(balanced),
  }
  return { report, text: textOf(report), figures: figuresOf(report) }
}

function reportPosting(
  rounds: readonly PostRound[],
): Pick<Report, 'posting' | 'overUnchecked' | 'overRunning' | 'singleOverRunning'> {
  const of = (wanted: Arm) => rounds.filter(({ arm }) => arm === wanted).map(({ perSecond }) => perSecond)
  return {
    posting: {
      ours: spreadOf(of('ours')),
      unchecked: spreadOf(of('unchecked')),
      single: spreadOf(of('single')),
      running: spreadOf(of('running')),
    },
    overUnchecked: ratioOf(of('ours'), of('unchecked'), targets.unchecked),
    overRunning: ratioOf(of('ours'), of('running'), targets.running),
    singleOverRunning: spreadOf(
      of('single').map((value, round) => value / (of('running')[round] ?? Number.NaN)),
    ),
  }
}

function reportBalances(rounds: readonly BalanceRound[]): Pick<Report, 'balances' | 'rawShare'> {
  const of = (wanted: BalanceRound['arm']) =>
    rounds.filter(({ arm }) => arm === wanted).map(({ seconds }) => 1000 * seconds)
  const share = ratioOf(of('ours'), of('raw'), targets.raw)
  return {
    balances: { ours: spreadOf(of('ours')), raw: spreadOf(of('raw')) },
    rawShare: { ...share, isMet: share.median <= targets.raw },
  }
}

function figuresOf({ overUnchecked, overRunning, rawShare }: Report): Figure[] {
  return [
    ratioFigure('B5', 'unchecked', overUnchecked),
    ratioFigure('B5', 'running', overRunning),
    {
      bench: 'B8',
      what: 'time of ours x raw',
      target: `at most ${targets.raw}`,
      measured: spreadText(rawShare, 3),
      isMet: rawShare.isMet,
    },
  ]
}

function textOf(report: Report): string {
  const { machine, servers, settings, posting, balances, rawShare } = report
  return [
    ...machineLines(machine, [servers, settings]),
    '',
    'B5 posting: median (range) over the rounds',
    ...armNames.map(
      (arm) => `  ${arm.padEnd(9)} ${spreadText(posting[arm]).padStart(26)} transfers/s   ${arms[arm]}`,
    ),
    ratioLine('unchecked', report.overUnchecked),
    ratioLine('running', report.overRunning),
    `  one by one it is ${spreadText(report.singleOverRunning, 2)} x running`,
    '',
    'B8 balances as of two times',
    ...balanceArmNames.map(
      (arm) => `  ${arm.padEnd(9)} ${spreadText(balances[arm], 1).padStart(26)} ms   ${balanceArms[arm]}`,
    ),
    `  ours takes ${spreadText(rawShare, 3)} of the time of raw, to be at most ${targets.raw}: ${rawShare.isMet ? 'met' : 'MISSED'}`,
    '',
  ].join('\n')
}
