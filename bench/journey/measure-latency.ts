import { sql } from 'kysely'
import type { Database } from '../../src/store/database.ts'
import type { Tables } from '../../src/store/tables.ts'
import type { Ground } from '../ground.ts'
import { countOf, holdInvariants, journalsOfDeposit } from '../reconcile/hold-invariants.ts'
import { quantile } from '../statistics.ts'
import { sendPaced } from './send-paced.ts'
import { startJourney, untilApplied, untilBooked } from './start-journey.ts'

/** Milliseconds from when webhooks were due to be sent to the commit of what was booked. */
export type LatencyRound = { perSecond: number; booked: Quantiles; reconciled: Quantiles }
export type Quantiles = { p50: number; p99: number; max: number }

export type LatencySettings = { rounds: number; perSecond: number; seconds: number; secret: string }

type Progress = (text: string) => void

/**
 * The payments and deliveries are stored and applied, and nobody has claimed them. Then webhooks come at an even pace:
 * each completes what is needed to book its payment, and makes the daemon read the record, which books the delivery.
 * @throws where a deposit does not have each of its journals once at the end
 */
export async function measureLatency(
  ground: Ground,
  settings: LatencySettings,
  progress: Progress,
): Promise<LatencyRound[]> {
  const { rounds, perSecond, seconds, secret } = settings
  await using stack = new AsyncDisposableStack()
  // The first round is not counted: all are warm after it.
  const perRound = Math.round(perSecond * seconds)
  const deposits = (rounds + 1) * perRound
  const database = await ground.database('journey')
  const { db, http, webhooks, settle } = await startJourney(ground, { database, deposits, secret }, stack)
  progress(`B7 ${deposits} payments and deliveries are applied\n`)
  const results: LatencyRound[] = []
  for (let round = 0; round <= rounds; round++) {
    const sent = webhooks.slice(round * perRound, (round + 1) * perRound)
    const dueAt = new Map<string, number>()
    const bookedBefore = await countOf(db, 'ledger_journal')
    await sendPaced(http.webhookUrl, sent, {
      perSecond,
      secret,
      began(webhook, at) {
        dueAt.set(webhook.record.id, at)
        settle(webhook, at)
      },
    })
    const one = { perSecond, ...(await latenciesOf(db, { dueAt, bookedBefore })) }
    progress(
      `B7 round ${round}: ${perSecond}/s, booked p99 ${one.booked.p99.toFixed(0)} ms, reconciled p99 ${one.reconciled.p99.toFixed(0)} ms\n`,
    )
    if (round > 0) results.push(one)
  }
  await untilApplied(db)
  await holdInvariants(db, 'journey', webhooks.length)
  return results
}

type Commit = { service_id: string; kind: 'deposit' | 'settlement'; at: number }

/** Waits until all of them are booked whole. */
async function latenciesOf(
  db: Database<Tables>,
  { dueAt, bookedBefore }: { dueAt: ReadonlyMap<string, number>; bookedBefore: number },
): Promise<Pick<LatencyRound, 'booked' | 'reconciled'>> {
  await untilBooked(db, bookedBefore + journalsOfDeposit * dueAt.size)
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

export function quantilesOf(values: readonly number[]): Quantiles {
  return { p50: quantile(values, 0.5), p99: quantile(values, 0.99), max: Math.max(...values) }
}
