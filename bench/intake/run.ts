import { cpus } from 'node:os'
import { startGround } from '../ground.ts'
import { describeMachine, type Machine, machineLines } from '../machine.ts'
import { type Figure, type Result, ratioFigure } from '../result.ts'
import { type Ratio, ratioLine, ratioOf, type Spread, spreadOf, spreadText } from '../statistics.ts'
import { type Arm, armNames, arms } from './arms.ts'
import { measureRequests, type ProcessorTime, type RequestRound } from './requests.ts'
import { measureRows, type RowRound, type Writer, writerNames, writers } from './rows.ts'

export type Settings = { rounds: number; seconds: number; scale: number }

const bodyBytes = 512
const connections = 64
const warmUpRequestsMax = 3000
const rowsMax = 40_000

/** Ours against each arm, in the same round; at least. */
const requestTargets: Record<Exclude<Arm, 'ours' | 'writer'>, number> = {
  bare: 0.5,
  verify: 0.7,
  queue: 1.6,
  insert: 1.7,
}
const p99TargetMs = 30
const rowTargets: Record<Exclude<Writer, 'ours'>, number> = { unnest: 0.8, copy: 0.25 }

type RatioTo = Ratio & { arm: string; against: string }

type Report = {
  machine: Machine
  servers: Record<string, string>
  settings: Record<string, number>
  requests: {
    arm: Arm
    perSecond: Spread
    p50Ms: Spread
    p99Ms: Spread
    /** Microseconds per request, and how many a second all cores could do at that. */
    processor: Record<keyof ProcessorTime, Spread>
    perSecondMax: number
  }[]
  requestRatios: RatioTo[]
  p99: { medianMs: number; targetMs: number; isMet: boolean }
  rows: { writer: Writer; perSecond: Spread }[]
  rowRatios: RatioTo[]
  invariants: string
}

const progress = (text: string) => void process.stderr.write(text)

/** B1 and B2, all arms in turns, on servers of their own. Throws where an invariant fails: the run is void then. */
export async function runIntake({ rounds, seconds, scale }: Settings): Promise<Result> {
  await using stack = new AsyncDisposableStack()
  const stop = () => void stack.disposeAsync().finally(() => process.exit(1))
  process.once('SIGINT', stop).once('SIGTERM', stop)
  const ground = await startGround(stack)
  const machine = describeMachine(ground.folder, ['express', 'bullmq', 'ioredis', 'pg', 'kysely'])
  const warmUpRequests = Math.max(300, Math.round(warmUpRequestsMax * scale))
  const rowsPerRound = Math.max(2000, Math.round(rowsMax * scale))
  const requestSettings = { rounds, warmUpRequests, seconds, connections, bodyBytes }
  const requestRounds = await measureRequests(ground, requestSettings, progress)
  const rowRounds = await measureRows(ground, { rounds, seconds, rowsPerRound, bodyBytes }, progress)
  const report: Report = {
    machine,
    servers: await ground.settings(),
    settings: { rounds, secondsPerRound: seconds, connections, bodyBytes, rowsPerRound },
    ...reportRequests(requestRounds),
    ...reportRows(rowRounds),
    invariants: 'held: every webhook that was answered with 202 is kept once, with its own body',
  }
  return { report, text: textOf(report), figures: figuresOf(report) }
}

function reportRequests(rounds: readonly RequestRound[]): Pick<Report, 'requests' | 'requestRatios' | 'p99'> {
  const of = (arm: Arm) => rounds.filter((round) => round.arm === arm)
  const requests = armNames.map((arm) => ({
    arm,
    ...processorOf(of(arm)),
    perSecond: spreadOf(of(arm).map(({ perSecond }) => perSecond)),
    p50Ms: spreadOf(of(arm).map(({ p50Ms }) => p50Ms)),
    p99Ms: spreadOf(of(arm).map(({ p99Ms }) => p99Ms)),
  }))
  const ours = of('ours').map(({ perSecond }) => perSecond)
  const requestRatios = Object.entries(requestTargets).map(([arm, target]) => {
    const theirs = of(arm as Arm).map(({ perSecond }) => perSecond)
    return { arm, against: arms[arm as Arm], ...ratioOf(ours, theirs, target) }
  })
  const medianMs = spreadOf(of('ours').map(({ p99Ms }) => p99Ms)).median
  return { requests, requestRatios, p99: { medianMs, targetMs: p99TargetMs, isMet: medianMs < p99TargetMs } }
}

function processorOf(rounds: readonly RequestRound[]) {
  const spread = (part: keyof ProcessorTime) => spreadOf(rounds.map(({ processor }) => processor[part]))
  const processor = { endpoint: spread('endpoint'), load: spread('load'), sessions: spread('sessions') }
  const micros = Object.values(processor).reduce((sum, { median }) => sum + median, 0)
  return { processor, perSecondMax: (1e6 * cpus().length) / micros }
}

function reportRows(rounds: readonly RowRound[]): Pick<Report, 'rows' | 'rowRatios'> {
  const of = (writer: Writer) =>
    rounds.filter((round) => round.writer === writer).map(({ perSecond }) => perSecond)
  return {
    rows: writerNames.map((writer) => ({ writer, perSecond: spreadOf(of(writer)) })),
    rowRatios: Object.entries(rowTargets).map(([writer, target]) => ({
      arm: writer,
      against: writers[writer as Writer],
      ...ratioOf(of('ours'), of(writer as Writer), target),
    })),
  }
}

function figuresOf({ requestRatios, p99, rowRatios }: Report): Figure[] {
  const { medianMs, targetMs, isMet } = p99
  const said = { target: `below ${targetMs} ms`, measured: `${medianMs.toFixed(1)} ms`, isMet }
  return [
    ...requestRatios.map((ratio) => ratioFigure('B1', ratio.arm, ratio)),
    { bench: 'B1', what: '99 of 100 are answered within', ...said },
    ...rowRatios.map((ratio) => ratioFigure('B2', ratio.arm, ratio)),
  ]
}

function processorLine({ arm, processor, perSecondMax }: Report['requests'][number]): string {
  const parts = Object.entries(processor).map(([part, micros]) => `${part} ${spreadText(micros, 1)}`)
  return `    ${arm.padEnd(7)} ${parts.join('   ')}   at the most ${Math.round(perSecondMax).toLocaleString('en')} requests/s`
}

function textOf(report: Report): string {
  const { machine, servers, settings, p99 } = report
  return [
    ...machineLines(machine, [servers, settings]),
    '',
    'B1 intake: median (range) over the rounds',
    ...report.requests.map(
      ({ arm, perSecond, p50Ms, p99Ms }) =>
        `  ${arm.padEnd(7)} ${spreadText(perSecond).padStart(26)} requests/s   p50 ${spreadText(p50Ms, 1)} ms   p99 ${spreadText(p99Ms, 1)} ms   ${arms[arm]}`,
    ),
    '  processor time per request, in microseconds',
    ...report.requests.map(processorLine),
    ...report.requestRatios.map((ratio) => ratioLine(ratio.against, ratio)),
    `  p99 of ours ${p99.medianMs.toFixed(1)} ms, to be below ${p99.targetMs} ms: ${p99.isMet ? 'met' : 'MISSED'}`,
    '',
    'B2 inbox writer',
    ...report.rows.map(
      ({ writer, perSecond }) =>
        `  ${writer.padEnd(7)} ${spreadText(perSecond).padStart(26)} rows/s   ${writers[writer]}`,
    ),
    ...report.rowRatios.map((ratio) => ratioLine(ratio.against, ratio)),
    '',
    `invariants ${report.invariants}`,
    '',
  ].join('\n')
}
