import { DEFAULT_SCHEMA, runMigrations } from 'bullmq'
import { Client } from 'pg'

/** All that BullMQ does once its tables are there. It holds wake-ups only, so that nothing is lost with them. */
const grants = `
  grant usage on schema ${DEFAULT_SCHEMA} to depositd_daemon;
  grant select, insert, update, delete on all tables in schema ${DEFAULT_SCHEMA} to depositd_daemon;
  revoke insert, update, delete on ${DEFAULT_SCHEMA}.migration from depositd_daemon;
  grant usage on all sequences in schema ${DEFAULT_SCHEMA} to depositd_daemon;
  grant usage on schema ${DEFAULT_SCHEMA} to depositd_backup;
  grant select on all tables in schema ${DEFAULT_SCHEMA} to depositd_backup;
  grant select on all sequences in schema ${DEFAULT_SCHEMA} to depositd_backup`

/** Of the database, beside the one that BullMQ takes for its migrations alone: grants at once fail on each other. */
const lock = `select pg_advisory_lock(hashtext('depositd prepares ${DEFAULT_SCHEMA}'))`

type Asked = {
  url: string
  name: string
  /** A server that stands still must not keep a start waiting for ever; many that start at once take their turns. */
  queryTimeoutMs?: number
}

/**
 * Makes the tables of the queue, or brings them up to date, as the owner of the database, for daemons that are not. The
 * first job of a queue would make a sequence of its own, which only the owner may: it is made here.
 */
export async function prepareQueueSchema({ url, name, queryTimeoutMs = 60_000 }: Asked): Promise<void> {
  const client = new Client({
    connectionString: url,
    application_name: 'depositd migrate',
    connectionTimeoutMillis: 5000,
    keepAlive: true,
    query_timeout: queryTimeoutMs,
    statement_timeout: queryTimeoutMs,
    idle_in_transaction_session_timeout: queryTimeoutMs,
  })
  // A connection that breaks is told by the query that fails.
  client.on('error', () => undefined)
  await client.connect()
  try {
    await client.query(lock)
    await runMigrations(client)
    await client.query(`select ${DEFAULT_SCHEMA}.next_job_id($1)`, [name])
    await client.query(grants)
  } finally {
    // The lock ends with the connection.
    await client.end()
  }
}
