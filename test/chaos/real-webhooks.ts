import { Client } from 'pg'
import { transfersPath } from '../../src/intake/server.ts'
import { signStandardWebhook } from '../support/sign-webhook.ts'
import type { ChaosWorld, PaidDeposit } from './world.ts'

/** An event as the service sends it. */
export type RealEvent = { id: string; body: string; type: string }

/** All that the service has to tell of these payments, in the order in which it came about. */
export async function eventsOf(
  { serviceDatabaseUrl }: ChaosWorld,
  paid: readonly PaidDeposit[],
): Promise<RealEvent[]> {
  const client = new Client({ connectionString: serviceDatabaseUrl })
  await client.connect()
  try {
    const { rows } = await client.query<RealEvent>(
      `select event.id, event.body, event.type from service.event join service.deposit on deposit.id = deposit_id
       where transaction = any($1) order by event.sequence`,
      [paid.map(({ tx }) => tx)],
    )
    return rows
  } finally {
    await client.end()
  }
}

type Sending = { id: string; body: string; at?: Date }

/** Signs a webhook as the service does, as of now, and sends it to wherever the service sends its own. */
export async function sendReal(
  { intake }: Pick<ChaosWorld, 'intake'>,
  { id, body: text, at = new Date() }: Sending,
): Promise<number> {
  const body = Buffer.from(text)
  const headers = {
    'content-type': 'application/json',
    ...signStandardWebhook({ secret: intake.secret, id, body, at }),
  }
  const url = new URL(transfersPath, intake.url)
  const response = await fetch(url, { method: 'POST', headers, body })
  await response.arrayBuffer()
  return response.status
}
