import type { ColumnType, Generated } from 'kysely'
import type { ServiceName } from '../core/evidence.ts'

/** `numeric(78, 0)`: decimal text. */
type Numeric = ColumnType<string, bigint | string, bigint | string>

type Id = ColumnType<bigint, never, never>

type ColumnWithDefault<Type> = ColumnType<Type, Type | undefined, Type>

export type Tables = {
  inbox: {
    id: Id
    source: 'webhook' | 'api' | 'chain' | 'person'
    source_key: string
    service: ColumnWithDefault<ServiceName>
    body: Buffer
    headers: ColumnWithDefault<unknown>
    received_at: Date
    stored_at: Generated<Date>
  }
  inbox_pending: { inbox_id: bigint; stored_at: Generated<Date>; received_at: Date }
  evidence_group: { id: Id; recheck_at: Date | null }
  link_key: { key: string; service: ColumnWithDefault<ServiceName>; group_id: bigint }
  evidence: { inbox_id: bigint; group_id: bigint; observation: unknown }
  chain_transfer: {
    inbox_id: bigint
    network: string
    transfer: string
    stage: 'seen' | 'final' | 'orphaned'
    height: bigint
    block_hash: string
  }
  stream: {
    name: string
    holder: string | null
    fence: ColumnWithDefault<bigint>
    expires_at: Generated<Date>
    cursor: unknown
    succeeded_at: Date | null
    progress: ColumnWithDefault<unknown>
  }
  api_record: {
    service_id: string
    service: ColumnWithDefault<ServiceName>
    hash: string
    revision: number
    listed_at: Date | null
    read_at: Date
    misses: ColumnWithDefault<number>
    gone_at: Date | null
  }
  asset: { key: string; network: string; symbol: string; decimals: number }
  owner: {
    kind: 'channel' | 'stable_wallet'
    id: string
    service: ColumnWithDefault<ServiceName>
    forward_network: string | null
    forward_asset: string | null
    forward_recipient: string | null
    created_at: Generated<Date>
  }
  address_book: {
    network: string
    address: string
    role: 'deposit' | 'recipient'
    owner_kind: 'channel' | 'stable_wallet' | null
    owner_id: string | null
    service: ColumnWithDefault<ServiceName>
    added_at: Generated<Date>
  }
  deposit: {
    id: Id
    group_id: bigint
    service_id: string | null
    service: ColumnWithDefault<ServiceName>
    transfer: string | null
    merged_into: bigint | null
    state: string
    owner_kind: string | null
    owner_id: string | null
    network: string | null
    address: string | null
    asset: string | null
    amount: Numeric | null
    tx: string | null
    settlement_network: string | null
    settlement_address: string | null
    settlement_asset: string | null
    settlement_amount: Numeric | null
    settlement_tx: string | null
    fee_amount: Numeric | null
    matrix: unknown
    deposited_at: Date | null
    webhook_at: Date | null
    api_at: Date | null
    chain_at: Date | null
    final_at: Date | null
    settled_at: Date | null
    reconciled_at: Date | null
    steps_known: Generated<number>
    steps_reported: Generated<number>
    unreported_since: Date | null
    created_at: Generated<Date>
    updated_at: Generated<Date>
  }
  mismatch: {
    id: Id
    subject: string
    kind: string
    service: ColumnWithDefault<ServiceName>
    severity: string
    deposit_id: bigint | null
    group_id: bigint | null
    network: string | null
    asset: string | null
    value: Numeric | null
    loss_asset: string | null
    loss_amount: Numeric | null
    loss_whole: Numeric | null
    detail: unknown
    opened_at: Date
    cleared_at: Date | null
    cleared_how: 'evidence' | 'person' | null
    assigned_to: string | null
    snoozed_until: Date | null
    resolved_at: Date | null
    resolved_by: string | null
    resolved_reason: string | null
  }
  mismatch_event: {
    id: Id
    mismatch_id: bigint
    at: Generated<Date>
    actor: string
    action: string
    text: string | null
    approved_by: string | null
    before: unknown
    after: unknown
  }
  mismatch_event_pending: { event_id: bigint }
  proposal: {
    id: Id
    service_id: string
    service: ColumnWithDefault<ServiceName>
    role: 'deposit' | 'recipient'
    transfer: string
    score: number
    reasons: unknown
    policy: string
    state: Generated<'proposed' | 'accepted' | 'rejected' | 'withdrawn'>
    proposed_at: Generated<Date>
    ended_at: Date | null
  }
  named_transaction: {
    network: string
    tx: string
    role: 'deposit' | 'recipient'
    address: string
    tries: ColumnWithDefault<number>
    next_at: Date | null
  }
  leg_search: {
    service_id: string
    service: ColumnWithDefault<ServiceName>
    role: 'deposit' | 'recipient'
    network: string
    address: string
    tx: string | null
    from_at: Date
    searched_at: Date | null
    tries: ColumnWithDefault<number>
    next_at: Date
  }
  ledger_account: { id: string; asset: string; created_at: Generated<Date> }
  ledger_journal: {
    id: Id
    posting_key: string
    kind: 'deposit' | 'settlement' | 'refund' | 'write_off' | 'withdrawal' | 'manual' | 'reversal'
    deposit_id: bigint | null
    transfer: string | null
    reverses: bigint | null
    event_at: Date
    recorded_at: Generated<Date>
    /** First day of the month in whose books the journal is, as Postgres writes a date. */
    period: string
  }
  ledger_transfer: {
    journal_id: bigint
    leg: number
    debit: string
    credit: string
    asset: string
    amount: Numeric
    event_at: Date
    recorded_at: Date
    period: string
  }
  manual_journal: { journal_id: bigint; reason: string; made_by: string; approved_by: string }
  account_label: { place: number; pattern: string; code: string | null; name: string | null }
  ledger_period: { period: string; state: 'open' | 'soft_closed' | 'closed' }
  ledger_period_event: {
    id: Id
    period: string
    action: 'soft_closed' | 'closed' | 'reopened'
    at: Generated<Date>
    actor: string
    approved_by: string | null
    reason: string | null
    severe_open: Generated<number>
    forced: Generated<boolean>
    last_journal: bigint | null
    cut_at: Date | null
    sha256: string | null
  }
  ledger_period_balance: {
    event_id: bigint
    account: string
    asset: string
    debit: Numeric
    credit: Numeric
  }
}
