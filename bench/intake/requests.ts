import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { Queue } from 'bullmq'
import { sql } from 'kysely'
import type { Database } from '../../src/store/database.ts'
import type { Tables } from '../../src/store/tables.ts'
import { makeSecret } from '../../test/support/sign-webhook.ts'
import type { Ground } from '../ground.ts'
import { processorMs, watchSessions } from '../processor-time.ts'
import { quantile } from '../statistics.ts'
import { type Arm, armNames, queueName, type Serving } from './arms.ts'
import { prepare, type Sent, send } from './load.ts'

/**
 * Microseconds of processor time per request: of the process that answers, of the one that sends, and of the sessions
 * with Postgres. They tell what a machine of so many cores can do at the most, also where others keep it busy.
 */
export type ProcessorTime = { endpoint: number; load: number; sessions: number }

/** B1: requests per second and their latency, each arm in a process of its own. */
export type RequestRound = {
  arm: Arm
  perSecond: number
  p50Ms: number
  p99Ms: number
  processor: ProcessorTime
}

export type RequestSettings = {
  rounds: number
  warmUpRequests: number
  /** How long a round of one arm takes. */
  seconds: number
  connections: number
  bodyBytes: number
}

/** One arm while it is measured. */
type Running = { arm: Arm; url: string; process: ChildProcess; perSecond: number; sent: number }

const databases = { ours: 'bench_ours', insert: 'bench_insert' } as const

const requestsMax = 150_000
/** More are prepared than the last round would need, so that one that is faster does not run out. */
const reserve = 1.5

/**
 * Measures all arms in turns, so that whatever else the machine does meets them alike, and then holds what they kept
 * against what they answered.
 * @throws where a webhook that was answered is not kept: then nothing that was measured counts.
 */
export async function measureRequests(
  ground: Ground,
  settings: RequestSettings,
  progress: (text: string) => void,
): Promise<RequestRound[]> {
  const secret = makeSecret()
  const [ours, insert] = [await ground.database(databases.ours), await ground.database(databases.insert)]
  const running: Running[] = []
  const results: RequestRound[] = []
  try {
    for (const arm of armNames) {
      const databaseUrl = arm === 'insert' ? insert.url : ours.url
      running.push(await start({ arm, databaseUrl, redisUrl: ground.redisUrl, secret }))
    }
    for (const one of running) {
      one.perSecond = (
        await measure(one, { prefix: 'warm', count: settings.warmUpRequests, secret, settings })
      ).perSecond
    }
    for (let round = 1; round <= settings.rounds; round++) {
      for (const one of running) {
        const count = Math.min(requestsMax, Math.round(one.perSecond * settings.seconds * reserve))
        const result = await measure(one, { prefix: `round${round}`, count, secret, settings })
        progress(`B1 round ${round}, ${one.arm}: ${Math.round(result.perSecond)} requests/s\n`)
        one.perSecond = Math.max(one.perSecond, result.perSecond)
        results.push(result)
      }
    }
    await checkKept(running, { ours: ours.db, insert: insert.db, redisUrl: ground.redisUrl })
  } finally {
    for (const { process: child } of running) await stop(child)
  }
  return results
}

async function start(serving: Serving): Promise<Running> {
  const child = fork(join(import.meta.dirname, 'serve.ts'), [JSON.stringify(serving)])
  const [{ url }] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([status]) => Promise.reject(new Error(`${serving.arm} ended with ${status}`))),
  ])) as [{ url: string }]
  return { arm: serving.arm, url, process: child, perSecond: 0, sent: 0 }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const exited = once(child, 'exit')
  child.disconnect()
  await exited
}

type Round = { prefix: string; count: number; secret: string; settings: RequestSettings }

async function measure(running: Running, { prefix, count, secret, settings }: Round): Promise<RequestRound> {
  const { arm, url } = running
  const { bodyBytes, connections } = settings
  const requests = prepare({ url, secret, prefix: `${arm}_${prefix}`, count, bodyBytes })
  const { sent, processor } = await withProcessorTime(running, () =>
    send(url, requests, { connections, secondsMax: settings.seconds }),
  )
  const { latenciesMs, statuses } = sent
  const expected = arm === 'bare' ? '200' : '202'
  if (statuses.get(expected) !== sent.count || statuses.size !== 1)
    throw new Error(`${arm} did not answer ${expected} throughout: ${[...statuses].join(' ')}`)
  running.sent += sent.count
  return {
    arm,
    perSecond: sent.count / sent.seconds,
    p50Ms: quantile(latenciesMs, 0.5),
    p99Ms: quantile(latenciesMs, 0.99),
    processor,
  }
}

async function withProcessorTime({ process: { pid = 0 }, arm }: Running, work: () => Promise<Sent>) {
  // They last as long as the arm does.
  using sessions = watchSessions(databases[arm === 'insert' ? 'insert' : 'ours'], 60_000)
  const [endpointBefore, loadBefore] = [processorMs(pid), processorMs(process.pid)]
  const sent = await work()
  const perRequest = (milliseconds: number) => (1000 * milliseconds) / sent.count
  const processor: ProcessorTime = {
    endpoint: perRequest(processorMs(pid) - endpointBefore),
    load: perRequest(processorMs(process.pid) - loadBefore),
    sessions: perRequest(sessions.taken()),
  }
  return { sent, processor }
}

type Stores = { ours: Database<Tables>; insert: Database<Tables>; redisUrl: string }

async function checkKept(running: readonly Running[], { ours, insert, redisUrl }: Stores): Promise<void> {
  const { hostname, port } = new URL(redisUrl)
  const queue = new Queue(queueName, { connection: { host: hostname, port: Number(port) } })
  const kept: Partial<Record<Arm, number>> = {
    ours: await countRows(ours, 'inbox join inbox_pending on inbox_id = id'),
    insert: await countRows(insert, 'inbox'),
    queue: await queue.count(),
  }
  await queue.close()
  for (const { arm, sent } of running) {
    const count = kept[arm]
    if (count !== undefined && count !== sent)
      throw new Error(`${arm} answered ${sent} webhooks with 202 and kept ${count}`)
  }
}

/** Rows whose key is the id that their body has: nothing was lost, and nothing mixed up. */
async function countRows(db: Database<Tables>, from: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from ${sql.raw(from)}
    where convert_from(body, 'utf8')::jsonb ->> 'id' = source_key`.execute(db)
  return rows[0]?.count ?? 0
}
