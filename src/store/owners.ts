import { type Kysely, sql, type Transaction } from 'kysely'
import {
  byProgram,
  type Conflict,
  conflictsOf,
  type EntryPeople,
  type HeldAddress,
  type OwnerEntry,
  ownerKey,
} from '../core/address-book.ts'
import type { Address, NetworkName } from '../core/asset.ts'
import { Fault } from '../core/errors.ts'
import { idAtService, type Owner, type ServiceName, serviceOf } from '../core/evidence.ts'
import type { Approval } from '../core/matching/divide.ts'
import { searchAgain } from './chain/leg-searches.ts'
import { asTable, inTransaction } from './database.ts'
import type { Tables } from './tables.ts'

/** Of the addresses on one network, one that has not ended comes first. */
export async function readOwners(
  db: Kysely<Tables>,
  kind: Owner['kind'],
  ids: readonly string[],
): Promise<OwnerEntry[]> {
  const { rows } = await sql<Pick<Owner, 'id'> & Pick<OwnerEntry, 'deposits' | 'forward'>>`
    select o.id,
      case when o.forward_network is not null then jsonb_build_object('network', o.forward_network,
        'asset', o.forward_asset, 'recipient', o.forward_recipient) end as forward,
      coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object('network', b.network, 'address', b.address,
          'isEnded', case when b.valid_until is not null then true end))
          order by b.network, b.valid_until desc nulls first, b.address)
        filter (where b.address is not null), '[]') as deposits
    from owner o left join accounting.address_book b on b.owner_kind = o.kind and b.owner_id = o.id
    where o.kind = ${kind} and o.id = any(${ids}::text[])
    group by o.kind, o.id order by o.id`.execute(db)
  return rows.map(({ id, ...entry }) => ({ owner: { kind, id }, ...entry }))
}

/** Ids in the address book, and `asked` if it owns a deposit. */
export async function ownerIdsKnown(db: Kysely<Tables>, asked: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from owner
    union select ${asked} where exists (select from deposit where owner_id = ${asked})`.execute(db)
  return rows.map(({ id }) => id)
}

/** On any network. */
type ApprovalRow = Omit<Approval, 'forward'> & {
  forwardNetwork: NetworkName | null
  forwardRecipient: Address | null
}

/** The owners of these deposit addresses, on every network. */
export async function approvalsAt(db: Kysely<Tables>, addresses: readonly string[]): Promise<Approval[]> {
  const { rows } = await sql<ApprovalRow>`
    select b.network, b.address, jsonb_build_object('kind', o.kind, 'id', o.id) as owner,
      o.forward_network as "forwardNetwork", o.forward_recipient as "forwardRecipient",
      b.valid_from as "startsAt", b.valid_until as "endsAt"
    from accounting.address_book b join owner o on o.kind = b.owner_kind and o.id = b.owner_id
    where b.role = 'deposit' and b.address = any(${addresses}::text[])
    order by b.network, b.address`.execute(db)
  return rows.map(({ forwardNetwork: network, forwardRecipient: recipient, ...approval }) => ({
    ...approval,
    forward: network !== null && recipient !== null ? { network, recipient } : null,
  }))
}

export async function ownersAt(db: Kysely<Tables>, addresses: readonly string[]): Promise<HeldAddress[]> {
  const { rows } = await sql<HeldAddress>`
    select network, address, jsonb_build_object('kind', owner_kind, 'id', owner_id) as owner from address_book
    where role = 'deposit' and address = any(${addresses}::text[]) order by network, address`.execute(db)
  return rows
}

/**
 * Saving an entry again changes nothing; an owner may gain a network. If there are conflicts, the caller must roll
 * back: some entries are saved by then.
 */
export async function keepOwners(
  tx: Transaction<Tables>,
  entries: readonly OwnerEntry[],
  people: EntryPeople,
): Promise<{ added: number; conflicts: readonly Conflict[] }> {
  // One writer at a time: if two give one owner different addresses, the later one sees the first.
  await sql`select pg_advisory_xact_lock(hashtext('address book'))`.execute(tx)
  const added = await insertNew(tx, entries, people)
  const kept = new Map<string, OwnerEntry>()
  for (const kind of new Set(entries.map(({ owner }) => owner.kind))) {
    const ids = entries.filter(({ owner }) => owner.kind === kind).map(({ owner }) => owner.id)
    for (const entry of await readOwners(tx, kind, ids)) kept.set(ownerKey(entry.owner), entry)
  }
  const deposits = entries.flatMap((entry) => entry.deposits)
  const held = await ownersAt(
    tx,
    deposits.map(({ address }) => address),
  )
  const holders = Map.groupBy(held, ({ address }) => address)
  const conflicts = entries.flatMap((entry) => {
    const standing = kept.get(ownerKey(entry.owner))
    const around = entry.deposits.flatMap(({ address }) => holders.get(address) ?? [])
    return standing === undefined ? [] : conflictsOf(entry, standing, around)
  })
  await recheckUnknown(tx, entries)
  await searchAgain(
    tx,
    entries.flatMap((entry) => entry.deposits),
  )
  return { added, conflicts }
}

/** @throws Fault `usage_bad` if the id or an address is already recorded with other values */
export function saveOwner(db: Kysely<Tables>, entry: OwnerEntry): Promise<void> {
  return inTransaction(db, async (tx) => {
    const { conflicts } = await keepOwners(tx, [entry], byProgram)
    const [conflict] = conflicts
    if (conflict !== undefined)
      throw new Fault('usage_bad', { problem: conflict.problem, fix: 'choose another id' })
  })
}

async function insertNew(
  tx: Transaction<Tables>,
  entries: readonly OwnerEntry[],
  { by, approvedBy, decision = null }: EntryPeople,
): Promise<number> {
  const owners = entries.map(({ owner, forward, createdAt = null }) => ({
    ...owner,
    network: forward?.network,
    asset: forward?.asset,
    recipient: forward?.recipient,
    createdAt,
  }))
  const { numAffectedRows } = await sql`
    insert into owner (kind, id, forward_network, forward_asset, forward_recipient, created_at, added_by, approved_by, decision_id)
    select kind, id, network, asset, recipient, least("createdAt", now()), ${by}, ${approvedBy}, ${decision}::bigint
    from ${asTable('entry', owners, ownerColumns)} order by kind, id
    on conflict (kind, id) do nothing`.execute(tx)
  const places = entries.flatMap(placesOf)
  await sql`
    insert into address_book (network, address, role, owner_kind, owner_id, valid_from, added_by, approved_by, decision_id)
    select network, address, role, kind, id, "validFrom", ${by}, ${approvedBy}, ${decision}::bigint
    from ${asTable('place', places, placeColumns)} order by network, address, role
    on conflict (network, address, role) do nothing`.execute(tx)
  return Number(numAffectedRows ?? 0n)
}

/** Rows of the address book. */
export function placesOf({ owner, deposits, forward }: OwnerEntry) {
  const rows = deposits.map(({ network, address, validFrom }) => ({
    network,
    address,
    validFrom,
    role: 'deposit',
    ...owner,
  }))
  return [...rows, ...(forward === null ? [] : [recipientRow(forward)])]
}

const ownerColumns = 'kind text, id text, network text, asset text, recipient text, createdAt timestamptz'

export const placeColumns = 'network text, address text, role text, kind text, id text, validFrom timestamptz'

function recipientRow({ network, recipient }: NonNullable<OwnerEntry['forward']>) {
  return { network, address: recipient, role: 'recipient', kind: null, id: null, validFrom: null }
}

async function recheckUnknown(tx: Transaction<Tables>, entries: readonly OwnerEntry[]): Promise<void> {
  const deposits = entries.flatMap((entry) => entry.deposits)
  const owners = entries.map(({ owner }) => owner)
  await sql`
    update evidence_group set recheck_at = now() where id in (
      select group_id from mismatch where kind in ('unknown_address', 'unknown_owner', 'address_changed') and cleared_at is null
        and ((detail ->> 'network', detail ->> 'address') in (
          select * from ${asTable('deposit', deposits, 'network text, address text')}
        ) or exists (
          select from evidence where evidence.group_id = mismatch.group_id
            and (observation #>> '{owner,kind}', observation #>> '{owner,id}') in (
              select * from ${asTable('approved', owners, 'kind text, id text')}
            )
        ))
    )`.execute(tx)
}

export type OwnerAddressLine = {
  service: string
  id: string
  network: string
  address: string
  forward_network: string | null
  forward_asset: string | null
  forward_recipient: string | null
}

/** The last decision about its end, if there is one. */
export type EntryHistory = {
  valid_from: Date | null
  valid_until: Date | null
  added_at: Date
  added_by: string
  approved_by: string | null
  ended_at: Date | null
  ended_by: string | null
  end_approved_by: string | null
  end_reason: string | null
  /** Null if a program added it, or without signatures. */
  decision_id: bigint | null
  end_decision_id: bigint | null
}

export type OwnerLine = OwnerAddressLine & EntryHistory

/** Ordered by owner, network and address, after the line `after`. */
export async function listOwners(
  db: Kysely<Tables>,
  {
    kind,
    service,
    limit,
    after = null,
  }: {
    kind: Owner['kind']
    service?: string | undefined
    limit: number
    after?: Pick<OwnerLine, 'id' | 'network' | 'address'> | null
  },
): Promise<OwnerLine[]> {
  const { rows } = await sql<OwnerLine>`
    select ${serviceOfOwner} as service, o.id, b.network, b.address, o.forward_network, o.forward_asset, o.forward_recipient,
      b.valid_from, b.valid_until, b.added_at, b.added_by, b.approved_by, b.ended_at, b.ended_by, b.end_approved_by, b.end_reason,
      b.decision_id, b.end_decision_id
    from owner o join accounting.address_book b on b.owner_kind = o.kind and b.owner_id = o.id
    where o.kind = ${kind} and (${service ?? null}::text is null or ${serviceOfOwner} = ${service ?? null})
      and (${after === null}::boolean or (o.id, b.network, b.address)
        > (${after?.id ?? ''}, ${after?.network ?? ''}, ${after?.address ?? ''}))
    order by o.id, b.network, b.address limit ${limit}`.execute(db)
  return rows
}

/** By `network/address`: the service that alone has channels with this recipient. Absent if there are several, or none. */
export async function servicesOfRecipients(
  db: Kysely<Tables>,
  recipients: readonly { network: string; address: string }[],
): Promise<ReadonlyMap<string, ServiceName>> {
  if (recipients.length === 0) return new Map()
  const { rows } = await sql<{ recipient: string; service: ServiceName }>`
    select network || '/' || address as recipient, min(${serviceOfOwner}) as service
    from ${asTable('asked', recipients, 'network text, address text')}
      join owner o on o.forward_network = network and o.forward_recipient = address
    group by network, address having min(${serviceOfOwner}) = max(${serviceOfOwner})`.execute(db)
  return new Map(rows.map(({ recipient, service }) => [recipient, service]))
}

/** As `serviceOf` reads it out of the id. */
const serviceOfOwner = sql`case when o.id like '%/%' then split_part(o.id, '/', 1) else 'default' end`

/** In the spelling used for comparisons. */
export type AddressBookSets = {
  depositAddresses: ReadonlySet<string>
  recipients: ReadonlySet<string>
  owners: ReadonlyMap<string, Owner['kind']>
  /** Id of the owner, by deposit address. */
  addressOwners: ReadonlyMap<string, string>
}

export async function knownPlaces(db: Kysely<Tables>): Promise<AddressBookSets> {
  const { rows: book } = await sql<{ role: string; addresses: string[] }>`
    select role, array_agg(address) as addresses from address_book group by role`.execute(db)
  const { rows: owners } = await sql<Pick<Owner, 'kind' | 'id'>>`select kind, id from owner`.execute(db)
  const { rows: held } = await sql<{ address: string; owner: string }>`
    select address, min(owner_id) as owner from address_book where role = 'deposit'
    group by address having count(distinct owner_id) = 1`.execute(db)
  const at = (role: string) => new Set(book.find((one) => one.role === role)?.addresses)
  return {
    depositAddresses: at('deposit'),
    recipients: at('recipient'),
    owners: new Map(owners.map(({ id, kind }) => [id, kind])),
    addressOwners: new Map(held.map(({ address, owner }) => [address, owner])),
  }
}

/** What belongs to one service, with ids as it writes them itself; addresses are of all. */
export async function knownPlacesOf(db: Kysely<Tables>, service: ServiceName): Promise<AddressBookSets> {
  const book = await knownPlaces(db)
  const ownId = (id: string) => (serviceOf(id) === service ? [idAtService(id)] : [])
  return {
    ...book,
    owners: new Map([...book.owners].flatMap(([id, kind]) => ownId(id).map((own) => [own, kind] as const))),
    addressOwners: new Map(
      [...book.addressOwners].flatMap(([address, id]) => ownId(id).map((own) => [address, own] as const)),
    ),
  }
}
