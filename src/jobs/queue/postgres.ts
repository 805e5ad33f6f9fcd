import { createPostgresBackend, DEFAULT_SCHEMA, type PgPool, withBackend } from 'bullmq'
import { Pool } from 'pg'
import { Fault, isFault, messageOf } from '../../core/errors.ts'
import { isDenied } from '../../store/database-errors.ts'
import { within } from '../within.ts'
import {
  type Backend,
  CuttableWorker,
  countJobs,
  promoteFromFuture,
  type QueueSettings,
  queueOptions,
  runningWorker,
  type WakeData,
  wakeOf,
  wakeOptions,
  workerOptions,
} from './bullmq.ts'
import {
  isSchemaLost,
  prepareQueueSchema,
  type QueueSchema,
  readQueueSchema,
  schemaProblem,
  schemaWarning,
} from './schema.ts'

const { Queue: PostgresQueue } = withBackend(createPostgresBackend)

/** One for LISTEN; a second while a worker is being replaced. */
const connectionsMax = 6
/** The delay after a lost notification. An idle poll takes four small queries. */
const idlePollSeconds = 15

/**
 * All tables are in the schema `bullmq`, which is created, migrated, and recreated if it is lost.
 * @throws Fault `remote_failed` if Postgres does not answer or refuses
 */
export async function openPostgresQueue(configured: QueueSettings): Promise<Backend> {
  const settings = { ...configured, report: namingLoss(configured) }
  const { name, limits, report } = settings
  const pool = openPool(settings)
  const queue = await begin(pool, settings)
  const reportMissing = (error: unknown): never => {
    if (isFault(error, 'remote_failed')) report({ kind: 'schema_unusable', error })
    throw error
  }

  return {
    async add(wake) {
      await queue.add(wake.name, { key: wake.key }, wakeOptions(wake, settings)).catch(nameLoss)
    },
    counts: () => countJobs(queue).catch(nameLoss),
    async danger() {
      const schema = await readSchema(pool)
      const problem = schemaProblem(schema)
      if (problem !== null) throw schemaFault(problem)
      return schemaWarning(schema)
    },
    async keepUp() {
      const isMade = await prepareSchema(pool, settings).catch(reportMissing)
      if (isMade) report({ kind: 'schema_made' })
      await pool.query(boundLocks, [name, limits.lockMs])
      await promoteFromFuture(queue)
    },
    startWorker(runs, concurrency) {
      const paced = { ...workerOptions(limits), concurrency, drainDelay: idlePollSeconds }
      const options = { ...paced, connection: pool, autorun: false }
      const worker = new CuttableWorker(name, (job) => runs.run(wakeOf(job)), options, createPostgresBackend)
      // BullMQ keeps a failed start, and its loop would spin on it, so the worker is replaced.
      void worker
        .waitUntilReady()
        .then(() => worker.run())
        .catch((error: unknown) => report({ kind: 'connection_failed', error }))
      return runningWorker({ worker, runs, cut: () => worker.getBackend().close() }, settings)
    },
    async close() {
      await queue.close()
      await within(limits.stopTimeoutMs, 'closing the queue', pool.end())
    },
  }
}

/** Lock expiry and stalled checks use the clocks of the workers in Postgres. This bounds a fast clock. */
const boundLocks = `
  with clock as (select (extract(epoch from clock_timestamp()) * 1000)::bigint as now),
    lock as (
      update ${DEFAULT_SCHEMA}.job set locked_until_ms = now + $2::bigint from clock
      where queue = $1 and state = 'active' and locked_until_ms > now + $2::bigint + 60000
    )
  update ${DEFAULT_SCHEMA}.meta set value = now::text from clock
  where queue = $1 and field = 'stalled-check' and value::bigint > now + 60000`

function openPool({ url, limits }: QueueSettings): PgPool {
  const pool = new Pool({
    connectionString: url,
    max: connectionsMax,
    application_name: 'depositd queue',
    // A server crash may lose the last wake-ups, which the sweep recovers. Flushes would slow down the commits that
    // matter.
    options: `-c search_path=${DEFAULT_SCHEMA} -c synchronous_commit=off`,
    keepAlive: true,
    connectionTimeoutMillis: limits.answerTimeoutMs,
    query_timeout: limits.answerTimeoutMs,
    idleTimeoutMillis: 10_000,
  })
  // BullMQ does not listen on a connection in a transaction. The query reports its end.
  pool.on('connect', (client) => client.on('error', () => undefined))
  // BullMQ declares `pg` itself, with an overloaded `on` that does not match its types.
  return pool as unknown as PgPool
}

async function begin(pool: PgPool, settings: QueueSettings) {
  try {
    await prepareSchema(pool, settings)
    const queue = new PostgresQueue<WakeData>(settings.name, { ...queueOptions, connection: pool })
    queue.on('error', (error) => settings.report({ kind: 'connection_failed', error }))
    // BullMQ would keep a later failure, and take no wake-ups until a restart.
    await queue.waitUntilReady()
    return queue
  } catch (error) {
    await within(settings.limits.stopTimeoutMs, 'closing the queue', pool.end())
    if (isFault(error, 'remote_failed')) throw error
    const what = `connecting to QUEUE_URL (${new URL(settings.url).host})`
    throw new Fault('remote_failed', { what, problem: messageOf(error) }, { cause: error })
  }
}

/**
 * Resolves to whether the schema was created or migrated.
 * @throws Fault `remote_failed` if it cannot be used and the user may not change it
 */
async function prepareSchema(pool: PgPool, { url, name }: QueueSettings): Promise<boolean> {
  const schema = await readSchema(pool)
  const problem = schemaProblem(schema)
  if (problem === null) return false
  if (schema.kind === 'unusable') throw schemaFault(problem)
  await prepareQueueSchema({ url, name }).catch((error: unknown) => {
    throw schemaFault(isDenied(error) ? problem : `${problem}: ${messageOf(error)}`, error)
  })
  return true
}

async function readSchema(pool: PgPool): Promise<QueueSchema> {
  const client = await pool.connect()
  try {
    return await readQueueSchema(client)
  } finally {
    client.release()
  }
}

function schemaFault(problem: string, cause?: unknown): Fault<'remote_failed'> {
  const details = { what: 'the schema of the queue', problem: `${problem}; ${ownersWork}` }
  return new Fault('remote_failed', details, { cause })
}

const ownersWork =
  'a worker whose user owns the schema creates it automatically. Otherwise run "bin/depositd migrate" of this version with the DATABASE_URL of the owner, or, if the queue has its own server, start once with the QUEUE_URL of its owner'

/** Not dropped automatically: other programs may keep jobs in it. */
const lost = `the schema ${DEFAULT_SCHEMA} is missing or incomplete (if incomplete, drop it first: "drop schema ${DEFAULT_SCHEMA} cascade")`

/** Postgres names the function called, which differs each time. */
function nameLoss(error: unknown): never {
  throw isSchemaLost(error) ? schemaFault(lost, error) : error
}

function namingLoss({ report }: QueueSettings): QueueSettings['report'] {
  return (event) => {
    const isLost = event.kind === 'connection_failed' && isSchemaLost(event.error)
    report(isLost ? { kind: 'schema_unusable', error: schemaFault(lost, event.error) } : event)
  }
}
