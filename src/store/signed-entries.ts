import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { OwnerEntry } from '../core/address-book.ts'
import type { JsonValue } from '../people/decision.ts'
import type { AddressEnd } from './address-ends.ts'
import { asTable } from './database.ts'
import { placeColumns, placesOf } from './owners.ts'
import type { Tables } from './tables.ts'

/**
 * What the address book lacks of these entries, in the form in which people sign it: owners with their forwards, and
 * addresses. A recipient has no owner.
 */
export async function missingEntries(
  db: Kysely<Tables>,
  entries: readonly OwnerEntry[],
): Promise<JsonValue[]> {
  const owners = entries.map(({ owner, forward }) => ({ ...owner, forward }))
  const { rows } = await sql<{ entry: JsonValue }>`
    select jsonb_build_object('owner', kind || '/' || id, 'forward', forward) as entry
    from ${asTable('entry', owners, 'kind text, id text, forward jsonb')}
    where (kind, id) not in (select kind, id from owner)
    union all
    (select distinct on (network, address, role) ${entryOfText(sql`"validFrom"`)}
    from ${asTable('place', entries.flatMap(placesOf), placeColumns)}
    where (network, address, role) not in (select network, address, role from address_book)
    order by network, address, role, kind, id)`.execute(db)
  return rows.map(({ entry }) => entry)
}

/** Of an address, in the text that people sign. */
export function entryOfText(
  validFrom: RawBuilder<unknown>,
  [kind, id] = [sql`kind`, sql`id`],
): RawBuilder<unknown> {
  return sql`jsonb_build_object('owner', ${kind} || '/' || ${id}, 'network', network, 'address', address, 'role', role,
    'valid_from', to_char(${validFrom} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))`
}

/** Of `endAddresses`, before it. */
export async function addressesToEnd(
  db: Kysely<Tables>,
  { owner, network, until }: Pick<AddressEnd, 'owner' | 'network' | 'until'>,
): Promise<JsonValue[]> {
  const { rows } = await sql<{ end: JsonValue }>`
    select ${endOfText(sql`${until}::timestamptz`)} as end from address_book b
    where b.owner_kind = ${owner.kind} and b.owner_id = ${owner.id}
      and (${network}::text is null or network = ${network})
    order by network, address`.execute(db)
  return rows.map(({ end }) => end)
}

/** Of the entry `b`, in the text that people sign. */
export function endOfText(until: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`jsonb_build_object('owner', b.owner_kind || '/' || b.owner_id, 'network', b.network, 'address', b.address,
    'until', to_char(${until} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))`
}
