import {
  assertSchemaCompatibility,
  DEFAULT_SCHEMA,
  LATEST_SCHEMA_VERSION,
  runMigrations,
  SchemaMigrationRequiredError,
  SchemaVersionMismatchError,
} from 'bullmq'
import { Client } from 'pg'

/** `version`: the newest migration. `unusable`: needs a newer major version of BullMQ. */
export type QueueSchema =
  | { kind: 'missing' }
  | { kind: 'at'; version: number }
  | { kind: 'unusable'; version: number }

type QueueSchemaClient = Parameters<typeof assertSchemaCompatibility>[0]

/** Read-only: a user who may not create schemas can use one that is up to date. */
export async function readQueueSchema(client: QueueSchemaClient): Promise<QueueSchema> {
  try {
    return { kind: 'at', version: await assertSchemaCompatibility(client) }
  } catch (error) {
    if (error instanceof SchemaMigrationRequiredError) return { kind: 'missing' }
    if (error instanceof SchemaVersionMismatchError)
      return { kind: 'unusable', version: error.minimumClientVersion }
    throw error
  }
}

/** Null if a queue can use it. */
export function schemaProblem(schema: QueueSchema): string | null {
  if (schema.kind === 'missing') return `the schema ${DEFAULT_SCHEMA} is missing`
  if (schema.kind === 'unusable') return newerProblem(schema.version)
  if (schema.version >= LATEST_SCHEMA_VERSION) return null
  return `the schema ${DEFAULT_SCHEMA} is at ${schema.version}; this version needs ${LATEST_SCHEMA_VERSION}`
}

function newerProblem(version: number): string {
  return `the schema ${DEFAULT_SCHEMA} was created by a newer version of depositd and needs BullMQ ${version}`
}

export function schemaWarning(schema: QueueSchema): string | null {
  if (schema.kind !== 'at' || schema.version <= LATEST_SCHEMA_VERSION) return null
  return `the schema ${DEFAULT_SCHEMA} is at ${schema.version}; this version knows only ${LATEST_SCHEMA_VERSION}`
}

/** Missing schema, table or function. */
const absent: readonly unknown[] = ['3F000', '42P01', '42883']

export function isSchemaLost(error: unknown): boolean {
  return error instanceof Error && 'code' in error && absent.includes(error.code)
}

/** Allows everything BullMQ does once its tables exist. On a server of its own, these roles do not exist. */
const grants = `
  do $$ begin
    if to_regrole('depositd_daemon') is not null then
      grant usage on schema ${DEFAULT_SCHEMA} to depositd_daemon;
      grant select, insert, update, delete on all tables in schema ${DEFAULT_SCHEMA} to depositd_daemon;
      revoke insert, update, delete on ${DEFAULT_SCHEMA}.migration from depositd_daemon;
      grant usage on all sequences in schema ${DEFAULT_SCHEMA} to depositd_daemon;
    end if;
    if to_regrole('depositd_backup') is not null then
      grant usage on schema ${DEFAULT_SCHEMA} to depositd_backup;
      grant select on all tables in schema ${DEFAULT_SCHEMA} to depositd_backup;
      grant select on all sequences in schema ${DEFAULT_SCHEMA} to depositd_backup;
    end if;
  end $$`

/** In addition to BullMQ's lock for migrations: concurrent grants fail on each other. */
const lock = `select pg_advisory_lock(hashtext('depositd prepares ${DEFAULT_SCHEMA}'))`

/** `mayMake`: the user of the URL may create it. */
export type QueueSchemaLook = { schema: QueueSchema; mayMake: boolean }

/** Read-only. */
export function lookAtQueueSchema(url: string): Promise<QueueSchemaLook> {
  return withClient({ url, applicationName: 'depositd doctor', queryTimeoutMs: 5000 }, async (client) => {
    const schema = await readQueueSchema(client)
    const { rows } = await client.query<{ may: boolean }>(
      `select coalesce(has_schema_privilege(to_regnamespace('${DEFAULT_SCHEMA}'), 'create'),
        has_database_privilege(current_database(), 'create')) as may`,
    )
    return { schema, mayMake: rows[0]?.may ?? false }
  })
}

type QueueSchemaOptions = {
  url: string
  name: string
  /** A hanging server must not block a start for ever; concurrent starts run one after the other. */
  queryTimeoutMs?: number
}

/**
 * Runs as the owner of the database, for daemons that are not. Also creates the sequence, which the first job would
 * otherwise create and only the owner may.
 */
export function prepareQueueSchema({
  url,
  name,
  queryTimeoutMs = 60_000,
}: QueueSchemaOptions): Promise<void> {
  return withClient({ url, applicationName: 'depositd migrate', queryTimeoutMs }, async (client) => {
    // The lock ends with the connection.
    await client.query(lock)
    const schema = await readQueueSchema(client)
    if (schema.kind === 'unusable') throw new Error(newerProblem(schema.version))
    await runMigrations(client)
    await client.query(`select ${DEFAULT_SCHEMA}.next_job_id($1)`, [name])
    await client.query(grants)
  })
}

type QueueClientOptions = { url: string; applicationName: string; queryTimeoutMs: number }

async function withClient<Result>(
  { url, applicationName, queryTimeoutMs }: QueueClientOptions,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const client = new Client({
    connectionString: url,
    application_name: applicationName,
    connectionTimeoutMillis: 5000,
    keepAlive: true,
    query_timeout: queryTimeoutMs,
    statement_timeout: queryTimeoutMs,
    idle_in_transaction_session_timeout: queryTimeoutMs,
  })
  // The failing query reports a broken connection.
  client.on('error', () => undefined)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
