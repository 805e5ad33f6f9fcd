import { type Kysely, sql, type Transaction } from 'kysely'
import type { EntryPeople } from '../core/address-book.ts'
import type { Address, NetworkName } from '../core/asset.ts'
import type { Owner } from '../core/evidence.ts'
import { inTransaction } from './database.ts'
import { holdDecisions } from './streams.ts'
import type { Tables } from './tables.ts'

export type AddressEnd = {
  owner: Owner
  /** Null for those on all networks. */
  network: NetworkName | null
  /** A payment in a block of this time or a later one is not valid; null to withdraw an end. */
  until: Date | null
  people: EntryPeople
  reason: string
}

/** `before`: the end that applied until now. */
export type EndedAddress = { network: NetworkName; address: Address; before: Date | null }

/**
 * Ends the validity of the deposit addresses of an owner, or corrects or withdraws its end. They stay watched. What was
 * paid between the old end and the new one is due for a decision. Running it again adds a row and changes nothing else.
 * `settleEnds` follows after the commit.
 * @returns none if the owner has no deposit address there
 */
export async function endAddresses(tx: Transaction<Tables>, end: AddressEnd): Promise<EndedAddress[]> {
  const ended = await insertEnds(tx, end)
  await markPayments(tx, end, ended)
  return ended
}

/** A decision that began before may have read the old end. */
export async function settleEnds(
  db: Kysely<Tables>,
  end: AddressEnd,
  ended: readonly EndedAddress[],
): Promise<void> {
  await inTransaction(db, holdDecisions)
  await inTransaction(db, (tx) => markPayments(tx, end, ended))
}

async function insertEnds(
  tx: Transaction<Tables>,
  { owner, network, until, people, reason }: AddressEnd,
): Promise<EndedAddress[]> {
  // One writer at a time, so that the last row is the last decision.
  await sql`select pg_advisory_xact_lock(hashtext('address book'))`.execute(tx)
  const { rows } = await sql<EndedAddress>`
    with ending as (
      select b.id, network, address, v.valid_until as before
      from address_book b join accounting.address_book v using (network, address, role)
      where b.owner_kind = ${owner.kind} and b.owner_id = ${owner.id}
        and (${network}::text is null or network = ${network})
    ), added as (
      insert into address_end (address_id, valid_until, reason, ended_by, approved_by, decision_id)
      select id, ${until}, ${reason}, ${people.by}, ${people.approvedBy}, ${people.decision ?? null}::bigint
      from ending order by id
    )
    select network, address, before from ending order by network, address`.execute(tx)
  return rows
}

/** Those that the change of the end concerns, in the order in which deciding locks them. */
async function markPayments(
  tx: Transaction<Tables>,
  { owner, until }: AddressEnd,
  ended: readonly EndedAddress[],
): Promise<void> {
  const since = ended.map(({ network, address, before }) => ({ network, address, before }))
  await sql`
    with paid as (
      select g.id from evidence_group g where g.id in (
        select d.group_id
        from deposit d join jsonb_to_recordset(${JSON.stringify(since)}::jsonb)
          as ended (network text, address text, before timestamptz) using (network, address)
        where d.owner_kind = ${owner.kind} and d.owner_id = ${owner.id} and d.merged_into is null
          and d.deposited_at >= least(before, ${until}::timestamptz)
      ) order by g.id for update
    )
    update evidence_group set recheck_at = now() from paid where evidence_group.id = paid.id`.execute(tx)
}
