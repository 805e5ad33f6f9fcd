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

/**
 * Makes the tables of the queue, or brings them up to date, as the owner of the database, for daemons that are not. The
 * first job of a queue would make a sequence of its own, which only the owner may: it is made here.
 */
export async function prepareQueueSchema({ url, name }: { url: string; name: string }): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await runMigrations(client)
    await client.query(`select ${DEFAULT_SCHEMA}.next_job_id($1)`, [name])
    await client.query(grants)
  } finally {
    await client.end()
  }
}
