import { Client } from 'pg'
import type { NetworkOfTruth, Range, TrueChain, Watched } from './chain.ts'
import { evmChain } from './evm.ts'
import { solanaChain } from './solana.ts'
import { readCursors, tablesOfTruth } from './tables.ts'

/** Where the truth is asked: past every proxy, as the owner of both databases. */
export type WorldFacts = {
  readonly databaseUrl: string
  /** Null where no service stands beside the books. */
  readonly serviceDatabaseUrl: string | null
  readonly networks: readonly NetworkOfTruth[]
}

/** Puts beside the books what the chains and the service hold now. It shares no code with the product. */
export async function storeTruth(
  client: Client,
  { serviceDatabaseUrl, networks }: WorldFacts,
): Promise<void> {
  await client.query(tablesOfTruth)
  await client.query(readCursors)
  for (const network of networks) {
    const watched = await readWatched(client, network.name)
    const chain =
      network.name === 'solana' ? solanaChain(network.url, watched) : evmChain(network.url, watched)
    await storeChain(client, watched, chain)
  }
  if (serviceDatabaseUrl !== null) await storeService(client, serviceDatabaseUrl)
}

async function readWatched(client: Client, network: string): Promise<Watched> {
  const { rows } = await client.query<{ addresses: string[]; contracts: string[] }>(
    `select array(select distinct address from address_book where network = $1 order by 1) as addresses,
      array(select substr(key, length(network) + 2) from asset where network = $1 order by 1) as contracts`,
    [network],
  )
  return { network, addresses: rows[0]?.addresses ?? [], contracts: rows[0]?.contracts ?? [] }
}

const heightsOfRange = 1000

/** Reads on from the newest block that is still of the chain. */
async function storeChain(client: Client, watched: Watched, chain: TrueChain): Promise<void> {
  const { network } = watched
  const { head, final } = await chain.ends()
  const from = await firstUnread(client, watched, chain)
  await client.query('delete from hold.block where network = $1 and height >= $2', [network, from])
  await client.query('delete from hold.paid where network = $1 and height >= $2', [network, from])
  for (let first = from; first <= head; first += heightsOfRange) {
    await storeRange(client, network, await chain.read(first, Math.min(first + heightsOfRange - 1, head)))
  }
  await client.query(
    `insert into hold.network values ($1, $2, $3, $4)
    on conflict (name) do update set watched = excluded.watched, head = excluded.head, final = excluded.final`,
    [network, wordOf(watched), head, final],
  )
}

function wordOf({ addresses, contracts }: Watched): string {
  return [...addresses, ...contracts].join()
}

async function firstUnread(client: Client, watched: Watched, chain: TrueChain): Promise<number> {
  const { rows } = await client.query<{ height: string; hash: string }>(
    `select height, hash from hold.block join hold.network on name = network
    where network = $1 and watched = $2 order by height desc`,
    [watched.network, wordOf(watched)],
  )
  for (const { height, hash } of rows) {
    if ((await chain.hashAt(Number(height))) === hash) return Number(height) + 1
  }
  return 0
}

async function storeRange(client: Client, network: string, { blocks, paid }: Range): Promise<void> {
  await client.query(
    `insert into hold.block select $1, height, hash, parent_hash
    from jsonb_to_recordset($2::jsonb) as block (height bigint, hash text, parent_hash text)`,
    [network, JSON.stringify(blocks)],
  )
  await client.query(
    `insert into hold.paid
    select $1, height, tx, concat_ws('/', $1::text, tx, index), address, $1 || '/' || contract, amount
    from jsonb_to_recordset($2::jsonb)
      as paid (height bigint, tx text, index text, address text, contract text, amount numeric)`,
    [network, JSON.stringify(paid)],
  )
}

/**
 * An attempt that was answered by 200 and no word is one that a fault of the service took out of the way: depositd
 * answers 202, and says what came of it. Endpoints that are not configured are those of others.
 */
const answered = `
  select distinct event_id as id from service.delivery_attempt
  join service.webhook_endpoint as endpoint on endpoint.id = endpoint_id
  where status_code between 200 and 299 and not (status_code = 200 and coalesce(answer, '') = '')
    and endpoint.configured`

async function storeService(client: Client, url: string): Promise<void> {
  const service = new Client({ connectionString: url })
  await service.connect()
  try {
    const events = (await service.query<{ id: string }>(answered)).rows.map(({ id }) => id)
    await client.query('insert into hold.answered select unnest($1::text[]) on conflict do nothing', [events])
  } finally {
    await service.end()
  }
}
