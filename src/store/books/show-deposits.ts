import { type Kysely, sql } from 'kysely'
import { Fault } from '../../core/errors.ts'
import type { ServiceName } from '../../core/evidence.ts'
import type { Matrix } from '../../core/judging/matrix.ts'
import { assetsIn, type NamedAssets, readAssetNames } from '../assets.ts'
import type { Tables } from '../tables.ts'
import { type CreditedDeposit, idsOfTransaction, reportDeposit } from './list-deposits.ts'

export type DepositReport = CreditedDeposit & {
  id: bigint
  groupId: bigint
  matrix: Matrix
  mismatches: {
    id: string
    kind: string
    severity: string
    opened_at: Date
    cleared_at: Date | null
    /** `open`, `snoozed`, `resolved` or `cleared`. */
    status: string
    detail: Record<string, string>
    loss: string | null
    loss_base: string | null
    loss_asset: string | null
    loss_asset_symbol: string | null
    assets: NamedAssets
  }[]
  /** Pinned, by key. */
  assets: NamedAssets
  evidence: { inbox_id: string; source: string; what: string; received_at: Date }[]
  journals: {
    id: string
    posting_key: string
    event_at: Date
    transfers: ShownTransfer[]
  }[]
}

type ShownTransfer = {
  debit: string
  credit: string
  amount: string
  amount_base: string
  asset_symbol: string
  asset: string
  network: string
}

/**
 * By our number, the service's id, or a transaction of either leg. A reference matches few deposits, so this reads one
 * at a time.
 */
export async function showDeposits(db: Kysely<Tables>, reference: string): Promise<DepositReport[]> {
  const found = await findDeposits(db, reference)
  return Promise.all(found.map((row) => showDeposit(db, row)))
}

/** At most `evidenceMax` items of evidence, oldest first. An absorbed deposit is shown as the one that absorbed it. */
export async function showNumberedDeposit(
  db: Kysely<Tables>,
  id: bigint,
  evidenceMax: number,
): Promise<DepositReport | null> {
  const { rows } = await sql<FoundDeposit>`
    select id, group_id, matrix from deposit
    where id = (select coalesce(merged_into, id) from deposit where id = ${id})`.execute(db)
  return rows[0] === undefined ? null : showDeposit(db, rows[0], evidenceMax)
}

export type FoundDeposit = { id: bigint; group_id: bigint; matrix: Matrix }

/** An absorbed deposit is found as the one that absorbed it. */
export async function findDeposits(db: Kysely<Tables>, reference: string): Promise<FoundDeposit[]> {
  // One index lookup per kind of reference.
  const { rows } = await sql<FoundDeposit>`
    with named as (
      select coalesce(merged_into, id) as id from deposit where id = ${depositNumber(reference)}::bigint
      union select id from deposit where service_id = ${reference}
      union ${idsOfTransaction(reference)}
    )
    select id, group_id, matrix from deposit
    where merged_into is null and id in (select id from named) order by id limit 20`.execute(db)
  return rows
}

async function showDeposit(
  db: Kysely<Tables>,
  { id, group_id, matrix }: FoundDeposit,
  evidenceMax?: number,
): Promise<DepositReport> {
  const [reported, mismatches, evidence, journals, assets] = await Promise.all([
    reportDeposit(db, id),
    sql<DepositReport['mismatches'][number]>`
      select m.id::text as id, kind, severity, opened_at, cleared_at, status, detail,
        loss::text as loss, loss_base::text as loss_base, loss_asset, loss_asset_symbol,
        ${assetsIn(sql`concat_ws(' ', detail::text, loss_asset)`)} as assets
      from accounting.mismatches m
      where deposit_id = ${id} order by m.id`.execute(db),
    sql<DepositReport['evidence'][number]>`
      select e.inbox_id::text as inbox_id, i.source, i.received_at,
        case when i.source = 'person'
          then concat_ws(' ', e.observation ->> 'by', 'decides', e.observation -> 'verdict' ->> 'kind', 'about', e.observation ->> 'tx')
          when i.source = 'chain'
          then concat_ws(' ', e.observation ->> 'role',
            case e.observation ->> 'kind' when 'search' then 'searched for' when 'failure' then 'failed'
              else e.observation ->> 'stage' end, 'on', e.observation ->> 'network',
            'at height ' || (e.observation ->> 'height'))
          else concat_ws(' ', e.observation ->> 'serviceId', 'is', e.observation ->> 'status') end as what
      from evidence e join inbox i on i.id = e.inbox_id
      where e.group_id = ${group_id} order by i.received_at, e.inbox_id limit ${evidenceMax ?? null}::bigint`.execute(
      db,
    ),
    readJournals(db, id),
    readAssetNames(db),
  ])
  if (reported === null) throw new Fault('conflict', { what: `deposit ${id}, which another one absorbed` })
  return {
    id,
    groupId: group_id,
    ...reported,
    matrix,
    mismatches: mismatches.rows,
    evidence: evidence.rows,
    journals,
    assets: Object.fromEntries(assets),
  }
}

async function readJournals(db: Kysely<Tables>, id: bigint): Promise<DepositReport['journals']> {
  const { rows } = await sql<DepositReport['journals'][number]>`
      select j.id::text as id, j.posting_key, j.event_at, jsonb_agg(jsonb_build_object('debit', t.debit, 'credit', t.credit,
        'amount', accounting.in_units(t.amount, a.decimals)::text, 'amount_base', t.amount::text,
        'asset_symbol', a.symbol, 'asset', a.key, 'network', a.network) order by t.leg) as transfers
      from ledger_journal j join ledger_transfer t on t.journal_id = j.id and t.recorded_at = j.recorded_at
        join asset a on a.key = t.asset
        join deposit d on d.id = j.deposit_id
      where d.id = ${id} or d.merged_into = ${id} group by j.id order by j.id`.execute(db)
  return rows
}

/** Null if it cannot be one. */
export function depositNumber(reference: string): bigint | null {
  return /^[1-9]\d{0,17}$/.test(reference) ? BigInt(reference) : null
}

/** Of one service. */
export async function countReconciled(db: Kysely<Tables>, service: ServiceName): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from deposit
    where service = ${service} and state = 'reconciled' and merged_into is null`.execute(db)
  return rows[0]?.count ?? 0
}

/** Changes with every row that the report of a deposit is made of. Null if there is no such deposit. */
export async function versionOfDeposit(
  db: Kysely<Tables>,
  id: bigint,
): Promise<{ version: string; state: string; isSafe: boolean } | null> {
  const { rows } = await sql<{ version: string; state: string; isSafe: boolean }>`
    select d.state,
      coalesce((select c.action = 'safe' from credit_safety c where c.deposit_id = d.id order by c.number desc limit 1), false)
        as "isSafe",
      concat_ws(' ', d.xmin,
      (select string_agg(m.xmin::text, ',' order by m.id) from mismatch m where m.deposit_id = d.id),
      (select count(*) from evidence e where e.group_id = d.group_id),
      (select max(j.id) from ledger_journal j where j.deposit_id = d.id),
      (select max(c.id) from credit_safety c where c.deposit_id = d.id)) as version
    from deposit d where d.id = (select coalesce(merged_into, id) from deposit where id = ${id})`.execute(db)
  return rows[0] ?? null
}
