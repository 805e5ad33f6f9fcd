import { describeMachine, type Machine, machineLines } from '../machine.ts'
import { startPostgresGround } from '../postgres-ground.ts'
import type { Figure, Result } from '../result.ts'
import { quantile, type Spread, spreadOf, spreadText } from '../statistics.ts'
import { type Measured, measureScrapes } from './measure-scrapes.ts'
import { mismatchesPerThousand, openPerThousand } from './store-deposits.ts'

/** `scale` is the part of the whole that is measured; below a tenth, the time between scrapes is shorter too. */
type Settings = { rounds: number; scale: number; large: boolean }

const whole = 100_000
const everySeconds = 15
/** One part in a hundred of a core, at a scrape every 15 s. */
const targets = { answerMs: 100, processorMs: 150 }

type Report = {
  machine: Machine
  servers: Record<string, string>
  settings: Record<string, number>
  scrape: { firstMs: number; bytes: number; series: number }
  idleMs: Spread
  loadedMs: Spread & { p99: number; isMet: boolean }
  processorMs: { perScrape: number; shareOfCore: number; isMet: boolean }
  webhooksPerSecond: number
}

/** What a scrape costs over so many deposits, ten times as many where that is asked for. */
export async function runScrape({ rounds, scale, large }: Settings): Promise<Result> {
  await using stack = new AsyncDisposableStack()
  const stop = () => void stack.disposeAsync().finally(() => process.exit(1))
  process.once('SIGINT', stop).once('SIGTERM', stop)
  const ground = await startPostgresGround(stack)
  const machine = describeMachine(ground.folder, ['pg', 'prom-client'])
  const deposits = Math.round(whole * scale * (large ? 10 : 1))
  const settings = { rounds, deposits, everySeconds: everySeconds * Math.min(1, scale * 10) }
  const measured = await measureScrapes(ground, settings, (text) => void process.stderr.write(text))
  const report: Report = {
    machine,
    servers: await ground.settings(),
    settings: { ...settings, openPerThousand, mismatchesPerThousand },
    ...reported(measured, settings.everySeconds),
  }
  return { report, text: textOf(report), figures: figuresOf(report) }
}

function reported(
  { idleMs, loadedMs, processorMs, webhooksPerSecond, ...first }: Measured,
  every: number,
): Omit<Report, 'machine' | 'servers' | 'settings'> {
  return {
    scrape: first,
    idleMs: spreadOf(idleMs),
    loadedMs: {
      ...spreadOf(loadedMs),
      p99: quantile(loadedMs, 0.99),
      isMet: Math.max(...loadedMs) <= targets.answerMs,
    },
    processorMs: {
      perScrape: processorMs,
      shareOfCore: processorMs / (every * 1000),
      isMet: processorMs <= targets.processorMs,
    },
    webhooksPerSecond,
  }
}

function figuresOf({ loadedMs, processorMs }: Report): Figure[] {
  return [
    {
      bench: '',
      what: 'slowest answer to a scrape under load',
      target: `at most ${targets.answerMs} ms`,
      measured: `${loadedMs.max.toFixed(1)} ms`,
      isMet: loadedMs.isMet,
    },
    {
      bench: '',
      what: 'processor time of a scrape',
      target: `at most ${targets.processorMs} ms`,
      measured: `${processorMs.perScrape.toFixed(1)} ms`,
      isMet: processorMs.isMet,
    },
  ]
}

function textOf({ machine, servers, settings, scrape, ...report }: Report): string {
  const { idleMs, loadedMs, processorMs, webhooksPerSecond } = report
  const answer = `to be at most ${targets.answerMs} ms: ${loadedMs.isMet ? 'met' : 'MISSED'}`
  const cost = `to be at most ${targets.processorMs} ms: ${processorMs.isMet ? 'met' : 'MISSED'}`
  return [
    ...machineLines(machine, [servers, settings]),
    '',
    `scrape: ${scrape.series} series, ${scrape.bytes} bytes; the first took ${scrape.firstMs.toFixed(1)} ms`,
    `  idle        ${spreadText(idleMs, 1)} ms`,
    `  under load  ${spreadText(loadedMs, 1)} ms, 99 of 100 within ${loadedMs.p99.toFixed(1)} ms, beside ${Math.round(webhooksPerSecond)} webhooks/s; ${answer}`,
    `  processor   ${processorMs.perScrape.toFixed(1)} ms of both daemons and Postgres per scrape of each, ${(100 * processorMs.shareOfCore).toFixed(2)} % of a core; ${cost}`,
    '',
  ].join('\n')
}
