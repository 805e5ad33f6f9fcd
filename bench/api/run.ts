import { makeSecret } from '../../test/support/sign-webhook.ts'
import { startGround } from '../ground.ts'
import { describeMachine, type Machine, machineLines } from '../machine.ts'
import { type Figure, type Result, ratioFigure } from '../result.ts'
import { type Ratio, ratioLine, ratioOf, type Spread, spreadOf, spreadText } from '../statistics.ts'
import { measureReads, type ReadRound, type ReadTimes } from './measure-reads.ts'

/** `scale` is the part of the whole that is measured; the paces are the same however small that is. */
type Settings = { rounds: number; scale: number }

/** One token may make 50 requests a second. */
const whole = { deposits: 1_000_000, webhooks: 5000, perSecond: 500, readsPerSecond: 50 }
const targets = { serverP99Ms: 20, intakeRatio: 0.9 }

/** Milliseconds, over the rounds. */
type ReadSpreads = Record<Exclude<keyof ReadTimes, 'count'>, Spread>

type Report = {
  machine: Machine
  servers: Record<string, string>
  settings: Record<string, number>
  /** Beside webhooks at an even pace, and as fast as they are answered. */
  reads: { paced: ReadSpreads & { isMet: boolean }; full: ReadSpreads }
  webhooksPerSecond: Record<'pacedAlone' | 'pacedBeside' | 'fullAlone' | 'fullBeside', Spread>
  intake: Ratio
  invariants: string
}

/** Throws where an invariant fails: the run is void then. */
export async function runApi({ rounds, scale }: Settings): Promise<Result> {
  await using stack = new AsyncDisposableStack()
  const stop = () => void stack.disposeAsync().finally(() => process.exit(1))
  process.once('SIGINT', stop).once('SIGTERM', stop)
  const ground = await startGround(stack)
  const machine = describeMachine(ground.folder, ['express', 'bullmq', 'ioredis', 'pg', 'kysely'])
  const { perSecond, readsPerSecond } = whole
  const [deposits, webhooks] = [Math.round(whole.deposits * scale), Math.max(100, whole.webhooks * scale)]
  const settings = { rounds, deposits, webhooks: Math.round(webhooks), perSecond, readsPerSecond }
  const measured = await measureReads(
    ground,
    { ...settings, secret: makeSecret() },
    (text) => void process.stderr.write(text),
  )
  const report: Report = {
    machine,
    servers: await ground.settings(),
    settings,
    ...reportReads(measured),
    invariants:
      'held: every webhook that was answered with 202 is kept once and applied, every read found its deposit',
  }
  return { report, text: textOf(report), figures: figuresOf(report) }
}

function reportReads(rounds: readonly ReadRound[]): Pick<Report, 'reads' | 'webhooksPerSecond' | 'intake'> {
  const spread = (value: (round: ReadRound) => number) => spreadOf(rounds.map(value))
  const paced = spreadsOf(rounds.map((round) => round.paced))
  const full = (which: 'alone' | 'beside') => rounds.map(({ fullPerSecond }) => fullPerSecond[which])
  return {
    reads: {
      paced: { ...paced, isMet: paced.within20.median >= 0.99 },
      full: spreadsOf(rounds.map((round) => round.full)),
    },
    webhooksPerSecond: {
      pacedAlone: spread(({ pacedPerSecond }) => pacedPerSecond.alone),
      pacedBeside: spread(({ pacedPerSecond }) => pacedPerSecond.beside),
      fullAlone: spreadOf(full('alone')),
      fullBeside: spreadOf(full('beside')),
    },
    intake: ratioOf(full('beside'), full('alone'), targets.intakeRatio),
  }
}

function spreadsOf(times: readonly ReadTimes[]): ReadSpreads {
  const spread = (of: keyof ReadSpreads) => spreadOf(times.map((one) => one[of]))
  return {
    within20: spread('within20'),
    serverP50: spread('serverP50'),
    serverP99: spread('serverP99'),
    callerP99: spread('callerP99'),
  }
}

function figuresOf({ reads: { paced }, intake, settings }: Report): Figure[] {
  const deposits = settings['deposits']?.toLocaleString('en') ?? ''
  return [
    {
      bench: '',
      what: `99 of 100 reads by transaction over ${deposits} deposits, beside ${whole.perSecond} webhooks/s, in the server`,
      target: `below ${targets.serverP99Ms} ms`,
      measured: `${spreadText(paced.serverP99, 1)} ms`,
      isMet: paced.isMet,
    },
    ratioFigure('', 'intake without reads', intake),
  ]
}

function readsLine({ serverP50, serverP99, within20, callerP99 }: ReadSpreads): string {
  const share = spreadOf([within20.median, within20.min, within20.max].map((one) => 100 * one))
  return `in the server p50 ${spreadText(serverP50, 1)} ms   p99 ${spreadText(serverP99, 1)} ms   ${spreadText(share, 1)} % within 20 ms   for the caller p99 ${spreadText(callerP99, 1)} ms`
}

function textOf(report: Report): string {
  const { machine, servers, settings, reads, webhooksPerSecond, intake, invariants } = report
  const { pacedAlone, pacedBeside, fullAlone, fullBeside } = webhooksPerSecond
  return [
    ...machineLines(machine, [servers, settings]),
    '',
    `reads of deposits by transaction, ${settings['readsPerSecond']} a second: median (range) over the rounds`,
    `  beside webhooks at an even pace: ${readsLine(reads.paced)}; to be below ${targets.serverP99Ms} ms: ${reads.paced.isMet ? 'met' : 'MISSED'}`,
    `  beside webhooks as fast as they are answered: ${readsLine(reads.full)}`,
    `  webhooks at an even pace: ${spreadText(pacedAlone)} a second alone, ${spreadText(pacedBeside)} beside reads`,
    `  webhooks as fast as they are answered: ${spreadText(fullAlone)} a second alone, ${spreadText(fullBeside)} beside reads`,
    ratioLine('itself without reads', intake),
    `invariants ${invariants}`,
    '',
  ].join('\n')
}
