import { appendChainTransfers } from '../../src/store/chain/chain-transfers.ts'
import { type Database, inTransaction } from '../../src/store/database.ts'
import type { NewInboxRow } from '../../src/store/inbox.ts'
import type { Tables } from '../../src/store/tables.ts'
import { until } from '../../test/support/until.ts'
import type { Ground } from '../ground.ts'
import { backlog, type Message } from '../reconcile/backlog.ts'
import { countOf } from '../reconcile/hold-invariants.ts'
import { keepOwnersOf } from '../reconcile/store-backlog.ts'
import { type Places, type Running, startProcess } from './daemons.ts'
import { type ListedRecord, startListedService } from './service.ts'

/** Daemons that run as in production, and deposits that were paid and delivered, and that no source has claimed. */
export type Journey = {
  db: Database<Tables>
  http: Running
  /** Each claims one of the deposits. */
  webhooks: readonly ClaimWebhook[]
  /** The service lists the record from that time on, in milliseconds since 1970. */
  settle: (webhook: ClaimWebhook, at: number) => void
}

export type ClaimWebhook = { id: string; body: Buffer; record: ListedRecord }

type JourneySettings = {
  database: { url: string; db: Database<Tables> }
  deposits: number
  secret: string
  environment?: Readonly<Record<string, string>>
}

const chainTransfersAtOnce = 400
const withinMs = 600_000

/** On an empty database: a process that finds other rules active, or none, decides everything stored again. */
export async function activateRules(
  ground: Ground,
  settings: Omit<JourneySettings, 'deposits'>,
): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const service = stack.use(await startListedService())
  await up(await startProcess(placesOf(ground, settings, service.url), 'worker'), stack)
}

/** One process with the role `http`, and one with `worker` and `scheduler`; they end with the stack. */
export async function startJourney(
  ground: Ground,
  settings: JourneySettings,
  stack: AsyncDisposableStack,
): Promise<Journey> {
  const { db } = settings.database
  const service = stack.use(await startListedService())
  const { webhooks, chainTransfers } = makeDeposits(settings.deposits)
  await keepOwnersOf(db)
  for (let from = 0; from < chainTransfers.length; from += chainTransfersAtOnce)
    await inTransaction(db, (tx) =>
      appendChainTransfers(tx, chainTransfers.slice(from, from + chainTransfersAtOnce)),
    )
  const places = placesOf(ground, settings, service.url)
  const http = await up(await startProcess(places, 'http'), stack)
  await up(await startProcess(places, 'worker,scheduler'), stack)
  await untilApplied(db)
  return {
    db,
    http,
    webhooks,
    settle: ({ record }, at) => service.settle({ ...record, updated_at: new Date(at).toISOString() }),
  }
}

function placesOf(
  { folder, redisUrl }: Ground,
  { database, secret, environment }: Omit<JourneySettings, 'deposits'>,
  serviceUrl: string,
): Places {
  return { folder, databaseUrl: database.url, queueUrl: `${redisUrl}/1`, serviceUrl, secret, environment }
}

export async function untilApplied(db: Database<Tables>): Promise<void> {
  await until(
    'all rows are applied',
    async () => ((await countOf(db, 'inbox_pending')) === 0 ? true : null),
    withinMs,
  )
}

/** Until so many journals were booked. They alone are counted, so that this takes little of the machine. */
export async function untilBooked(db: Database<Tables>, journals: number): Promise<void> {
  await until(
    'all webhooks are booked',
    async () => ((await countOf(db, 'ledger_journal')) >= journals ? true : null),
    withinMs,
  )
}

async function up(daemon: Running, stack: AsyncDisposableStack): Promise<Running> {
  stack.defer(() => daemon.kill())
  await daemon.untilUp()
  return daemon
}

function makeDeposits(count: number) {
  const messages = [...backlog(count)]
  const rows = messages.filter((one): one is NewInboxRow => 'sourceKey' in one)
  const webhooks = rows
    .filter(({ source }) => source === 'webhook')
    .map(({ sourceKey, body }): ClaimWebhook => {
      const { data } = JSON.parse(body.toString()) as { data: ListedRecord }
      return { id: sourceKey, body, record: data }
    })
  return {
    webhooks,
    chainTransfers: messages.filter((one): one is Exclude<Message, NewInboxRow> => 'kind' in one),
  }
}
