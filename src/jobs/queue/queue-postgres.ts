import {
  assertSchemaCompatibility,
  createPostgresBackend,
  DEFAULT_SCHEMA,
  LATEST_SCHEMA_VERSION,
  type PgPool,
  runMigrations,
  SchemaMigrationRequiredError,
  withBackend,
} from 'bullmq'
import { Pool } from 'pg'
import { Fault, messageOf } from '../../core/errors.ts'
import { isDenied } from '../../store/denied.ts'
import { within } from '../within.ts'
import {
  CuttableWorker,
  countJobs,
  queueOptions,
  runningWorker,
  type WakeData,
  wakeOf,
  wakeOptions,
  workerOptions,
} from './queue-bullmq.ts'
import type { Backend, QueueSettings } from './queue-port.ts'

const { Queue: PostgresQueue } = withBackend(createPostgresBackend)

/** One stays with the worker for LISTEN; a worker that is being replaced holds a second one for a moment. */
const connectionsMax = 6
/** A lost notification costs this long at most; while nothing happens each look is four small queries. */
const idlePollSeconds = 15

/**
 * All tables live in the schema `bullmq` of that database; it is made or brought up to date here.
 * @throws Fault `remote_failed` where Postgres does not answer or refuses.
 */
export async function openPostgresQueue(settings: QueueSettings): Promise<Backend> {
  const { name, limits, report } = settings
  const pool = openPool(settings)
  await prepareSchema(pool, settings)
  const queue = new PostgresQueue<WakeData>(name, { ...queueOptions, connection: pool })
  queue.on('error', (error) => report({ kind: 'connection_failed', error }))

  return {
    async add(wake) {
      await queue.add(wake.name, { key: wake.key }, wakeOptions(wake, limits))
    },
    counts: () => countJobs(queue),
    danger: () => Promise.resolve(null),
    async catchUp() {
      await pool.query(boundTimes, [name, limits.lockMs])
      await queue.promoteJobs()
    },
    startWorker(runs, concurrency) {
      const options = { ...workerOptions(limits), connection: pool, concurrency, drainDelay: idlePollSeconds }
      const worker = new CuttableWorker(name, (job) => runs.run(wakeOf(job)), options, createPostgresBackend)
      return runningWorker({ worker, runs, cut: () => worker.getBackend().close() }, settings)
    },
    async close() {
      await queue.close()
      await within(limits.stopTimeoutMs, 'closing the queue', pool.end())
    },
  }
}

/** Here locks, and when it was last looked for those that ran out, are by the clocks of whoever works. */
const boundTimes = `
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
    // A crash of the server may take the last wake-ups with it, which the sweeper makes good; waiting for the
    // disk on every one would slow down the commits that matter.
    options: `-c search_path=${DEFAULT_SCHEMA} -c synchronous_commit=off`,
    keepAlive: true,
    connectionTimeoutMillis: limits.answerTimeoutMs,
    query_timeout: limits.answerTimeoutMs,
    idleTimeoutMillis: 10_000,
  })
  // BullMQ declares the part of `pg` it uses by itself, with an overloaded `on` that the types of `pg` do not match.
  return pool as unknown as PgPool
}

async function prepareSchema(pool: PgPool, { url, limits }: QueueSettings): Promise<void> {
  try {
    const client = await pool.connect()
    try {
      if ((await schemaVersion(client)) < LATEST_SCHEMA_VERSION) await runMigrations(client)
    } finally {
      client.release()
    }
  } catch (error) {
    await within(limits.stopTimeoutMs, 'closing the queue', pool.end())
    const what = `connecting to QUEUE_URL (${new URL(url).host})`
    const problem = isDenied(error) ? `${messageOf(error)}; ${ownersWork}` : messageOf(error)
    throw new Fault('remote_failed', { what, problem }, { cause: error })
  }
}

const ownersWork =
  'its tables are made by "depositd migrate", with the DATABASE_URL of the owner; on a server of its own the user of QUEUE_URL owns them'

/** Read first: a role without the right to create schemas can use a queue that is up to date. */
async function schemaVersion(client: Parameters<typeof assertSchemaCompatibility>[0]): Promise<number> {
  try {
    return await assertSchemaCompatibility(client)
  } catch (error) {
    if (error instanceof SchemaMigrationRequiredError) return 0
    throw error
  }
}
