import { makeSecret } from '../../test/support/sign-webhook.ts'
import { startGround } from '../ground.ts'
import { describeMachine, type Machine, machineLines } from '../machine.ts'
import type { Figure, Result } from '../result.ts'
import { type Spread, spreadOf, spreadText } from '../statistics.ts'
import { type DeliveryRound, measureDelivery } from './measure-delivery.ts'

/** `scale` is the part of the whole that is measured. */
type Settings = { rounds: number; scale: number }

/** Of each arm of a round. */
const wholeDeposits = 10_000
const perSecondMin = 50
const p99TargetMs = 250

type Report = {
  machine: Machine
  servers: Record<string, string>
  settings: Record<string, number>
  /** Deposits a second, over the rounds. */
  saturated: Spread
  perSecond: Spread
  eventsPerSecond: Spread
  /** Milliseconds. */
  delivered: { p50: Spread; p99: Spread & { isMet: boolean }; max: Spread }
  /** Until the event has its number. */
  numbered: { p50: Spread; p99: Spread }
  saturatedDelivered: { p50: Spread; p99: Spread }
  invariants: string
}

/** Throws where an invariant fails: the run is void then. */
export async function runEvents({ rounds, scale }: Settings): Promise<Result> {
  await using stack = new AsyncDisposableStack()
  const stop = () => void stack.disposeAsync().finally(() => process.exit(1))
  process.once('SIGINT', stop).once('SIGTERM', stop)
  const ground = await startGround(stack, 'commits')
  const machine = describeMachine(ground.folder, ['bullmq', 'ioredis', 'pg', 'kysely'])
  const deposits = Math.max(20, Math.round(wholeDeposits * scale))
  const settings = { rounds, deposits, perSecondMin }
  const measured = await measureDelivery(
    ground,
    { ...settings, secret: makeSecret() },
    (text) => void process.stderr.write(text),
  )
  const report: Report = {
    machine,
    servers: await ground.settings(),
    settings,
    ...reportDelivered(measured),
    invariants:
      'held: every event arrived once, every deposit is reconciled and booked once, every asset adds up to zero',
  }
  return { report, text: textOf(report), figures: figuresOf(report) }
}

function reportDelivered(
  rounds: readonly DeliveryRound[],
): Omit<Report, 'machine' | 'servers' | 'settings' | 'invariants'> {
  const of = (value: (round: DeliveryRound) => number) => spreadOf(rounds.map(value))
  const p99 = of(({ delivered }) => delivered.p99)
  return {
    saturated: of(({ saturated }) => saturated),
    perSecond: of(({ perSecond }) => perSecond),
    eventsPerSecond: of(({ eventsPerSecond }) => eventsPerSecond),
    delivered: {
      p50: of(({ delivered }) => delivered.p50),
      p99: { ...p99, isMet: p99.median < p99TargetMs },
      max: of(({ delivered }) => delivered.max),
    },
    numbered: { p50: of(({ numbered }) => numbered.p50), p99: of(({ numbered }) => numbered.p99) },
    saturatedDelivered: {
      p50: of(({ saturatedDelivered }) => saturatedDelivered.p50),
      p99: of(({ saturatedDelivered }) => saturatedDelivered.p99),
    },
  }
}

function figuresOf({ delivered: { p99 } }: Report): Figure[] {
  return [
    {
      bench: '',
      what: '99 of 100 events arrive after the commit of their journal within',
      target: `below ${p99TargetMs} ms`,
      measured: `${spreadText(p99)} ms`,
      isMet: p99.isMet,
    },
  ]
}

function textOf(report: Report): string {
  const { machine, servers, settings, saturated, perSecond, eventsPerSecond, delivered } = report
  const { numbered, saturatedDelivered, invariants } = report
  const goal = `to be below ${p99TargetMs} ms: ${delivered.p99.isMet ? 'met' : 'MISSED'}`
  return [
    ...machineLines(machine, [servers, settings]),
    '',
    'from the commit of a journal to the arrival of its event: median (range) over the rounds',
    `  as fast as webhooks are answered, ${spreadText(saturated)} deposits/s   p50 ${spreadText(saturatedDelivered.p50)} ms   p99 ${spreadText(saturatedDelivered.p99)} ms`,
    `  at half of that, ${spreadText(perSecond)} deposits/s, ${spreadText(eventsPerSecond)} events/s   p50 ${spreadText(delivered.p50)} ms   p99 ${spreadText(delivered.p99)} ms   slowest ${spreadText(delivered.max)} ms; p99 ${goal}`,
    `    until the event has its number   p50 ${spreadText(numbered.p50)} ms   p99 ${spreadText(numbered.p99)} ms`,
    `invariants ${invariants}`,
    '',
  ].join('\n')
}
