import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { type RawBuilder, sql } from 'kysely'
import { openSecretVault } from '../../src/outbox/secret-vault.ts'
import { makeSecret } from '../../src/outbox/signing-key.ts'
import { type Database, inTransaction } from '../../src/store/database.ts'
import { createEventEndpoint, endpointVaultPurpose } from '../../src/store/event-endpoints.ts'
import type { Tables } from '../../src/store/tables.ts'
import { until } from '../../test/support/until.ts'
import type { Ground } from '../ground.ts'
import { type Quantiles, quantilesOf } from '../journey/measure-latency.ts'
import { sendPaced } from '../journey/send-paced.ts'
import { type ClaimWebhook, type Journey, startJourney, untilApplied } from '../journey/start-journey.ts'
import { holdInvariants } from '../reconcile/hold-invariants.ts'
import type { Arrival, EventRange, ReceiverMessage } from './receive.ts'

/** One turn of both arms. Milliseconds from the commit of a journal to the arrival of the event that it proves. */
export type DeliveryRound = {
  /** Deposits that are reconciled a second while webhooks come as fast as they are answered. */
  saturated: number
  /** Deposits a second of the other arm. */
  perSecond: number
  eventsPerSecond: number
  delivered: Quantiles
  /** Until the event has its number, after which it is sent. */
  numbered: Quantiles
  /** Of the first arm: until an event arrives, the endpoint has a backlog. */
  saturatedDelivered: Quantiles
}

export type DeliverySettings = { rounds: number; deposits: number; perSecondMin: number; secret: string }

const withinMs = 600_000

/**
 * Deposits are claimed by webhooks as fast as the daemon answers, then at half the rate at which they were applied. An
 * endpoint receives all events.
 * @throws where an event is missing, comes twice, or names no journal, or where a deposit is not booked once
 */
export async function measureDelivery(
  ground: Ground,
  { rounds, deposits, perSecondMin, secret }: DeliverySettings,
  progress: (text: string) => void,
): Promise<DeliveryRound[]> {
  await using stack = new AsyncDisposableStack()
  const database = await ground.database('delivered')
  const eventsKey = randomBytes(32)
  const all = 2 * (rounds + 1) * deposits
  const environment = { EVENTS_KEY: eventsKey.toString('base64') }
  const journey = await startJourney(ground, { database, deposits: all, secret, environment }, stack)
  progress(`${all} payments and deliveries are applied\n`)
  const receiver = await startReceiver(journey.db, eventsKey, stack)
  const run = { journey, receiver, secret }
  const results: DeliveryRound[] = []
  for (let round = 0; round <= rounds; round++) {
    const [first, second] = [2 * round, 2 * round + 1].map((arm) =>
      journey.webhooks.slice(arm * deposits, (arm + 1) * deposits),
    )
    const fast = await deliver(run, first ?? [], Number.POSITIVE_INFINITY)
    const perSecond = Math.max(perSecondMin, fast.perSecond / 2)
    const paced = await deliver(run, second ?? [], perSecond)
    const { delivered, numbered, eventsPerSecond } = paced
    progress(
      `round ${round}: ${Math.round(fast.perSecond)} deposits/s at most; at ${Math.round(perSecond)}/s, ${Math.round(eventsPerSecond)} events/s: p50 ${delivered.p50.toFixed(0)} ms, p99 ${delivered.p99.toFixed(0)} ms, numbered p99 ${numbered.p99.toFixed(0)} ms\n`,
    )
    // The first round is not counted: all are warm after it.
    if (round > 0)
      results.push({
        saturated: fast.perSecond,
        perSecond,
        eventsPerSecond,
        delivered,
        numbered,
        saturatedDelivered: fast.delivered,
      })
  }
  await holdInvariants(journey.db, 'delivery', all)
  return results
}

type Receiver = { arrivalsOf: (range: EventRange) => Promise<Arrival[]> }

async function startReceiver(
  db: Database<Tables>,
  eventsKey: Buffer,
  stack: AsyncDisposableStack,
): Promise<Receiver> {
  const secret = makeSecret('v1')
  const child = fork(join(import.meta.dirname, 'receive.ts'), [secret])
  stack.defer(() => void child.kill())
  const { url } = (await messageOf(child)) as { url: string }
  await untilNone(db, sql`event_pending`)
  const endpoint = { name: 'bench', url, payload: 'full', types: null, services: null, owners: null } as const
  const vault = openSecretVault(eventsKey, endpointVaultPurpose)
  await inTransaction(db, (tx) => createEventEndpoint(tx, vault, { ...endpoint, secret, by: 'bench' }))
  return {
    async arrivalsOf(range) {
      const answered = messageOf(child)
      child.send(range)
      return ((await answered) as { arrivals: Arrival[] }).arrivals
    },
  }
}

async function messageOf(child: ChildProcess): Promise<ReceiverMessage> {
  const [message] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([status]) => Promise.reject(new Error(`the receiver ended with ${status}`))),
  ])) as [ReceiverMessage]
  return message
}

type DeliveryRun = { journey: Journey; receiver: Receiver; secret: string }

async function deliver(
  { journey, receiver, secret }: DeliveryRun,
  webhooks: readonly ClaimWebhook[],
  perSecond: number,
) {
  const { db, http, settle } = journey
  const [reconciledBefore, from] = [await countReconciled(db), await newestEvent(db)]
  const startedAt = Date.now()
  await sendPaced(http.webhookUrl, webhooks, { perSecond, secret, began: settle })
  const reconciled = reconciledBefore + webhooks.length
  const isDone = async () => ((await countReconciled(db)) >= reconciled ? true : null)
  await until('all deposits are reconciled', isDone, withinMs)
  await untilApplied(db)
  const range = { from, to: await untilDelivered(db) }
  const arrivals = await receiver.arrivalsOf(range)
  checkSequence(arrivals, range)
  const steps = await stepsOf(db, arrivals)
  if (steps.length < webhooks.length) throw new Error('a deposit was reconciled without an event')
  const lastCommit = Math.max(...steps.map(({ committedAt }) => committedAt))
  const lastArrival = Math.max(...arrivals.map(({ at }) => at))
  return {
    perSecond: (1000 * webhooks.length) / (lastCommit - startedAt),
    eventsPerSecond: (1000 * arrivals.length) / (lastArrival - startedAt),
    numbered: quantilesOf(steps.map(({ numberedAt, committedAt }) => numberedAt - committedAt)),
    delivered: quantilesOf(steps.map(({ arrivedAt, committedAt }) => arrivedAt - committedAt)),
  }
}

/** @throws unless each number came once */
function checkSequence(arrivals: readonly Arrival[], { from, to }: EventRange): void {
  const numbers = new Set(arrivals.map(({ sequence }) => sequence))
  const expected = Array.from({ length: to - from }, (_, place) => from + place + 1)
  if (arrivals.length !== expected.length || !expected.every((number) => numbers.has(number)))
    throw new Error(`${arrivals.length} events arrived of those from ${from + 1} to ${to}`)
}

/** In milliseconds since 1970. */
type DeliveryStep = { committedAt: number; numberedAt: number; arrivedAt: number }

/** Of the events that a journal proves. @throws where it does not exist */
async function stepsOf(db: Database<Tables>, arrivals: readonly Arrival[]): Promise<DeliveryStep[]> {
  const proved = arrivals.filter(({ journal }) => journal !== null)
  const { rows } = await sql<DeliveryStep>`
    select extract(epoch from pg_xact_commit_timestamp(j.xmin))::float8 * 1000 as "committedAt",
      extract(epoch from pg_xact_commit_timestamp(e.xmin))::float8 * 1000 as "numberedAt", arrived.at as "arrivedAt"
    from unnest(${proved.map(({ sequence }) => sequence)}::bigint[], ${proved.map(({ journal }) => journal)}::bigint[],
        ${proved.map(({ at }) => at)}::float8[]) as arrived (sequence, journal, at)
      join event e using (sequence) join ledger_journal j on j.id = arrived.journal`.execute(db)
  if (rows.length < proved.length) throw new Error('the journal of an event does not exist')
  return rows
}

/** A journal that was reversed and booked again counts once. */
async function countReconciled(db: Database<Tables>): Promise<number> {
  const { rows } = await sql<{
    count: number
  }>`select count(*)::int as count from deposit where state = 'reconciled'`.execute(db)
  return rows[0]?.count ?? 0
}

async function newestEvent(db: Database<Tables>): Promise<number> {
  const { rows } = await sql<{
    newest: number
  }>`select coalesce(max(sequence), 0)::int as newest from event`.execute(db)
  return rows[0]?.newest ?? 0
}

/** Until each event of now has its number, and the endpoint has it. @returns the number of the last one */
async function untilDelivered(db: Database<Tables>): Promise<number> {
  await untilNone(db, sql`event_pending`)
  const newest = await newestEvent(db)
  await untilNone(db, sql`event_endpoint where position < ${newest}`)
  await untilNone(db, sql`event_delivery where sequence <= ${newest}`)
  return newest
}

function untilNone(db: Database<Tables>, wanted: RawBuilder<unknown>): Promise<true> {
  const rows = sql<{ none: boolean }>`select not exists (select from ${wanted}) as none`
  const isDone = async () => ((await rows.execute(db)).rows[0]?.none ? true : null)
  return until('all events are delivered', isDone, withinMs)
}
