import { type Kysely, sql, type Transaction } from 'kysely'
import type { Address, AssetKey, NetworkName } from '../../core/asset.ts'
import type { Owner } from '../../core/evidence.ts'
import type { StatedOpening } from '../../ledger/opening-lots.ts'
import { asTable } from '../database.ts'
import type { Tables } from '../tables.ts'

export type OpeningState = {
  /** The opening that stands; null if there is none. */
  standing: { id: bigint; at: Date } | null
  /** Of all openings, reversed ones included. */
  count: number
  /** Journals by hand dated up to then that are not reversed, oldest first, at most ten. */
  byHand: bigint[]
  /** Journals from evidence of events up to then that are not reversed. */
  fromEvidence: number
}

export async function readOpeningState(db: Kysely<Tables>, at: Date): Promise<OpeningState> {
  const { rows } = await sql<OpeningState>`
    with standing as (
      select j.id, j.kind, j.transfer, j.event_at from ledger_journal j
      where j.kind <> 'reversal' and not exists (select from ledger_journal r where r.reverses = j.id)
        and (j.kind = 'opening' or j.event_at <= ${at})
    )
    select (select jsonb_build_object('id', id, 'at', event_at) from standing where kind = 'opening') as standing,
      (select count(*)::int from ledger_journal where kind = 'opening') as count,
      array(select id from standing where kind = 'manual' order by id limit 10) as "byHand",
      (select count(*)::int from standing where transfer is not null) as "fromEvidence"`.execute(db)
  const [row] = rows
  if (row === undefined) return { standing: null, count: 0, byHand: [], fromEvidence: 0 }
  const { standing } = row
  return { ...row, standing: standing && { id: BigInt(standing.id), at: new Date(standing.at) } }
}

/** In the transaction that books the opening. */
export async function saveOpeningLots(
  tx: Transaction<Tables>,
  journal: bigint,
  lots: StatedOpening['lots'],
): Promise<void> {
  await sql`
    insert into opening_lot (journal_id, account, asset, acquired_at, units, cost, currency)
    select ${journal}, account, asset, "acquiredAt", units, cost, currency
    from ${asTable('lot', lots, 'account text, asset text, acquiredAt timestamptz, units numeric, cost numeric, currency text')}`.execute(
    tx,
  )
}

export type WatchedAddress = {
  network: NetworkName
  address: Address
  owner: Owner
  /** Where its owner's deposits go; null for a StableWallet. */
  forwardNetwork: NetworkName | null
}

/** Every deposit address in the address book. */
export async function depositAddresses(db: Kysely<Tables>): Promise<WatchedAddress[]> {
  const { rows } = await sql<WatchedAddress>`
    select b.network, b.address, jsonb_build_object('kind', o.kind, 'id', o.id) as owner,
      o.forward_network as "forwardNetwork"
    from address_book b join owner o on o.kind = b.owner_kind and o.id = b.owner_id
    where b.role = 'deposit' order by b.network, b.address`.execute(db)
  return rows
}

/** Whom the books can have accounts for. */
export async function accountOwners(
  db: Kysely<Tables>,
): Promise<{ owners: Owner[]; recipients: Pick<WatchedAddress, 'network' | 'address'>[] }> {
  const { rows: owners } = await sql<Owner>`select kind, id from owner`.execute(db)
  const { rows: recipients } = await sql<Pick<WatchedAddress, 'network' | 'address'>>`
    select network, address from address_book where role = 'recipient'`.execute(db)
  return { owners, recipients }
}

export type AddressBalance = { network: NetworkName; address: Address; asset: AssetKey; amount: bigint }

/** Payments up to then, by the address paid, that were delivered later or not at all, as far as they are known. */
export async function undelivered(db: Kysely<Tables>, at: Date): Promise<AddressBalance[]> {
  const { rows } = await sql<AddressBalance & { amount: string }>`
    select d.network, d.address, t.asset, sum(t.amount)::text as amount
    from ledger_transit t join deposit d on d.transfer = t.transfer and d.merged_into is null
    where t.event_at <= ${at} and d.address is not null
    group by d.network, d.address, t.asset having sum(t.amount) > 0`.execute(db)
  return rows.map((row) => ({ ...row, amount: BigInt(row.amount) }))
}

/**
 * Balances of an asset at the end of a block, from a later proved balance less what is known to have changed since.
 * Addresses without one are left out.
 */
export async function balancesBefore(
  db: Kysely<Tables>,
  { network, asset, height }: { network: NetworkName; asset: AssetKey; height: bigint },
): Promise<Map<Address, bigint>> {
  const { rows } = await sql<{ address: Address; amount: string }>`
    select p.address, (p.balance - known_change(p.network, p.address, p.asset, ${height}, p.height))::text as amount
    from balance_point p
    where p.network = ${network} and p.asset = ${asset} and ${height}::bigint between p.opening_height and p.height
      and not exists (
        select from balance_difference d
        where (d.network, d.address, d.asset) = (p.network, p.address, p.asset) and d.height > ${height}
      )`.execute(db)
  return new Map(rows.map(({ address, amount }) => [address, BigInt(amount)]))
}

export type WalletStatement = {
  wallet: string
  /** As the service stated it last; null if it never did. */
  stated: { asset: AssetKey; balance: bigint; readAt: Date } | null
  /** What the books show of it between the opening and that statement. */
  movedSince: bigint
  /** Credits or withdrawals are not proved yet. */
  isUnderWay: boolean
}

type WalletStatementRow = {
  wallet: string
  asset: AssetKey | null
  balance: string
  readAt: Date
  movedSince: string
  isUnderWay: boolean
}

/** Of every StableWallet in the address book. */
export async function walletStatements(db: Kysely<Tables>, at: Date): Promise<WalletStatement[]> {
  const { rows } = await sql<WalletStatementRow>`
    select o.id as wallet, w.asset, w.balance::text as balance, w.read_at as "readAt",
      coalesce(w.leaving <> 0 or w.arriving <> 0, false) as "isUnderWay",
      (
        select coalesce(sum(e.amount), 0)::text from ledger_entry e
        where e.account = 'assets:stable_wallet:' || o.id and e.asset = w.asset
          and e.event_at > ${at} and e.event_at <= w.read_at
      ) as "movedSince"
    from owner o left join wallet_balance w on w.wallet = o.id
    where o.kind = 'stable_wallet' order by o.id`.execute(db)
  return rows.map(({ wallet, asset, balance, readAt, movedSince, isUnderWay }) => ({
    wallet,
    stated: asset === null ? null : { asset, balance: BigInt(balance), readAt },
    movedSince: BigInt(movedSince),
    isUnderWay,
  }))
}
