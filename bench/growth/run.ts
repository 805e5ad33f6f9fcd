import { describeMachine, type Machine, machineLines } from '../machine.ts'
import { startPostgresGround } from '../postgres-ground.ts'
import type { Figure, Result } from '../result.ts'
import { type Spread, spreadOf, spreadText } from '../statistics.ts'
import { type Grown, measureGrowth } from './measure-growth.ts'

/** `scale` is the part of the whole that is measured. */
type Settings = { rounds: number; scale: number; large: boolean }

const wholes = [100_000, 1_000_000, 3_000_000]
const largest = 8_000_000
const applied = 100
const ratioMax = 1.2

/** `ratio`: of the most deposits to the fewest, round by round. */
type Line = { cost: string; ms: Spread[]; ratio: Spread; isMet: boolean }

type Report = {
  machine: Machine
  servers: Record<string, string>
  settings: Record<string, number>
  sizes: { deposits: number; bytes: number }[]
  lines: Line[]
}

/** What reading and applying cost over few and over many closed deposits. */
export async function runGrowth({ rounds, scale, large }: Settings): Promise<Result> {
  await using stack = new AsyncDisposableStack()
  const stop = () => void stack.disposeAsync().finally(() => process.exit(1))
  process.once('SIGINT', stop).once('SIGTERM', stop)
  const ground = await startPostgresGround(stack)
  const sizes = [...wholes, ...(large ? [largest] : [])].map((deposits) => Math.round(deposits * scale))
  const settings = { rounds, applied: Math.max(10, Math.round(applied * Math.min(1, 10 * scale))) }
  const grown = await measureGrowth(ground, { ...settings, sizes }, (text) => void process.stderr.write(text))
  const report: Report = {
    machine: describeMachine(ground.folder, ['pg', 'kysely', 'express']),
    servers: await ground.settings(),
    settings,
    sizes: grown.map(({ deposits, bytes }) => ({ deposits, bytes })),
    lines: linesOf(grown),
  }
  return { report, text: textOf(report), figures: figuresOf(report) }
}

function linesOf(grown: readonly Grown[]): Line[] {
  const [fewest, most] = [grown[0]?.costs ?? {}, grown.at(-1)?.costs ?? {}]
  return Object.entries(fewest).map(([cost, few]) => {
    const ratio = spreadOf(few.map((ms, round) => (most[cost]?.[round] ?? Number.NaN) / ms))
    const ms = grown.map(({ costs }) => spreadOf(costs[cost] ?? []))
    return { cost, ms, ratio, isMet: ratio.median <= ratioMax }
  })
}

function figuresOf({ sizes, lines }: Report): Figure[] {
  const [few, most] = [sizes[0], sizes.at(-1)].map((one) => one?.deposits.toLocaleString('en'))
  return lines.map(({ cost, ratio, isMet }) => ({
    bench: '',
    what: `${cost}: ${most} deposits x ${few}`,
    target: `at most ${ratioMax}`,
    measured: spreadText(ratio, 2),
    isMet,
  }))
}

function textOf({ machine, servers, settings, sizes, lines }: Report): string {
  const heads = sizes.map(({ deposits }) => deposits.toLocaleString('en'))
  const gigabytes = sizes.map(({ bytes }) => `${(bytes / 1e9).toFixed(1)} GB`)
  return [
    ...machineLines(machine, [servers, settings]),
    '',
    'milliseconds: median (range) over the rounds; the ratio is that of the most deposits to the fewest',
    line('DEPOSITS', [...heads, 'RATIO']),
    line('database', gigabytes),
    ...lines.map(({ cost, ms, ratio }) =>
      line(cost, [...ms.map((spread) => spreadText(spread, 1)), spreadText(ratio, 2)]),
    ),
    '',
  ].join('\n')
}

function line(name: string, cells: readonly string[]): string {
  return `${name.padEnd(36)}${cells.map((cell) => cell.padStart(24)).join('')}`
}
