import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeSecret } from '../../test/support/sign-webhook.ts'
import { prepare, send } from '../intake/load.ts'
import type { PostgresGround } from '../postgres-ground.ts'
import { processorMs, watchSessions } from '../processor-time.ts'
import type { Scraped, ToServe } from './serve.ts'
import { monthOf, storeDeposits } from './store-deposits.ts'

export type ScrapeSettings = { rounds: number; deposits: number; everySeconds: number }

export type Measured = {
  /** Of the first scrape of the worker, which finds nothing read. */
  firstMs: number
  bytes: number
  series: number
  /** Answer times, where nothing else happens and while webhooks come in as fast as they are answered. */
  idleMs: number[]
  loadedMs: number[]
  /** Processor time of both daemons and Postgres together, for a scrape of each, beyond what all take without any. */
  processorMs: number
  webhooksPerSecond: number
}

/** Under load more scrapes are made than anybody makes, so that the slowest of them is seen. */
const loadedScrapesPerSecond = 4
const connections = 32
const database = 'scraped'
const bodyBytes = 512
const webhooksPerSecondMax = 8000

/**
 * Scrapes one daemon that takes webhooks and one that works, over a database with so many deposits.
 * @throws where a scrape tells other figures than are stored
 */
export async function measureScrapes(
  ground: PostgresGround,
  settings: ScrapeSettings,
  progress: (text: string) => void,
): Promise<Measured> {
  const { rounds, deposits, everySeconds } = settings
  const { url, db } = await ground.database(database)
  await storeDeposits(db, monthOf(deposits), progress)
  const secret = makeSecret()
  await using stack = new AsyncDisposableStack()
  const http = await startServed({ databaseUrl: url, secret, role: 'http' }, stack)
  const worker = await startServed({ databaseUrl: url, secret, role: 'worker' }, stack)
  const daemons = [http, worker]
  const first = await scrape(worker.metricsUrl)
  checkFigures(first.text, deposits)
  await scrape(http.metricsUrl)
  // A process that has just started is busy with itself.
  await sleep(everySeconds * 1000)
  const quiet = await processorMsDuring(daemons, () => sleep(rounds * everySeconds * 1000))
  const idleMs: number[] = []
  const scraped = await processorMsDuring(daemons, async () => {
    for (let round = 1; round <= rounds; round++) {
      await sleep(everySeconds * 1000)
      for (const { metricsUrl } of daemons) idleMs.push((await scrape(metricsUrl)).ms)
      const reported = idleMs.slice(-daemons.length).map((ms) => ms.toFixed(1))
      progress(`scrapes ${round}: ${reported.join(' and ')} ms\n`)
    }
  })
  progress(`processor time: ${quiet.toFixed(0)} ms without scrapes, ${scraped.toFixed(0)} ms with\n`)
  const loaded = await underLoad(
    { daemons, webhookUrl: http.webhookUrl, secret },
    rounds * Math.min(1, everySeconds),
  )
  return {
    firstMs: first.ms,
    bytes: first.text.length,
    series: first.text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length,
    idleMs,
    processorMs: Math.max(0, scraped - quiet) / rounds,
    ...loaded,
  }
}

type Daemon = Scraped & { child: ChildProcess }

/** It ends with the stack. */
export async function startServed(served: ToServe, stack: AsyncDisposableStack): Promise<Daemon> {
  const child = fork(join(import.meta.dirname, 'serve.ts'), [JSON.stringify(served)])
  stack.defer(async () => {
    if (child.exitCode !== null) return
    const exited = once(child, 'exit')
    child.disconnect()
    await exited
  })
  const [scraped] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([status]) => Promise.reject(new Error(`the daemon ended with ${status}`))),
  ])) as [Scraped]
  return { ...scraped, child }
}

async function scrape(url: string): Promise<{ ms: number; text: string }> {
  const startedAt = performance.now()
  const response = await fetch(url)
  const text = await response.text()
  if (!response.ok) throw new Error(`the scrape ended with ${response.status}`)
  return { ms: performance.now() - startedAt, text }
}

function checkFigures(text: string, deposits: number): void {
  const counts = [...text.matchAll(/^depositd_deposits\{.*\} (\d+)$/gm)].map(([, count]) => Number(count))
  const reported = counts.reduce((sum, count) => sum + count, 0)
  if (reported !== deposits) throw new Error(`${reported} deposits are told, and ${deposits} stored`)
  const imbalance = /^depositd_ledger_imbalance\{.*\} (.+)$/m.exec(text)?.[1]
  if (imbalance !== '0') throw new Error(`the books are off by ${imbalance}`)
}

/** Processor time of the daemons and of their sessions while something is done. */
async function processorMsDuring(daemons: readonly Daemon[], work: () => Promise<unknown>): Promise<number> {
  using sessions = watchSessions(database)
  const taken = () => daemons.reduce((sum, { child }) => sum + processorMs(child.pid ?? 0), 0)
  const before = taken()
  await work()
  return taken() - before + sessions.taken()
}

async function underLoad(
  { daemons, webhookUrl, secret }: { daemons: readonly Daemon[]; webhookUrl: string; secret: string },
  seconds: number,
): Promise<Pick<Measured, 'loadedMs' | 'webhooksPerSecond'>> {
  const count = Math.ceil(seconds * webhooksPerSecondMax)
  const requests = prepare({ url: webhookUrl, secret, prefix: 'load', count, bodyBytes })
  const sending = send(webhookUrl, requests, { connections, secondsMax: seconds })
  const loadedMs: number[] = []
  for (let number = 0; number < seconds * loadedScrapesPerSecond; number++) {
    await sleep(1000 / loadedScrapesPerSecond)
    for (const { metricsUrl } of daemons) loadedMs.push((await scrape(metricsUrl)).ms)
  }
  const sent = await sending
  return { loadedMs, webhooksPerSecond: sent.count / sent.seconds }
}
