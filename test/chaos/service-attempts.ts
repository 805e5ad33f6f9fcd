import { Client } from 'pg'
import type { ChaosWorld } from './world.ts'

/** One attempt of the service to deliver a webhook; `status` is null where it was not answered. */
export type ServiceAttempt = { id: string; status: number | null }

/** The service's clock, by which its attempts are asked for. */
export async function serviceNow(world: ChaosWorld): Promise<Date> {
  const [row] = await ask<{ now: Date }>(world, 'select clock_timestamp() as now', [])
  return row?.now ?? new Date(0)
}

/** What the service has sent since then, and how it was answered, as it logged that itself. */
export function attemptsSince(world: ChaosWorld, since: Date): Promise<ServiceAttempt[]> {
  return ask<ServiceAttempt>(
    world,
    'select event_id as id, status_code as status from service.delivery_attempt where started_at >= $1',
    [since],
  )
}

async function ask<Row extends object>(
  { serviceDatabaseUrl }: ChaosWorld,
  text: string,
  values: unknown[],
): Promise<Row[]> {
  const client = new Client({ connectionString: serviceDatabaseUrl })
  await client.connect()
  try {
    return (await client.query<Row>(text, values)).rows
  } finally {
    await client.end()
  }
}
