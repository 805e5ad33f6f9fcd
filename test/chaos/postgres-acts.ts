import type { Client } from 'pg'
import { until } from '../support/until.ts'
import type { ChaosWorld } from './world.ts'

/** As the daemon names its connections, whatever they are for. */
const ofDaemons = `application_name like 'depositd%' and pid <> pg_backend_pid()`

/** Holds back everything that would be appended to the inbox, until it is released or disposed of. */
export async function lockInbox(world: ChaosWorld) {
  const client = await world.connect()
  await client.query('begin')
  await client.query('lock table inbox in share row exclusive mode')
  const waiting = `from pg_stat_activity where ${ofDaemons} and wait_event_type = 'Lock'
    and query like '%insert into inbox %'`
  return {
    /** Until some statement that appends is held back. */
    untilWaiting: () =>
      until('a statement that appends to the inbox waits', async () => {
        // Within a transaction Postgres tells again and again what it told first.
        await client.query('select pg_stat_clear_snapshot()')
        const { rows } = await client.query(`select pid ${waiting}`)
        return rows.length > 0 ? rows : null
      }),
    /** Ends those statements, so that they never commit. */
    endWaiting: () => client.query(`select pg_terminate_backend(pid) ${waiting}`),
    release: () => client.end(),
    [Symbol.asyncDispose]: () => client.end(),
  }
}

/** Ends every connection of the daemons. @returns how many there were */
export async function endBackends(client: Client): Promise<number> {
  const { rows } = await client.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where ${ofDaemons}`,
  )
  return rows.length
}

export async function countBackends(client: Client): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity where ${ofDaemons}`,
  )
  return rows[0]?.count ?? 0
}

/** How many rows wait to be applied. */
export async function countPending(client: Client): Promise<number> {
  const { rows } = await client.query<{ count: number }>('select count(*)::int as count from inbox_pending')
  return rows[0]?.count ?? 0
}

/** Transactions of the daemons in which nothing happens. */
export async function countIdleTransactions(client: Client): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity where ${ofDaemons} and state like 'idle in transaction%'`,
  )
  return rows[0]?.count ?? 0
}
