import { makeSecret } from '../../test/support/sign-webhook.ts'
import { startGround } from '../ground.ts'
import { describeMachine, type Machine, machineLines } from '../machine.ts'
import type { Figure, Result } from '../result.ts'
import { type Spread, spreadOf, spreadText } from '../statistics.ts'
import { measureDrain } from './measure-drain.ts'
import { type LatencyRound, measureLatency } from './measure-latency.ts'

/** `scale` is the part of the whole that is measured; the pace is the same however small that is. */
type Settings = { rounds: number; scale: number }

const whole = { perSecond: 500, seconds: 20, backlogRows: 100_000, coldRows: 1_000_000 }
const targets = { p99Ms: 500, firstSeconds: 5 }

type Judged = Spread & { isMet: boolean }

type Report = {
  machine: Machine
  servers: Record<string, string>
  settings: Record<string, number>
  /** Milliseconds, over the rounds. */
  booked: { p50: Spread; p99: Judged; max: Spread }
  reconciled: { p50: Spread; p99: Spread; max: Spread }
  drain: { rowsPerSecond: Spread; seconds: Spread }
  coldStart: { firstSeconds: Judged }
  invariants: string
}

const progress = (text: string) => void process.stderr.write(text)

/** B7 with daemons as processes on a queue on Redis. Throws where an invariant fails: the run is void then. */
export async function runJourney({ rounds, scale }: Settings): Promise<Result> {
  await using stack = new AsyncDisposableStack()
  const stop = () => void stack.disposeAsync().finally(() => process.exit(1))
  process.once('SIGINT', stop).once('SIGTERM', stop)
  const ground = await startGround(stack, 'commits')
  const machine = describeMachine(ground.folder, ['bullmq', 'ioredis', 'pg', 'kysely'])
  const secret = makeSecret()
  const { perSecond } = whole
  const seconds = Math.max(0.2, whole.seconds * scale)
  const [backlogRows, coldRows] = [rowsOf(whole.backlogRows, scale), rowsOf(whole.coldRows, scale)]
  const reported = await measureLatency(ground, { rounds, perSecond, seconds, secret }, progress)
  const drained = await measureDrain(
    ground,
    { rounds, rows: backlogRows, secret, until: 'drained' },
    progress,
  )
  const cold = await measureDrain(ground, { rounds, rows: coldRows, secret, until: 'first' }, progress)
  const speed = drained.map(({ rowsPerSecond }) => rowsPerSecond)
  const first = spreadOf(cold.map(({ firstSeconds }) => firstSeconds))
  const report: Report = {
    machine,
    servers: await ground.settings(),
    settings: { rounds, perSecond, seconds, backlogRows, coldRows },
    ...reportReported(reported),
    drain: { rowsPerSecond: spreadOf(speed), seconds: spreadOf(speed.map((one) => backlogRows / one)) },
    coldStart: { firstSeconds: { ...first, isMet: first.median < targets.firstSeconds } },
    invariants:
      'held: every deposit is reconciled and booked once, every asset adds up to zero, no row waits',
  }
  return { report, text: textOf(report), figures: figuresOf(report) }
}

/** Whole deposits of four rows. */
function rowsOf(rows: number, scale: number): number {
  return 4 * Math.round((rows * scale) / 4)
}

function reportReported(rounds: readonly LatencyRound[]): Pick<Report, 'booked' | 'reconciled'> {
  const of = (what: 'booked' | 'reconciled', which: 'p50' | 'p99' | 'max') =>
    spreadOf(rounds.map((round) => round[what][which]))
  const p99 = of('booked', 'p99')
  return {
    booked: {
      p50: of('booked', 'p50'),
      p99: { ...p99, isMet: p99.median < targets.p99Ms },
      max: of('booked', 'max'),
    },
    reconciled: { p50: of('reconciled', 'p50'), p99: of('reconciled', 'p99'), max: of('reconciled', 'max') },
  }
}

function figuresOf({ booked, coldStart, settings }: Report): Figure[] {
  const cold = settings['coldRows']?.toLocaleString('en') ?? ''
  return [
    {
      bench: 'B7',
      what: `99 of 100 webhooks at ${settings['perSecond']}/s are booked within`,
      target: `below ${targets.p99Ms} ms`,
      measured: `${spreadText(booked.p99)} ms`,
      isMet: booked.p99.isMet,
    },
    {
      bench: 'B7',
      what: `cold start with ${cold} inbox rows, to the first applied`,
      target: `below ${targets.firstSeconds} s`,
      measured: `${spreadText(coldStart.firstSeconds, 2)} s`,
      isMet: coldStart.firstSeconds.isMet,
    },
  ]
}

function met({ isMet }: Judged): string {
  return isMet ? 'met' : 'MISSED'
}

function textOf(report: Report): string {
  const { machine, servers, settings, booked, reconciled, drain, coldStart, invariants } = report
  return [
    ...machineLines(machine, [servers, settings]),
    '',
    'B7 end to end: median (range) over the rounds',
    `  webhook to journal of the payment   p50 ${spreadText(booked.p50)} ms   p99 ${spreadText(booked.p99)} ms   slowest ${spreadText(booked.max)} ms; p99 to be below ${targets.p99Ms} ms: ${met(booked.p99)}`,
    `  webhook to journal of the delivery  p50 ${spreadText(reconciled.p50)} ms   p99 ${spreadText(reconciled.p99)} ms   slowest ${spreadText(reconciled.max)} ms`,
    `  drain of ${settings['backlogRows']} inbox rows: ${spreadText(drain.seconds, 1)} s from the start of the process, ${spreadText(drain.rowsPerSecond)} rows/s`,
    `  cold start with ${settings['coldRows']} inbox rows: first applied after ${spreadText(coldStart.firstSeconds, 2)} s, to be below ${targets.firstSeconds} s: ${met(coldStart.firstSeconds)}`,
    `invariants ${invariants}`,
    '',
  ].join('\n')
}
