import type { ColumnType, Generated } from 'kysely'
import type { ServiceName } from '../core/evidence.ts'

type Id = ColumnType<bigint, never, never>

type ColumnWithDefault<Type> = ColumnType<Type, Type | undefined, Type>

/** What queries without raw SQL name. Postgres and the tests know the columns of all other statements. */
export type Tables = {
  inbox: { id: Id; source: string; source_key: string; service: ServiceName; body: Buffer }
  inbox_pending: { inbox_id: bigint }
  evidence_group: { id: Id; recheck_at: Date | null }
  link_key: { key: string; group_id: bigint }
  stream: {
    name: string
    holder: string | null
    expires_at: Generated<Date>
    cursor: unknown
    succeeded_at: Date | null
  }
  api_record: {
    service_id: string
    service: ColumnWithDefault<ServiceName>
    revision: number
    misses: number
    gone_at: Date | null
  }
  asset: { key: string; network: string; symbol: string; decimals: number }
  owner: { kind: 'channel' | 'stable_wallet'; id: string; added_by: string }
  deposit: {
    id: Id
    group_id: bigint
    service_id: string | null
    transfer: string | null
    merged_into: bigint | null
    state: string
    network: string | null
    asset: string | null
    tx: string | null
    webhook_at: Date | null
    settlement_amount: string | null
    chain_at: Date | null
  }
  mismatch: {
    id: Id
    deposit_id: bigint | null
    subject: string
    kind: string
    severity: string
    network: string | null
    asset: string | null
    detail: unknown
    cleared_at: Date | null
  }
  named_transaction: { network: string; tx: string; tries: number; next_at: Date | null }
  ledger_journal: { id: Id; kind: string; deposit_id: bigint | null }
  ledger_transfer: { debit: string; credit: string; asset: string; amount: string }
}
