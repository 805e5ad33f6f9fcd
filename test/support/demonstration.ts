import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from 'pg'
import { stringify } from 'yaml'
import { connectAccountant } from './evaluate-dashboards.ts'
import { runDecided } from './people.ts'
import { type Prometheus, startPrometheus } from './prometheus.ts'
import { scrapeConfiguration } from './scrape-configuration.ts'
import { until } from './until.ts'
import { startWorld, type World, type WorldSettings } from './world.ts'

/** A world that is watched as the one of an operator is, from its first moment on. */
export type Demonstration = {
  world: World
  prometheus: Prometheus
  /** A connection as Grafana has one to the books. */
  accountant: Client
  startedAt: Date
}

/** How often Prometheus scrapes, and how often it evaluates. */
export const intervalSeconds = 2

const forward = {
  forwardNetwork: 'base',
  forwardAsset: 'USDC',
  forwardRecipient: '0x00000000000000000000000000000000000075a1',
}

/** How long a busy machine may take for one step. */
export const withinMs = 180_000

/** A channel that nobody pays into, for what is done to channels. */
export const vault = { id: 'vault', ...forward }

/** Only a webhook can become overdue: whatever a busy machine is late with is not severe. */
const policy = {
  webhookWithin: '20s',
  apiWithin: '1h',
  chainWithin: '1h',
  reportWithin: '1h',
  settlementWithin: '1h',
}

/** What an operator's daemon does by the hour is done while somebody waits. */
const schedule = { audit: '*/5 * * * * *', seal: '*/5 * * * * *', balances: '*/10 * * * * *' }

const sections = (webhookUrl: string) => ({
  schedule,
  /** Nobody waits here for a case to grow old. */
  alerts: { after: '0s' },
  canary: { url: webhookUrl, every: '5s' },
})

/** Where alerts link to. */
const addresses = {
  PUBLIC_URL: 'https://depositd.example',
  DASHBOARDS_URL: 'https://grafana.example',
  RUNBOOK_URL: 'https://docs.example/runbook.md',
}

export async function startDemonstration(
  { makeDatabase }: Pick<WorldSettings, 'makeDatabase'>,
  stack: AsyncDisposableStack,
): Promise<Demonstration> {
  const startedAt = new Date()
  const settings = {
    networks: ['base', 'solana'],
    channels: [vault],
    policy,
    sections,
    environment: addresses,
  }
  const world = await startWorld({ ...settings, ...(makeDatabase && { makeDatabase }) }, stack)
  const opsUrls = [world.daemon.opsUrl]
  const prometheus = await startPrometheus(scrapeConfiguration({ opsUrls, everySeconds: intervalSeconds }))
  stack.defer(() => prometheus.stop())
  const accountant = await connectAccountant(world.settings.databaseUrl)
  // A query tells where the connection is gone.
  accountant.on('error', () => undefined)
  stack.defer(() => accountant.end())
  return { world, prometheus, accountant, startedAt }
}

const payments = [
  { network: 'base', symbol: 'USDC', owner: 'shop', amount: '10' },
  { network: 'base', symbol: 'ETH', owner: 'payroll', amount: '0.01' },
  { network: 'solana', symbol: 'USDT', owner: 'shop', amount: '12.5' },
  { network: 'solana', symbol: 'SOL', owner: 'savings', amount: '0.5' },
  { network: 'base', symbol: 'USDT', owner: 'savings', amount: '7' },
  { network: 'solana', symbol: 'USDC', owner: 'payroll', amount: '25' },
]

/** Pays once in every asset, and returns once all of it is reconciled. */
export async function payHonestly({ world, prometheus }: Demonstration): Promise<void> {
  // A counter that is first scraped with its final value never grows, and the rates over it stay NaN.
  const isScraped = async (): Promise<true | null> =>
    (await prometheus.query('depositd_stage_lag_seconds_count')).length > 0 || null
  await until('Prometheus has scraped the counters before the first payment', isScraped, withinMs)
  const txs = await Promise.all(payments.map((payment) => world.pay(payment)))
  const areReconciled = async (): Promise<true | null> => {
    const rows = await world.db.selectFrom('deposit').select('state').where('tx', 'in', txs).execute()
    return (rows.length === txs.length && rows.every(({ state }) => state === 'reconciled')) || null
  }
  await until('every payment is reconciled', areReconciled, withinMs)
}

/** What accountants do: two people book what no evidence tells, in the month before, which is closed, and in this one. */
export async function keepBooks({ world, startedAt }: Demonstration): Promise<void> {
  const [year, month] = [startedAt.getUTCFullYear(), startedAt.getUTCMonth()]
  const before = new Date(Date.UTC(year, month - 1)).toISOString().slice(0, 7)
  const folder = await mkdtemp(join(tmpdir(), 'depositd-books-'))
  const file = join(folder, 'journal.yaml')
  const owed = { debit: 'assets:receivable:service', credit: 'liabilities:suspense' }
  const lost = { debit: 'expenses:write_off', credit: 'liabilities:suspense' }
  const lines = [owed, lost].map((line) => ({ ...line, asset: 'base/USDC', amount: '3' }))
  const book = async (date: string): Promise<void> => {
    await writeFile(file, stringify({ date, reason: 'What the bank says', lines }))
    await command(world, `ledger journal add ${file}`)
  }
  try {
    await book(`${before}-28`)
    await command(world, `ledger close ${before}`)
    await book(startedAt.toISOString().slice(0, 10))
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** Waits until Prometheus has all that depositd read after that time: what costs much is read now and then. */
export function untilShown({ prometheus }: Demonstration, since: Date): Promise<true> {
  const readAt = 'min(timestamp(depositd_gauges_age_seconds) - depositd_gauges_age_seconds)'
  const isShown = async (): Promise<true | null> => {
    const [oldest] = await prometheus.query(readAt)
    return (oldest?.samples[0]?.[1] ?? 0) > since.getTime() / 1000 || null
  }
  return until('all gauges were read since', isShown, withinMs)
}

async function command({ environment }: World, line: string): Promise<void> {
  const { status, err } = await runDecided(line, environment)
  if (status !== 0) throw new Error(`depositd ${line}: ${err}`)
}
