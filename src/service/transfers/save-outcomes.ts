import { sql } from 'kysely'
import { type DepositChange, type Deposits, lockDeposits } from '../deposits/deposits.ts'
import type { SignedTransferOutcome } from '../network/port.ts'
import type { RetryBackoff } from '../running/postponed.ts'
import type { ServiceTransaction } from '../tables.ts'
import type { ServiceTransferRow } from './tables.ts'
import { keyOf } from './wanted.ts'

/** A transfer that came to an end by one of its signed versions. */
export type EndedTransfer = {
  transfer: ServiceTransferRow
  outcome: Exclude<SignedTransferOutcome, { kind: 'open' }>
  transaction: string
}

type SaveOutcomeDeps = { tx: ServiceTransaction; deposits: Deposits; postponed: RetryBackoff }

/** A recipient that makes every transfer to it revert is not paid for ever. */
const revertsMax = 5

/**
 * A reverted or expired attempt moved nothing and never will: what it was for may be tried again by another. Returns
 * how many ended by this: another process may have been told of the same outcomes.
 */
export async function saveOutcomes(
  { tx, deposits, postponed }: SaveOutcomeDeps,
  told: readonly EndedTransfer[],
): Promise<number> {
  await lockDeposits(tx, await depositsOf(tx, told))
  const ended = await endTransfers(tx, told)
  const undeliverable = await findUndeliverable(tx, ended)
  const alsoPaid = Map.groupBy(await findAlsoPaid(tx, ended), ({ transfer }) => transfer)
  await deposits.change(
    tx,
    ['forwarding'],
    ended.flatMap((one) => settled(one, alsoPaid.get(one.transfer.id) ?? [])),
  )
  await deposits.change(tx, ['refunding'], ended.flatMap(refunded))
  await deposits.change(tx, ['forwarding', 'refunding'], undeliverable.map(heldOf))
  await saveWithdrawals(tx, ended)
  await sql`
    update service.deposit set sweep_id = null
    from service.transfer
    where transfer.id = deposit.sweep_id and transfer.outcome in ('reverted', 'expired')
      and transfer.id = any(${ended.map(({ transfer }) => transfer.id)})`.execute(tx)
  for (const { transfer, outcome } of ended) {
    if (outcome.kind === 'reverted') postponed.failed(keyOf(transfer))
    if (outcome.kind === 'landed') postponed.done(keyOf(transfer))
  }
  for (const id of undeliverable) postponed.done(id)
  return ended.length
}

/** All are locked before the first event is written, since whoever writes events holds up the others who do. */
async function depositsOf(
  tx: ServiceTransaction,
  told: readonly EndedTransfer[],
): Promise<readonly string[]> {
  const ids = told.map(({ transfer }) => transfer.id)
  const swept = await tx
    .selectFrom('service.deposit')
    .select('id')
    .where(sql<boolean>`sweep_id = any(${ids})`)
    .execute()
  const paid = told.map(({ transfer }) => transfer.deposit_id).filter((id) => id !== null)
  const alsoPaid = await findAlsoPaid(tx, told)
  return [...paid, ...[...swept, ...alsoPaid].map(({ id }) => id)]
}

/** Those that name a transaction of another deposit's forward. */
async function findAlsoPaid(
  tx: ServiceTransaction,
  told: readonly EndedTransfer[],
): Promise<readonly { id: string; transfer: bigint }[]> {
  const forwards = told.filter(({ transfer }) => transfer.kind === 'forward')
  if (forwards.length === 0) return []
  const { rows } = await sql<{ id: string; transfer: bigint }>`
    select deposit.id, transfer.id as transfer
    from service.transfer
    join service.signing on signing.transfer_id = transfer.id
    join service.deposit on deposit.to_transaction = signing.transaction and deposit.id <> transfer.deposit_id
    where transfer.id = any(${forwards.map(({ transfer }) => transfer.id)}) and deposit.status = 'forwarding'`.execute(
    tx,
  )
  return rows
}

/** Returns those that this ended. */
async function endTransfers(
  tx: ServiceTransaction,
  told: readonly EndedTransfer[],
): Promise<readonly EndedTransfer[]> {
  const rows = told.map(({ transfer, outcome, transaction }) => ({
    id: transfer.id.toString(),
    outcome: outcome.kind,
    transaction: outcome.kind === 'expired' ? null : transaction,
  }))
  const updated = await sql<{ id: bigint }>`
    update service.transfer set outcome = ended.outcome, transaction = ended.transaction, amount = coalesce(
      (select amount from service.signing where signing.transaction = ended.transaction), transfer.amount)
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as ended (id bigint, outcome text, transaction text)
    where transfer.id = ended.id and transfer.outcome is null
    returning transfer.id`.execute(tx)
  const ids = new Set(updated.rows.map(({ id }) => id))
  return told.filter(({ transfer }) => ids.has(transfer.id))
}

/** Deposits whose last forward or refund that is tried before a person decides was reverted; a decision begins anew. */
async function findUndeliverable(
  tx: ServiceTransaction,
  ended: readonly EndedTransfer[],
): Promise<readonly string[]> {
  const reverted = ended
    .filter(({ outcome }) => outcome.kind === 'reverted')
    .map(({ transfer }) => transfer.id)
  if (reverted.length === 0) return []
  const { rows } = await sql<{ deposit_id: string }>`
    select transfer.deposit_id
    from service.transfer join service.transfer as before using (deposit_id, kind)
    where transfer.id = any(${reverted}) and kind in ('forward', 'refund') and before.outcome = 'reverted'
    group by transfer.id having count(*) % ${revertsMax} = 0`.execute(tx)
  return rows.map(({ deposit_id }) => deposit_id)
}

function heldOf(id: string): DepositChange {
  return { id, status: 'held', reason: 'undeliverable' }
}

/** The transaction is stated anew: of several versions it may be another that landed. */
function settled(
  { transfer, outcome, transaction }: EndedTransfer,
  alsoPaid: readonly { id: string }[],
): DepositChange[] {
  if (transfer.kind !== 'forward' || transfer.deposit_id === null || outcome.kind !== 'landed') return []
  const { at } = outcome
  const paid = [transfer.deposit_id, ...alsoPaid.map(({ id }) => id)]
  return paid.map((id) => ({ id, status: 'settled', to_transaction: transaction, to_at: at }))
}

function refunded({ transfer, outcome, transaction }: EndedTransfer): DepositChange[] {
  if (transfer.kind !== 'refund' || transfer.deposit_id === null || outcome.kind !== 'landed') return []
  const { deposit_id: id } = transfer
  return [{ id, status: 'refunded', refund_transaction: transaction, refund_at: outcome.at }]
}

async function saveWithdrawals(tx: ServiceTransaction, ended: readonly EndedTransfer[]): Promise<void> {
  const rows = ended.map(({ transfer, outcome, transaction }) => ({
    id: transfer.id.toString(),
    transaction: outcome.kind === 'expired' ? null : transaction,
    at: outcome.kind === 'landed' ? outcome.at : null,
  }))
  await sql`
    update service.withdrawal set
      status = case
        when transfer.outcome = 'landed' then 'settled'
        when transfer.outcome = 'reverted' and ${revertsMax} <= (
          select count(*) from service.transfer as before
          where before.withdrawal = transfer.withdrawal and before.outcome = 'reverted') then 'failed'
        else 'sending'
      end,
      transaction = coalesce(ended.transaction, withdrawal.transaction),
      settled_at = ended.at,
      updated_at = clock_timestamp()
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as ended (id bigint, transaction text, at timestamptz)
    join service.transfer on transfer.id = ended.id
    where withdrawal.sequence = transfer.withdrawal and withdrawal.status = 'sending'`.execute(tx)
}
