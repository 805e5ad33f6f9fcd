import { randomInt } from 'node:crypto'
import { sql } from 'kysely'
import { sealBooks } from '../../src/jobs/books/seal-books.ts'
import { freePort, loopback } from '../../src/sandbox/free-port.ts'
import { createApiToken } from '../../src/store/api-tokens.ts'
import { type Database, inTransaction } from '../../src/store/database.ts'
import type { Tables } from '../../src/store/tables.ts'
import type { Ground } from '../ground.ts'
import { prepareEach, send } from '../intake/load.ts'
import { sendPaced } from '../journey/send-paced.ts'
import {
  activateRules,
  type ClaimWebhook,
  type Journey,
  startJourney,
  untilApplied,
} from '../journey/start-journey.ts'
import { madeTransaction, monthOf, storeDeposits } from '../scrape/store-deposits.ts'
import { quantile } from '../statistics.ts'
import {
  countOfAll,
  type Histogram,
  quantileOf,
  readHistogram,
  shareWithin,
  since,
} from './read-histogram.ts'
import { type ReadTarget, startReads } from './send-reads.ts'

/** What reads took, in milliseconds: by the histogram of the daemon, and by the clock of the caller. */
export type ReadTimes = {
  count: number
  within20: number
  serverP50: number
  serverP99: number
  callerP99: number
}

/** One turn of the four arms: webhooks at an even pace and as fast as they are answered, each alone and beside reads. */
export type ReadRound = {
  pacedPerSecond: { alone: number; beside: number }
  fullPerSecond: { alone: number; beside: number }
  paced: ReadTimes
  full: ReadTimes
}

export type ReadSettings = {
  rounds: number
  deposits: number
  perSecond: number
  webhooks: number
  readsPerSecond: number
  secret: string
}

const connections = 64
const call = 'GET /v1/deposits'

/**
 * Arms take turns over one database, with the same number of webhooks each. A worker applies them meanwhile, and has done so
 * before the next arm begins.
 * @throws where a webhook is not kept once, or a read does not find its deposit
 */
export async function measureReads(
  ground: Ground,
  settings: ReadSettings,
  progress: (text: string) => void,
): Promise<ReadRound[]> {
  const { rounds, deposits, webhooks: perArm, secret } = settings
  await using stack = new AsyncDisposableStack()
  const database = await ground.database('read')
  const apiPort = await freePort()
  const environment = { API_HOST: loopback, API_PORT: String(apiPort) }
  await activateRules(ground, { database, secret, environment })
  await storeDeposits(database.db, monthOf(deposits), progress)
  const { rows: sealed } = await sealBooks(database.db, null)
  progress(`${sealed} rows are sealed\n`)
  await sql`vacuum analyze`.execute(database.db)
  const all = 4 * (rounds + 1) * perArm
  const journey = await startJourney(ground, { database, deposits: all, secret, environment }, stack)
  const target = await openTarget(database.db, `http://${loopback}:${apiPort}`, settings)
  const arm = createArms({ journey, target, settings })
  const results: ReadRound[] = []
  for (let round = 0; round <= rounds; round++) {
    const [pacedAlone, pacedBeside] = [await arm('paced', 'alone'), await arm('paced', 'beside')]
    const [fullAlone, fullBeside] = [await arm('full', 'alone'), await arm('full', 'beside')]
    const one = {
      pacedPerSecond: { alone: pacedAlone.perSecond, beside: pacedBeside.perSecond },
      fullPerSecond: { alone: fullAlone.perSecond, beside: fullBeside.perSecond },
      paced: timesOf(pacedBeside),
      full: timesOf(fullBeside),
    }
    progress(
      `round ${round}: reads p99 ${one.paced.serverP99.toFixed(1)} ms; webhooks/s ${Math.round(fullAlone.perSecond)} alone, ${Math.round(fullBeside.perSecond)} beside reads\n`,
    )
    // The first round is not counted: all are warm after it.
    if (round > 0) results.push(one)
  }
  await checkKept(database.db, journey.webhooks)
  return results
}

async function openTarget(
  db: Database<Tables>,
  url: string,
  { deposits, readsPerSecond: perSecond }: ReadSettings,
): Promise<ReadTarget> {
  const wanted = {
    name: 'bench',
    scopes: ['read_deposits'],
    services: null,
    owners: null,
    by: 'bench',
  } as const
  const { token } = await inTransaction(db, (tx) => createApiToken(tx, wanted))
  // The first deposit is that of the made books, and has no transaction.
  const nextTransaction = () =>
    madeTransaction(randomInt(2) === 0 ? 'pay' : 'forward', randomInt(2, deposits + 1))
  return { url, token, perSecond, nextTransaction }
}

type ArmParts = { journey: Journey; target: ReadTarget; settings: ReadSettings }
type ArmTimes = { perSecond: number; callerMs: number[]; server: Histogram }

/** Each arm takes the next webhooks. */
function createArms({ journey, target, settings }: ArmParts) {
  const { db, http, settle } = journey
  const { perSecond, webhooks: perArm, secret } = settings
  let taken = 0
  const sendAll = {
    paced: async (webhooks: readonly ClaimWebhook[]) => {
      const startedAt = performance.now()
      await sendPaced(http.webhookUrl, webhooks, { perSecond, secret, began: settle })
      return (1000 * webhooks.length) / (performance.now() - startedAt)
    },
    full: async (webhooks: readonly ClaimWebhook[]) => {
      const bodies = webhooks.map(({ id, body }) => ({ id, body: body.toString() }))
      const requests = prepareEach(bodies, { url: http.webhookUrl, secret })
      const sent = await send(http.webhookUrl, requests, { connections, secondsMax: 600 })
      if (sent.statuses.get('202') !== webhooks.length)
        throw new Error(`webhooks were answered ${[...sent.statuses].join(' ')}`)
      return sent.count / sent.seconds
    },
  }
  const read = () => readHistogram(http.metricsUrl, 'depositd_api_request_seconds', call)
  return async (pace: 'paced' | 'full', reads: 'alone' | 'beside'): Promise<ArmTimes> => {
    const webhooks = journey.webhooks.slice(taken, taken + perArm)
    taken += perArm
    const before = await read()
    const reading = reads === 'alone' ? null : startReads(target)
    const reached = await sendAll[pace](webhooks)
    const callerMs = (await reading?.stop()) ?? []
    const server = since(before, await read())
    await untilApplied(db)
    return { perSecond: reached, callerMs, server }
  }
}

function timesOf({ server, callerMs }: ArmTimes): ReadTimes {
  if (countOfAll(server) !== callerMs.length)
    throw new Error(`the daemon counts ${countOfAll(server)} of ${callerMs.length} reads`)
  return {
    count: callerMs.length,
    within20: shareWithin(server, 0.02),
    serverP50: 1000 * quantileOf(server, 0.5),
    serverP99: 1000 * quantileOf(server, 0.99),
    callerP99: quantile(callerMs, 0.99),
  }
}

async function checkKept(db: Database<Tables>, webhooks: readonly ClaimWebhook[]): Promise<void> {
  const { rows } = await sql<{ kept: number; claimed: number }>`
    select (select count(*)::int from inbox where source = 'webhook' and source_key = any(${webhooks.map(({ id }) => id)})) as kept,
      (select count(*)::int from deposit where service_id = any(${webhooks.map(({ record }) => record.id)})) as claimed`.execute(
    db,
  )
  const { kept, claimed } = rows[0] ?? { kept: 0, claimed: 0 }
  if (kept !== webhooks.length || claimed !== webhooks.length)
    throw new Error(`of ${webhooks.length} webhooks, ${kept} are kept and ${claimed} applied`)
}
