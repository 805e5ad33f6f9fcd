import { sql } from 'kysely'
import type { DepositChange, Deposits } from '../deposits/deposits.ts'
import type { Outcome } from '../network/port.ts'
import type { Postponed } from '../running/postponed.ts'
import type { ServiceTransaction } from '../tables.ts'
import type { TransferRow } from './tables.ts'
import { keyOf } from './wanted.ts'

/** A transfer that came to an end by one of its signed versions. */
export type Ended = {
  transfer: TransferRow
  outcome: Exclude<Outcome, { kind: 'open' }>
  transaction: string
}

type Saving = { tx: ServiceTransaction; deposits: Deposits; postponed: Postponed }

/** A recipient that makes every transfer to it revert is not paid for ever. */
const withdrawalAttemptsMax = 5

/** A reverted or expired attempt moved nothing and never will: what it was for may be tried again by another. */
export async function saveOutcomes(
  { tx, deposits, postponed }: Saving,
  ended: readonly Ended[],
): Promise<void> {
  const rows = ended.map(({ transfer, outcome, transaction }) => ({
    id: transfer.id.toString(),
    outcome: outcome.kind,
    transaction: outcome.kind === 'expired' ? null : transaction,
    at: outcome.kind === 'landed' ? outcome.at : null,
  }))
  const list = JSON.stringify(rows)
  await sql`
    update service.transfer set outcome = ended.outcome, transaction = ended.transaction, amount = coalesce(
      (select amount from service.signing where signing.transaction = ended.transaction), transfer.amount)
    from jsonb_to_recordset(${list}::jsonb) as ended (id bigint, outcome text, transaction text)
    where transfer.id = ended.id and transfer.outcome is null`.execute(tx)
  await deposits.change(tx, ['forwarding'], ended.flatMap(settled))
  await deposits.change(tx, ['refunding'], ended.flatMap(refunded))
  await saveWithdrawals(tx, list)
  await sql`
    update service.deposit set sweep_id = null
    from service.transfer
    where transfer.id = deposit.sweep_id and transfer.outcome in ('reverted', 'expired')
      and transfer.id = any(${ended.map(({ transfer }) => transfer.id)})`.execute(tx)
  for (const { transfer, outcome } of ended) {
    if (outcome.kind === 'reverted') postponed.failed(keyOf(transfer))
  }
}

/** The transaction is stated anew: of several versions it may be another that landed. */
function settled({ transfer, outcome, transaction }: Ended): DepositChange[] {
  if (transfer.kind !== 'forward' || transfer.deposit_id === null || outcome.kind !== 'landed') return []
  return [{ id: transfer.deposit_id, status: 'settled', to_transaction: transaction, to_at: outcome.at }]
}

function refunded({ transfer, outcome, transaction }: Ended): DepositChange[] {
  if (transfer.kind !== 'refund' || transfer.deposit_id === null || outcome.kind !== 'landed') return []
  const { deposit_id: id } = transfer
  return [{ id, status: 'refunded', refund_transaction: transaction, refund_at: outcome.at }]
}

async function saveWithdrawals(tx: ServiceTransaction, list: string): Promise<void> {
  await sql`
    update service.withdrawal set
      status = case
        when ended.outcome = 'landed' then 'settled'
        when transfer.attempt >= ${withdrawalAttemptsMax} and ended.outcome = 'reverted' then 'failed'
        else 'sending'
      end,
      transaction = coalesce(ended.transaction, withdrawal.transaction),
      settled_at = ended.at,
      updated_at = clock_timestamp()
    from jsonb_to_recordset(${list}::jsonb) as ended (id bigint, outcome text, transaction text, at timestamptz)
    join service.transfer on transfer.id = ended.id
    where withdrawal.sequence = transfer.withdrawal and withdrawal.status = 'sending'`.execute(tx)
}
