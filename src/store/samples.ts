import { type Kysely, sql } from 'kysely'
import type { Tables } from './tables.ts'

/** A webhook or a record as it was kept. */
export type Sample = { headers: Record<string, string>; body: Buffer; receivedAt: Date }

/** The newest that a source said, the oldest of them first. */
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

/** The newest of each client that failed verification, in turns, so that none hides the others; the oldest first. */
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

/** What the address book holds, as sets: addresses are in the spelling used for comparing. */
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
