import { sql } from 'kysely'
import { appendChainTransfers } from '../../src/store/chain/chain-transfers.ts'
import { type Database, inTransaction } from '../../src/store/database.ts'
import type { NewInboxRow } from '../../src/store/inbox.ts'
import type { Tables } from '../../src/store/tables.ts'
import { until } from '../../test/support/until.ts'
import type { Ground } from '../ground.ts'
import { backlog, type Message } from '../reconcile/backlog.ts'
import { holdInvariants } from '../reconcile/hold-invariants.ts'
import { keepOwnersOf } from '../reconcile/store-backlog.ts'
import { quantile } from '../statistics.ts'
import { type Running, startProcess } from './daemons.ts'
import { sendPaced } from './send-paced.ts'
import { type ListedRecord, startListedService } from './service.ts'

/** Milliseconds from when webhooks were due to be sent to the commit of what was booked. */
export type LatencyRound = { perSecond: number; booked: Quantiles; reconciled: Quantiles }
export type Quantiles = { p50: number; p99: number; max: number }

export type LatencySettings = { rounds: number; perSecond: number; seconds: number; secret: string }

type Progress = (text: string) => void

const chainTransfersAtOnce = 400
const withinMs = 600_000

/**
 * The payments and deliveries are stored and applied, and nobody has claimed them. Then webhooks come at an even pace:
 * each completes what is needed to book its payment, and makes the daemon read the record, which books the delivery.
 * @throws where a deposit is not booked twice over, once each, at the end
 */
export async function measureLatency(
  ground: Ground,
  settings: LatencySettings,
  progress: Progress,
): Promise<LatencyRound[]> {
  const { rounds, perSecond, seconds, secret } = settings
  await using stack = new AsyncDisposableStack()
  const { url: databaseUrl, db } = await ground.database('journey')
  const service = stack.use(await startListedService())
  // The first round is not counted: all are warm after it.
  const perRound = Math.round(perSecond * seconds)
  const made = makeDeposits((rounds + 1) * perRound)
  await keepOwnersOf(db)
  for (let from = 0; from < made.chainTransfers.length; from += chainTransfersAtOnce)
    await inTransaction(db, (tx) =>
      appendChainTransfers(tx, made.chainTransfers.slice(from, from + chainTransfersAtOnce)),
    )
  const queueUrl = `${ground.redisUrl}/1`
  const places = { folder: ground.folder, databaseUrl, queueUrl, serviceUrl: service.url, secret }
  const http = await up(await startProcess(places, 'http'), stack)
  await up(await startProcess(places, 'worker,scheduler'), stack)
  await until(
    'all chain_transfers are applied',
    async () => ((await countOf(db, 'inbox_pending')) === 0 ? true : null),
    withinMs,
  )
  progress(`B7 ${made.chainTransfers.length} payments and deliveries are applied\n`)
  const results: LatencyRound[] = []
  for (let round = 0; round <= rounds; round++) {
    const sent = made.webhooks.slice(round * perRound, (round + 1) * perRound)
    const dueAt = new Map<string, number>()
    const bookedBefore = await countOf(db, 'ledger_journal')
    await sendPaced(http.webhookUrl, sent, {
      perSecond,
      secret,
      began({ record }, at) {
        dueAt.set(record.id, at)
        service.settle({ ...record, updated_at: new Date(at).toISOString() })
      },
    })
    const one = { perSecond, ...(await latenciesOf(db, { dueAt, bookedBefore })) }
    progress(
      `B7 round ${round}: ${perSecond}/s, booked p99 ${one.booked.p99.toFixed(0)} ms, reconciled p99 ${one.reconciled.p99.toFixed(0)} ms\n`,
    )
    if (round > 0) results.push(one)
  }
  await holdInvariants(db, 'journey', made.webhooks.length)
  return results
}

async function up(daemon: Running, stack: AsyncDisposableStack): Promise<Running> {
  stack.defer(() => daemon.kill())
  await daemon.untilUp()
  return daemon
}

type Reported = { id: string; body: Buffer; record: ListedRecord }

function makeDeposits(count: number) {
  const messages = [...backlog(count)]
  const rows = messages.filter((one): one is NewInboxRow => 'sourceKey' in one)
  const webhooks = rows
    .filter(({ source }) => source === 'webhook')
    .map(({ sourceKey, body }): Reported => {
      const { data } = JSON.parse(body.toString()) as { data: ListedRecord }
      return { id: sourceKey, body, record: data }
    })
  return {
    webhooks,
    chainTransfers: messages.filter((one): one is Exclude<Message, NewInboxRow> => 'kind' in one),
  }
}

type Commit = { service_id: string; kind: 'deposit' | 'settlement'; at: number }

/** Waits until all of them are booked whole. */
async function latenciesOf(
  db: Database<Tables>,
  { dueAt, bookedBefore }: { dueAt: ReadonlyMap<string, number>; bookedBefore: number },
): Promise<Pick<LatencyRound, 'booked' | 'reconciled'>> {
  // Counted alone until then: who looks on is to take little of the machine.
  await until(
    'what was told is booked',
    async () => ((await countOf(db, 'ledger_journal')) >= bookedBefore + 2 * dueAt.size ? true : null),
    withinMs,
  )
  const { rows: commits } = await sql<Commit>`
    select d.service_id, j.kind, extract(epoch from pg_xact_commit_timestamp(j.xmin))::float8 * 1000 as at
    from ledger_journal j join deposit d on d.id = j.deposit_id
    where d.service_id = any(${[...dueAt.keys()]})`.execute(db)
  const of = (wanted: Commit['kind']) =>
    quantilesOf(
      commits
        .filter(({ kind }) => kind === wanted)
        .map(({ service_id: id, at }) => at - (dueAt.get(id) ?? Number.NaN)),
    )
  return { booked: of('deposit'), reconciled: of('settlement') }
}

function quantilesOf(values: readonly number[]): Quantiles {
  return { p50: quantile(values, 0.5), p99: quantile(values, 0.99), max: Math.max(...values) }
}

async function countOf(db: Database<Tables>, table: 'inbox_pending' | 'ledger_journal'): Promise<number> {
  const { rows } = await sql<{
    count: number
  }>`select count(*)::int as count from ${sql.table(table)}`.execute(db)
  return rows[0]?.count ?? 0
}
