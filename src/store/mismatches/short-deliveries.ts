import { type Kysely, sql } from 'kysely'
import { whereSet } from '../database.ts'
import type { Tables } from '../tables.ts'

/** Amounts are in units of their assets. The names are those of the columns of the file. */
export type ShortDelivery = {
  deposit: bigint
  group: bigint
  service: string
  service_id: string | null
  owner: string
  paid_at: Date
  network: string
  tx: string
  paid: string
  paid_asset: string
  delivery_network: string
  recipient: string
  /** Several are joined by blanks. */
  delivery_tx: string | null
  delivery_asset: string
  stated: string
  delivered: string
  short: string
  short_base: string
  /** Of the asset delivered. */
  decimals: number
  noticed_at: Date
  mismatch: string
}

type ShortDeliveryFilter = {
  service: string | null
  /** Of the payment; times that Postgres reads, the second one exclusive. */
  from: string | null
  before: string | null
  /** With those that a person resolved. */
  isWithResolved: boolean
  /** Null for all. */
  mismatch?: bigint | null
}

/** Null if this mismatch is none, or evidence has cleared it. */
export async function readShortDelivery(db: Kysely<Tables>, mismatch: bigint): Promise<ShortDelivery | null> {
  const all = { service: null, from: null, before: null, isWithResolved: true }
  const [found = null] = await readShortDeliveries(db, { ...all, mismatch })
  return found
}

/** That no evidence has cleared, oldest payment first. */
export async function readShortDeliveries(
  db: Kysely<Tables>,
  { service, from, before, isWithResolved, mismatch = null }: ShortDeliveryFilter,
): Promise<ShortDelivery[]> {
  const conditions = [
    sql`m.kind = 'settlement_short' and m.cleared_at is null`,
    ...whereSet(service, (name) => sql`d.service = ${name}`),
    ...whereSet(mismatch, (id) => sql`m.id = ${id}`),
    ...whereSet(from, (time) => sql`d.deposited_at >= ${time}::timestamptz`),
    ...whereSet(before, (time) => sql`d.deposited_at < ${time}::timestamptz`),
    ...(isWithResolved ? [] : [sql`m.resolved_at is null`]),
  ]
  const { rows } = await sql<ShortDelivery>`
    select d.id as deposit, one.group_id as group, d.service_id, concat_ws(' ', d.owner_kind, d.owner_id) as owner,
      d.deposited_at as paid_at, d.network, d.tx, d.amount::text as paid, d.asset_symbol as paid_asset,
      d.settlement_network as delivery_network, d.settlement_address as recipient, d.service, d.settlement_tx as delivery_tx,
      l.symbol as delivery_asset, accounting.in_units((m.detail ->> 'stated')::numeric, l.decimals)::text as stated,
      accounting.in_units((m.detail ->> 'delivered')::numeric, l.decimals)::text as delivered,
      accounting.in_units(m.loss_amount, l.decimals)::text as short, m.loss_amount::text as short_base, l.decimals,
      m.opened_at as noticed_at, m.id::text as mismatch
    from mismatch m join deposit_report d on d.id = m.deposit_id join deposit one on one.id = d.id join asset l on l.key = m.loss_asset
    where ${sql.join(conditions, sql` and `)}
    order by d.deposited_at, d.id`.execute(db)
  return rows
}
