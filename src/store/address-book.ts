import type { Kysely } from 'kysely'
import type { Address, NetworkName } from '../core/asset.ts'
import type { Tables } from './tables.ts'

export type WatchedAddress = { address: Address; role: 'deposit' | 'recipient' }

/** Every address whose incoming transfers count on that network, with what it is watched as. */
export async function watchedAddresses(db: Kysely<Tables>, network: NetworkName): Promise<WatchedAddress[]> {
  const rows = await db
    .selectFrom('address_book')
    .select(['address', 'role'])
    .where('network', '=', network)
    .orderBy('address')
    .execute()
  return rows.map(({ address, role }) => ({ address: address as Address, role }))
}
