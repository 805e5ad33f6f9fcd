import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import type { ChaosNetwork, PaidDeposit } from './world.ts'

/** What is looked at to see whether anything is still to be done; all of it past the proxies. */
export type Looked = {
  databaseUrl: string
  serviceDatabaseUrl: string
  networks: readonly ChaosNetwork[]
  paid: () => readonly PaidDeposit[]
}

const withinMs = 300_000
/** Looking costs those who are looked at, too. */
const lookEveryMs = 250
/** Deadlines of the policy are an hour away or more; what is due before is work. */
const dueWithin = '5 minutes'

/**
 * Waits until every payment is settled by the service and explained in the books, all that the service told was taken
 * in, every network is read as far as it was final when the waiting began, and nothing waits to be applied.
 */
export async function untilAtRest(looked: Looked): Promise<void> {
  const deadline = performance.now() + withinMs
  const heights = await Promise.all(looked.networks.map(finalHeight))
  for (;;) {
    const open = await stillOpen(looked, heights)
    if (open.length === 0) return
    if (performance.now() > deadline)
      throw new Error(`not at rest within ${withinMs / 1000} s: ${open.join(', ')}`)
    await sleep(lookEveryMs)
  }
}

/** In words, nothing where all is done. The service comes first: what it has not told yet the books cannot have. */
async function stillOpen(looked: Looked, heights: readonly Height[]): Promise<string[]> {
  const transactions = looked.paid().map(({ tx }) => tx)
  const service = await numbers(looked.serviceDatabaseUrl, openAtService, [transactions])
  if (service.length > 0) return service
  return [
    ...(await numbers(looked.databaseUrl, openInBooks, [transactions])),
    ...(await numbers(looked.databaseUrl, unreadHeights, [JSON.stringify(heights)])),
  ]
}

const openAtService = `
  select 'payments that the service has not settled' as what, count(*)::integer as number
  from unnest($1::text[]) as paid (tx) where not exists (
    select from service.deposit where transaction = tx and status in ('settled', 'credited', 'refunded', 'failed'))
  union all
  select 'forwards under way', count(*) from service.transfer where outcome is null and kind in ('forward', 'extra')
  union all
  select 'webhooks not delivered', count(*) from service.delivery where status = 'pending'`

const openInBooks = `
  select 'payments that no deposit explains' as what, count(*)::integer as number
  from unnest($1::text[]) as paid (tx) where not exists (
    select from deposit where deposit.tx = paid.tx and merged_into is null and (state in ('reconciled', 'ignored')
      or exists (select from mismatch where deposit_id = deposit.id and cleared_at is null)))
  union all
  select 'inbox rows not applied', count(*) from inbox_pending
  union all
  select 'groups due', count(*) from evidence_group where recheck_at < now() + interval '${dueWithin}'`

const unreadHeights = `
  select 'heights not read: ' || string_agg(name, ' ') as what, count(*)::integer as number
  from jsonb_to_recordset($1::jsonb) as final (name text, height numeric) where not exists (
    select from stream where stream.name = 'scan/' || final.name and (cursor #>> '{final,height}')::numeric >= final.height)`

type Height = { name: string; height: string }

async function finalHeight({ name, url }: ChaosNetwork): Promise<Height> {
  if (name === 'solana') {
    const slot = await call<number>(url, 'getSlot', [{ commitment: 'finalized' }])
    return { name, height: slot.toString() }
  }
  const block = await call<{ number: string }>(url, 'eth_getBlockByNumber', ['finalized', false])
  return { name, height: BigInt(block.number).toString() }
}

async function call<Result>(url: string, method: string, params: readonly unknown[]): Promise<Result> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { result } = (await response.json()) as { result: Result }
  return result
}

/** A connection for each look: a server that was killed takes those from before with it. */
async function numbers(url: string, text: string, values: readonly unknown[]): Promise<string[]> {
  const client = new Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  try {
    const { rows } = await client.query<{ what: string; number: number }>(text, [...values])
    return rows.filter(({ number }) => number > 0).map(({ what, number }) => `${number} ${what}`)
  } finally {
    await client.end()
  }
}

/** What the service still has to send it sends now, as a person would have it do, and not after its pauses of minutes. */
export async function sendWaitingNow(serviceDatabaseUrl: string): Promise<void> {
  const client = new Client({ connectionString: serviceDatabaseUrl })
  await client.connect()
  try {
    await client.query(`
      update service.delivery set next_at = now() where status = 'pending' and next_at > now();
      update service.webhook_endpoint set resume_at = null where resume_at is not null`)
  } finally {
    await client.end()
  }
}
