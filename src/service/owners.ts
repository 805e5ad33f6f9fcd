import { sql } from 'kysely'
import type { Address, NetworkSettings } from '../core/asset.ts'
import { type Keyring, liquidityBranch, showAddress } from './keyring/keyring.ts'
import type { OwnerKind, ServiceDatabase, ServiceOwnerRow } from './tables.ts'

/** The rule is null for a StableWallet. */
export type NewOwner = Pick<
  ServiceOwnerRow,
  'kind' | 'id' | 'forward_network' | 'forward_asset' | 'forward_recipient'
>

export type OwnerDepositAddress = { network: string; address: string }

/** `own_address`: forwards to the recipient would become new deposits. */
export type OwnerOutcome = { kind: 'found'; owner: ServiceOwnerRow } | { kind: 'own_address' }

export type Owners = {
  findOrCreate(requested: NewOwner): Promise<OwnerOutcome>
  isOwnAddress(address: Address): Promise<boolean>
}

export function openOwners(db: ServiceDatabase, keyring: Keyring): Owners {
  const branches = openBranches(db)
  const liquidity = new Set<string>([
    keyring.address('evm', liquidityBranch),
    keyring.address('solana', liquidityBranch),
  ])
  const isOwnAddress = async (address: Address): Promise<boolean> =>
    liquidity.has(address) || (await isDepositAddress(db, address))
  const findOrCreate = async (requested: NewOwner): Promise<OwnerOutcome> => {
    const { forward_recipient: recipient } = requested
    if (recipient !== null && liquidity.has(recipient)) return { kind: 'own_address' }
    const owner = await findOrInsert({ db, keyring, branches }, requested)
    if (owner !== undefined) return { kind: 'found', owner }
    if (recipient !== null && (await isDepositAddress(db, recipient))) return { kind: 'own_address' }
    // A concurrent insert took the id.
    return findOrCreate(requested)
  }
  return { findOrCreate, isOwnAddress }
}

export function findOwner(
  db: ServiceDatabase,
  kind: OwnerKind,
  id: string,
): Promise<ServiceOwnerRow | undefined> {
  return db
    .selectFrom('service.owner')
    .selectAll()
    .where('kind', '=', kind)
    .where('id', '=', id)
    .executeTakeFirst()
}

/** Newest first; `below` is the sequence of the last row of the previous page. */
export function listOwners(
  db: ServiceDatabase,
  kind: OwnerKind,
  { below, limit }: { below: bigint | null; limit: number },
): Promise<ServiceOwnerRow[]> {
  const all = db.selectFrom('service.owner').selectAll().where('kind', '=', kind)
  return (below === null ? all : all.where('sequence', '<', below))
    .orderBy('sequence', 'desc')
    .limit(limit)
    .execute()
}

/** In the order of the settings. All EVM networks share one address. */
export function depositAddresses(
  owner: ServiceOwnerRow,
  networks: readonly NetworkSettings[],
): OwnerDepositAddress[] {
  return networks.map(({ name, family }) => ({
    network: name,
    address: showAddress(family, family === 'evm' ? owner.evm_address : owner.solana_address),
  }))
}

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

type OwnerCreationDeps = { db: ServiceDatabase; keyring: Keyring; branches: Branches }

/** One statement, because clients create many owners in a row. Undefined if it neither found nor created the owner. */
async function findOrInsert(
  { db, keyring, branches }: OwnerCreationDeps,
  requested: NewOwner,
): Promise<ServiceOwnerRow | undefined> {
  const { kind, id, forward_network: network, forward_asset: asset, forward_recipient: recipient } = requested
  const branch = await branches.take()
  const [evm, solana] = [keyring.address('evm', branch), keyring.address('solana', branch)]
  const { rows } = await sql<ServiceOwnerRow>`
    with taken as (select * from service.owner where kind = ${kind} and id = ${id}),
    made as (
      insert into service.owner
        (branch, kind, id, evm_address, solana_address, forward_network, forward_asset, forward_recipient)
      select ${branch}::integer, ${kind}, ${id}, ${evm}, ${solana}, ${network}, ${asset}, ${recipient}::text
      where not exists (select from taken)
        and not exists (select from service.owner where evm_address = ${recipient})
        and not exists (select from service.owner where solana_address = ${recipient})
      on conflict (kind, id) do nothing
      returning *)
    select * from taken union all select * from made`.execute(db)
  const [owner] = rows
  if (owner?.branch !== branch) branches.giveBack(branch)
  return owner
}

async function isDepositAddress(db: ServiceDatabase, address: Address): Promise<boolean> {
  const found = await db
    .selectFrom('service.owner')
    .select('branch')
    .where((build) => build.or([build('evm_address', '=', address), build('solana_address', '=', address)]))
    .executeTakeFirst()
  return found !== undefined
}

type Branches = {
  take(): Promise<number>
  giveBack(branch: number): void
}

const blockSize = 64

/**
 * Takes them in blocks, so that one query serves many owners. The rest of a block is lost when the process ends; two
 * processes never get the same one.
 */
function openBranches(db: ServiceDatabase): Branches {
  const spare: number[] = []
  let filling: Promise<void> | null = null
  const fill = async (): Promise<void> => {
    const { rows } = await sql<{ branch: number }>`
      select nextval('service.branch')::integer as branch from generate_series(1, ${blockSize}::integer)`.execute(
      db,
    )
    spare.push(...rows.map(({ branch }) => branch))
  }
  const take = async (): Promise<number> => {
    const branch = spare.shift()
    if (branch !== undefined) return branch
    filling ??= fill().finally(() => {
      filling = null
    })
    await filling
    return take()
  }
  return { take, giveBack: (branch) => spare.unshift(branch) }
}
