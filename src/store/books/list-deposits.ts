import { type Kysely, type RawBuilder, sql } from 'kysely'
import { preparing, whereSet } from '../database.ts'
import type { Tables } from '../tables.ts'

/** As `deposit_report` has it. Amounts are decimal text; `_base` in base units. */
export type ReportedDeposit = {
  id: string
  service: string
  service_id: string | null
  state: string
  owner_kind: string | null
  owner_id: string | null
  network: string | null
  address: string | null
  asset_symbol: string | null
  asset: string | null
  amount: string | null
  amount_base: string | null
  tx: string | null
  settlement_network: string | null
  settlement_address: string | null
  settlement_asset_symbol: string | null
  settlement_asset: string | null
  settlement_amount: string | null
  settlement_amount_base: string | null
  settlement_tx: string | null
  fee: string | null
  fee_base: string | null
  fee_asset_symbol: string | null
  fee_asset: string | null
  deposited_at: Date | null
  final_at: Date | null
  settled_at: Date | null
  reconciled_at: Date | null
}

/** Whether the owner may be credited: as recorded, and empty if it never was. */
export type CreditReport = {
  safe: boolean
  asset: string | null
  asset_symbol: string | null
  amount: string | null
  amount_base: string | null
  /** Of a withdrawal, when it was withdrawn. */
  since: Date | null
  reason: string | null
  finality: { height: string; block_hash: string; final_at: string } | null
  /** Number of the journal. */
  proof: string | null
}

const neverSafe: CreditReport = {
  safe: false,
  asset: null,
  asset_symbol: null,
  amount: null,
  amount_base: null,
  since: null,
  reason: null,
  finality: null,
  proof: null,
}

export type CreditedDeposit = { deposit: ReportedDeposit; credit: CreditReport }

type StoredReport = ReportedDeposit & { credit: null | (Omit<CreditReport, 'since'> & { since: string }) }

const reportFields = sql`d.id::text as id, d.service, d.service_id, d.state, d.owner_kind, d.owner_id, d.network, d.address,
      d.asset_symbol, d.asset, d.amount, d.amount_base, d.tx, d.settlement_network, d.settlement_address,
      d.settlement_asset_symbol, d.settlement_asset, d.settlement_amount, d.settlement_amount_base, d.settlement_tx,
      d.fee, d.fee_base, d.settlement_asset_symbol as fee_asset_symbol, d.settlement_asset as fee_asset,
      d.deposited_at, d.final_at, d.settled_at, d.reconciled_at,
      (select jsonb_build_object('safe', is_safe, 'asset', asset, 'asset_symbol', asset_symbol, 'amount', amount::text,
          'amount_base', amount_base::text, 'since', ${jsonTime(sql`since`)}, 'reason', reason,
          'finality', case when is_safe then jsonb_build_object('height', height::text, 'block_hash', block_hash,
            'final_at', ${jsonTime(sql`final_at`)}) end, 'proof', journal_id::text)
        from accounting.credit_safety where deposit_id = d.id) as credit`

function jsonTime(time: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
}

function reportOf({ credit, ...deposit }: StoredReport): CreditedDeposit {
  return { deposit, credit: credit === null ? neverSafe : { ...credit, since: new Date(credit.since) } }
}

/** Amounts are decimal text. */
export type DepositLine = {
  id: string
  service: string
  state: string
  owner: string
  network: string
  asset_symbol: string
  asset: string | null
  amount: string
  amount_base: string | null
  /** Empty if nothing was delivered. */
  settlement: string
  settlement_network: string | null
  settlement_asset_symbol: string | null
  settlement_asset: string | null
  settlement_amount: string | null
  settlement_amount_base: string | null
  deposited_at: Date | null
  mismatches: string
}

export type Filter = {
  limit: number
  state?: string | undefined
  service?: string | undefined
  network?: string | undefined
  owner?: string | undefined
  serviceId?: string | undefined
  /** Of either leg. */
  tx?: string | undefined
  /** Deposit address. */
  address?: string | undefined
  /** Of the payment, or of the first claim; `to` is not included. */
  from?: Date | undefined
  to?: Date | undefined
  /** The last id of the previous page. */
  before?: bigint | undefined
} & Visible

export async function listDeposits(db: Kysely<Tables>, filter: Filter): Promise<DepositLine[]> {
  const { rows } = await sql<DepositLine>`
    select d.id::text as id, d.service, d.state, coalesce(d.owner_id, '?') as owner, coalesce(d.network, '?') as network,
      coalesce(d.asset_symbol, '?') as asset_symbol, d.asset, coalesce(d.amount::text, '?') as amount,
      d.amount_base::text as amount_base, d.settlement_network, d.settlement_asset_symbol, d.settlement_asset,
      d.settlement_amount::text as settlement_amount, d.settlement_amount_base::text as settlement_amount_base,
      case when d.settlement_amount is null then ''
        else concat_ws(' ', d.settlement_amount::text, d.settlement_asset_symbol, 'on ' || d.settlement_network) end as settlement,
      d.deposited_at,
      (select coalesce(string_agg(m.kind, ', ' order by m.kind), '') from open_mismatch m
        where m.deposit_id = d.id) as mismatches
    from deposit_report d where ${wantedDeposits(filter)} order by d.id desc limit ${filter.limit}`.execute(
    db,
  )
  return rows
}

/** The same deposits, with both legs. */
export async function reportDeposits(db: Kysely<Tables>, filter: Filter): Promise<CreditedDeposit[]> {
  // A back end asks for one transaction after another, and planning takes most of the time.
  const isByTransaction = hasOnly(filter, ['tx', 'limit'])
  const { rows } = await sql<StoredReport>`
    select ${reportFields} from deposit_report d
    where ${wantedDeposits(filter)} order by d.id desc limit ${filter.limit}`.execute(
    isByTransaction ? preparing(db) : db,
  )
  return rows.map(reportOf)
}

export async function reportDeposit(db: Kysely<Tables>, id: bigint): Promise<CreditedDeposit | null> {
  const { rows } = await sql<StoredReport>`
    select ${reportFields} from deposit_report d where d.id = ${id}`.execute(db)
  return rows[0] === undefined ? null : reportOf(rows[0])
}

/** Whether these conditions are set, and no others. */
function hasOnly(filter: Filter, names: readonly (keyof Filter)[]): boolean {
  const set = Object.entries(filter).filter(([, value]) => value !== undefined && value !== null)
  return set.length === names.length && names.every((name) => set.some(([key]) => key === name))
}

function isAmong(ids: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`d.id in (${ids})`
}

function wantedDeposits({ state, service, network, owner, before, ...filter }: Filter): RawBuilder<unknown> {
  const { serviceId, tx, address, from, to, services, owners } = filter
  return sql.join(
    [
      state === undefined ? sql`d.state <> 'ignored'` : sql`d.state = ${state}`,
      ...whereSet(service, (name) => sql`d.service = ${name}`),
      ...whereSet(network, (name) => sql`d.network = ${name}`),
      ...whereSet(owner, (id) => sql`d.owner_id = ${id}`),
      ...whereSet(before, (id) => sql`d.id < ${id}`),
      ...whereSet(serviceId, (id) => sql`d.service_id = ${id}`),
      ...whereSet(address, (text) => sql`d.address = ${text}`),
      ...whereSet(tx, (id) => isAmong(idsOfTransaction(id))),
      ...whereSet(from, (at) => isAmong(sql`select id from deposit where ${since} >= ${at}`)),
      ...whereSet(to, (at) => isAmong(sql`select id from deposit where ${since} < ${at}`)),
      ...seenBy({ services, owners }),
    ],
    sql` and `,
  )
}

/** As the index has it: the time of the payment, or of the first claim. */
const since = sql`coalesce(deposited_at, least(webhook_at, api_at))`

/** Of either leg. A delivery is found by its linking key. */
export function idsOfTransaction(tx: string): RawBuilder<unknown> {
  return sql`select id from deposit where tx = ${tx}
      union select d.id from link_key join deposit d using (group_id)
        where key = ${`out/${tx}`} and settlement_tx = ${tx}`
}

/** What one reader may see; null or absent for all. */
export type Visible = {
  services?: readonly string[] | null | undefined
  owners?: readonly string[] | null | undefined
}

function seenBy({ services, owners }: Visible): RawBuilder<unknown>[] {
  return [
    ...whereSet(services, (names) => sql`d.service = any(${names}::text[])`),
    ...whereSet(owners, (ids) => sql`d.owner_id = any(${ids}::text[])`),
  ]
}

/** Whether all deposits whose evidence is decided together may be seen. */
export async function isGroupSeen(db: Kysely<Tables>, groupId: bigint, visible: Visible): Promise<boolean> {
  const { rows } = await sql<{ isSeen: boolean }>`
    select coalesce(bool_and(${sql.join([sql`true`, ...seenBy(visible)], sql` and `)}), false) as "isSeen"
    from deposit d where d.group_id = ${groupId} and d.merged_into is null`.execute(db)
  return rows[0]?.isSeen ?? false
}
