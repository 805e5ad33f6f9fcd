import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeSecret } from '../../test/support/sign-webhook.ts'
import { prepare, send } from '../intake/load.ts'
import type { PostgresGround } from '../postgres-ground.ts'
import { processorMs, watchSessions } from './processor-time.ts'
import type { Scraped } from './serve.ts'
import { storeDeposits } from './store-deposits.ts'

export type ScrapeSettings = { rounds: number; deposits: number; everySeconds: number }

export type Measured = {
  /** Of the first scrape of the process, which finds nothing read. */
  firstMs: number
  bytes: number
  series: number
  /** Answer times, where nothing else happens and while webhooks come in as fast as they are answered. */
  idleMs: number[]
  loadedMs: number[]
  /** Processor time of the daemon and of Postgres together, for each scrape, beyond what both take without any. */
  processorMs: number
  webhooksPerSecond: number
}

/** Under load more scrapes are made than anybody makes, so that the slowest of them is seen. */
const loadedScrapesPerSecond = 4
const connections = 32
const database = 'scraped'
const bodyBytes = 512
const webhooksPerSecondMax = 8000

/** Scrapes a daemon over a database with so many deposits. @throws where a scrape tells other figures than are stored. */
export async function measureScrapes(
  ground: PostgresGround,
  settings: ScrapeSettings,
  progress: (text: string) => void,
): Promise<Measured> {
  const { rounds, deposits, everySeconds } = settings
  const { url, db } = await ground.database(database)
  await storeDeposits(db, deposits, progress)
  const secret = makeSecret()
  const { child, metricsUrl, webhookUrl } = await start(url, secret)
  try {
    const first = await scrape(metricsUrl)
    checkFigures(first.text, deposits)
    // A process that has just started is busy with itself.
    await sleep(everySeconds * 1000)
    const quiet = await processorMsDuring(child, () => sleep(rounds * everySeconds * 1000))
    const idleMs: number[] = []
    const scraped = await processorMsDuring(child, async () => {
      for (let round = 1; round <= rounds; round++) {
        await sleep(everySeconds * 1000)
        idleMs.push((await scrape(metricsUrl)).ms)
        progress(`scrape ${round}: ${idleMs.at(-1)?.toFixed(1)} ms\n`)
      }
    })
    progress(`processor time: ${quiet.toFixed(0)} ms without scrapes, ${scraped.toFixed(0)} ms with\n`)
    const loaded = await underLoad({ metricsUrl, webhookUrl, secret }, rounds * Math.min(1, everySeconds))
    return {
      firstMs: first.ms,
      bytes: first.text.length,
      series: first.text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length,
      idleMs,
      processorMs: Math.max(0, scraped - quiet) / rounds,
      ...loaded,
    }
  } finally {
    const exited = once(child, 'exit')
    child.disconnect()
    await exited
  }
}

async function start(databaseUrl: string, secret: string): Promise<Scraped & { child: ChildProcess }> {
  const child = fork(join(import.meta.dirname, 'serve.ts'), [JSON.stringify({ databaseUrl, secret })])
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
  const told = counts.reduce((sum, count) => sum + count, 0)
  if (told !== deposits) throw new Error(`${told} deposits are told, and ${deposits} stored`)
  const imbalance = /^depositd_ledger_imbalance\{.*\} (.+)$/m.exec(text)?.[1]
  if (imbalance !== '0') throw new Error(`the books are off by ${imbalance}`)
}

/** Processor time of the daemon and of its sessions while something is done. */
async function processorMsDuring({ pid = 0 }: ChildProcess, work: () => Promise<unknown>): Promise<number> {
  using sessions = watchSessions(database)
  const before = processorMs(pid)
  await work()
  return processorMs(pid) - before + sessions.taken()
}

async function underLoad(
  { metricsUrl, webhookUrl, secret }: Scraped & { secret: string },
  seconds: number,
): Promise<Pick<Measured, 'loadedMs' | 'webhooksPerSecond'>> {
  const count = Math.ceil(seconds * webhooksPerSecondMax)
  const requests = prepare({ url: webhookUrl, secret, prefix: 'load', count, bodyBytes })
  const sending = send(webhookUrl, requests, { connections, secondsMax: seconds })
  const loadedMs: number[] = []
  for (let number = 0; number < seconds * loadedScrapesPerSecond; number++) {
    await sleep(1000 / loadedScrapesPerSecond)
    loadedMs.push((await scrape(metricsUrl)).ms)
  }
  const sent = await sending
  return { loadedMs, webhooksPerSecond: sent.count / sent.seconds }
}
