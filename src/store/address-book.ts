import { type Insertable, type Kysely, sql, type Transaction } from 'kysely'
import type { Address, Asset, AssetKey, NetworkName } from '../core/asset.ts'
import { Fault } from '../core/errors.ts'
import type { Owner } from '../core/evidence.ts'
import { inTransaction } from './database.ts'
import type { Tables } from './tables.ts'

export type OwnerEntry = {
  owner: Owner
  deposits: readonly { network: NetworkName; address: Address }[]
  forward: { network: NetworkName; asset: string; recipient: Address } | null
}

/**
 * Keeps a channel or wallet with its addresses. Saying the same again changes nothing; a network may come to it.
 * @throws Fault `usage_bad` where an owner of that id, or an address, is already known otherwise.
 */
export async function saveOwner(db: Kysely<Tables>, { owner, deposits, forward }: OwnerEntry): Promise<void> {
  const target = {
    forward_network: forward?.network ?? null,
    forward_asset: forward?.asset ?? null,
    forward_recipient: forward?.recipient ?? null,
  }
  const addresses = deposits.map((place) => ({
    ...place,
    role: 'deposit' as const,
    owner_kind: owner.kind,
    owner_id: owner.id,
  }))
  await inTransaction(db, async (tx) => {
    await insertNew(tx, { ...owner, ...target }, [
      ...addresses,
      ...(forward === null ? [] : [recipientEntry(forward)]),
    ])
    const { rows } = await sql`
      with said as (
        select * from unnest(${deposits.map(({ network }) => network)}::text[],
          ${deposits.map(({ address }) => address)}::text[]) as said (network, address)
      ), kept as (
        select network, address from address_book where owner_kind = ${owner.kind} and owner_id = ${owner.id}
      )
      select 1 from owner where kind = ${owner.kind} and id = ${owner.id}
        and forward_network is not distinct from ${target.forward_network}
        and forward_asset is not distinct from ${target.forward_asset}
        and forward_recipient is not distinct from ${target.forward_recipient}
        and not exists (select from said where (network, address) not in (select network, address from kept))
        and not exists (select from said join kept using (network) where said.address <> kept.address)`.execute(
      tx,
    )
    if (rows.length > 0) return recheckUnknown(tx, deposits)
    throw new Fault('usage_bad', {
      problem: `${owner.kind} ${owner.id}, or one of its addresses, is already known otherwise`,
      mend: 'choose another id',
    })
  })
}

/** What was reported to these addresses before they were known is decided again. */
async function recheckUnknown(tx: Transaction<Tables>, deposits: OwnerEntry['deposits']): Promise<void> {
  await sql`
    update evidence_group set recheck_at = now() where id in (
      select group_id from mismatch where kind = 'unknown_address' and cleared_at is null
        and (detail ->> 'network', detail ->> 'address') in (
          select * from unnest(${deposits.map(({ network }) => network)}::text[],
            ${deposits.map(({ address }) => address)}::text[])
        )
    )`.execute(tx)
}

async function insertNew(
  tx: Transaction<Tables>,
  owner: Insertable<Tables['owner']>,
  book: readonly Insertable<Tables['address_book']>[],
): Promise<void> {
  await tx
    .insertInto('owner')
    .values(owner)
    .onConflict((conflict) => conflict.columns(['kind', 'id']).doNothing())
    .execute()
  await tx
    .insertInto('address_book')
    .values(book)
    .onConflict((conflict) => conflict.columns(['network', 'address', 'role']).doNothing())
    .execute()
}

function recipientEntry({ network, recipient }: { network: NetworkName; recipient: Address }) {
  return { network, address: recipient, role: 'recipient' as const, owner_kind: null, owner_id: null }
}

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

/**
 * Pins the assets of the settings.
 * @throws Fault `settings_bad` where one was pinned with other decimals before: amounts already kept would change.
 */
export async function pinAssets(db: Kysely<Tables>, assets: readonly Asset[]): Promise<void> {
  const { rows } = await sql<{ key: AssetKey; decimals: number; pinned: number }>`
    with wanted as (
      select * from unnest(
        ${assets.map(({ key }) => key)}::text[], ${assets.map(({ network }) => network)}::text[],
        ${assets.map(({ symbol }) => symbol)}::text[], ${assets.map(({ decimals }) => decimals)}::smallint[]
      ) as wanted (key, network, symbol, decimals)
    ), added as (
      insert into asset (key, network, symbol, decimals) select key, network, symbol, decimals from wanted
      on conflict (key) do update set symbol = excluded.symbol where asset.symbol <> excluded.symbol
    )
    select wanted.key, wanted.decimals, asset.decimals as pinned
    from wanted join asset using (key) where asset.decimals <> wanted.decimals`.execute(db)
  if (rows.length === 0) return
  throw new Fault('settings_bad', {
    faults: rows.map(
      ({ key, decimals, pinned }) =>
        `asset ${key} has ${decimals} decimals in the settings and ${pinned} in the database`,
    ),
  })
}

export type OwnerLine = { id: string; network: string; address: string; forward: string }

/** One line per deposit address. */
export async function listOwners(
  db: Kysely<Tables>,
  { kind, limit }: { kind: Owner['kind']; limit: number },
): Promise<OwnerLine[]> {
  const { rows } = await sql<OwnerLine>`
    select o.id, b.network, b.address,
      coalesce(o.forward_asset || ' on ' || o.forward_network || ' to ' || o.forward_recipient, '') as forward
    from owner o join address_book b on b.owner_kind = o.kind and b.owner_id = o.id
    where o.kind = ${kind} order by o.id, b.network limit ${limit}`.execute(db)
  return rows
}
