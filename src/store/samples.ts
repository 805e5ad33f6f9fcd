import { type Kysely, sql } from 'kysely'
import type { Tables } from './tables.ts'

/** A webhook or a record as stored. */
export type Sample = { headers: Record<string, string>; body: Buffer; receivedAt: Date }

/** The newest messages of a source, oldest first. */
export async function newestSamples(
  db: Kysely<Tables>,
  source: 'webhook' | 'api',
  limit: number,
): Promise<Sample[]> {
  const { rows } = await sql<Sample>`
    select headers, body, received_at as "receivedAt" from inbox
    where source = ${source} order by id desc limit ${limit}`.execute(db)
  return rows.toReversed()
}

/**
 * The newest deliveries that failed verification, in turns by client, so that no client hides the others; oldest first.
 */
export async function newestQuarantined(
  db: Kysely<Tables>,
  limit: number,
): Promise<(Sample & { source: string })[]> {
  const { rows } = await sql<Sample & { source: string }>`
    select headers, body, received_at as "receivedAt", source from quarantine
    where id in (
      select id from (
        select id, row_number() over (partition by source order by id desc) as turn from quarantine
      ) as turns order by turn, id desc limit ${limit}
    ) order by id`.execute(db)
  return rows
}

/** The address book as sets. Addresses are in the spelling used for comparisons. */
export type AddressBookSets = {
  depositAddresses: ReadonlySet<string>
  recipients: ReadonlySet<string>
  owners: ReadonlyMap<string, 'channel' | 'stable_wallet'>
}

export async function knownPlaces(db: Kysely<Tables>): Promise<AddressBookSets> {
  const places = await db.selectFrom('address_book').select(['role', 'address']).distinct().execute()
  const owners = await db.selectFrom('owner').select(['kind', 'id']).execute()
  const at = (role: 'deposit' | 'recipient') =>
    new Set(places.filter((place) => place.role === role).map(({ address }) => address))
  return {
    depositAddresses: at('deposit'),
    recipients: at('recipient'),
    owners: new Map(owners.map(({ id, kind }) => [id, kind])),
  }
}
