import type { Client } from 'pg'
import { connectAccountant } from './evaluate-dashboards.ts'
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

/** A channel that nobody pays into, for what is done to channels. */
export const vault = {
  id: 'vault',
  forwardNetwork: 'base',
  forwardAsset: 'USDC',
  forwardRecipient: '0x00000000000000000000000000000000000075a1',
}

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

export async function startDemonstration(
  { makeDatabase }: Pick<WorldSettings, 'makeDatabase'>,
  stack: AsyncDisposableStack,
): Promise<Demonstration> {
  const startedAt = new Date()
  const settings = { networks: ['base', 'solana'], channels: [vault], policy, schedule }
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
export async function payHonestly({ world }: Demonstration): Promise<void> {
  const txs = await Promise.all(payments.map((payment) => world.pay(payment)))
  await until('every payment is reconciled', async () => {
    const rows = await world.db.selectFrom('deposit').select('state').where('tx', 'in', txs).execute()
    return (rows.length === txs.length && rows.every(({ state }) => state === 'reconciled')) || null
  })
}
