import type { Insertable } from 'kysely'
import { sql } from 'kysely'
import type { NetworkSettings } from '../chain/port.ts'
import type { Address } from '../core/asset.ts'
import { type Keyring, showAddress } from './keyring/keyring.ts'
import type { OwnerRow, ServiceDatabase, ServiceTables } from './tables.ts'

export type NewOwner = Omit<
  Insertable<ServiceTables['service.owner']>,
  'branch' | 'evm_address' | 'solana_address' | 'created_at'
>

export type DepositAddress = { network: string; address: string }

/** Gives a new owner its addresses, or returns the owner that has this id already: the caller compares. */
export async function keepOwner(db: ServiceDatabase, keyring: Keyring, wanted: NewOwner): Promise<OwnerRow> {
  const existing = await findOwner(db, wanted)
  if (existing !== undefined) return existing
  const { rows } = await sql<{ branch: number }>`select nextval('service.branch')::integer as branch`.execute(
    db,
  )
  const branch = rows[0]?.branch ?? 0
  const inserted = await db
    .insertInto('service.owner')
    .values({
      ...wanted,
      branch,
      evm_address: keyring.address('evm', branch),
      solana_address: keyring.address('solana', branch),
    })
    .onConflict((conflict) => conflict.columns(['kind', 'id']).doNothing())
    .returningAll()
    .executeTakeFirst()
  return inserted ?? (await keepOwner(db, keyring, wanted))
}

/** One address per network, in the order of the settings; EVM networks share one. */
export function depositAddresses(owner: OwnerRow, networks: readonly NetworkSettings[]): DepositAddress[] {
  return networks.map(({ name, family }) => ({
    network: name,
    address: showAddress(family, family === 'evm' ? owner.evm_address : owner.solana_address),
  }))
}

/** Every deposit address of a family. */
export async function watchedAddresses(
  db: ServiceDatabase,
  { family }: NetworkSettings,
): Promise<ReadonlySet<Address>> {
  const column = family === 'evm' ? 'evm_address' : 'solana_address'
  const rows = await db
    .selectFrom('service.owner')
    .select(column)
    .$castTo<Record<typeof column, Address>>()
    .execute()
  return new Set(rows.map((row) => row[column]))
}

function findOwner(db: ServiceDatabase, { kind, id }: NewOwner): Promise<OwnerRow | undefined> {
  return db
    .selectFrom('service.owner')
    .selectAll()
    .where('kind', '=', kind)
    .where('id', '=', id)
    .executeTakeFirst()
}
