import { sql } from 'kysely'
import type { Address } from '../../core/asset.ts'
import { inTransaction } from '../../store/database.ts'
import type { DepositReason, DepositStatus, ServiceDepositRow, ServiceTransaction } from '../tables.ts'
import { isUnpaidDeposit } from '../transfers/due-transfer.ts'
import type { DepositBook, DepositChange } from './deposits.ts'
import { knownSender } from './policy.ts'

export type RefundOutcome =
  | { kind: 'refunding'; deposit: ServiceDepositRow }
  | { kind: 'not_found' }
  | { kind: 'wrong_state'; status: DepositStatus }
  /** The caller must name an address. */
  | { kind: 'sender_unknown' }

const refundable: readonly DepositStatus[] = ['confirmed', 'converting', 'held']

/** Refunds a final deposit in full; to its sender if `to` is null. */
export function refundDeposit(
  { db, deposits }: DepositBook,
  { id, to }: { id: string; to: Address | null },
): Promise<RefundOutcome> {
  return inTransaction(db, async (tx): Promise<RefundOutcome> => {
    const deposit = await tx
      .selectFrom('service.deposit as deposit')
      .selectAll('deposit')
      .where('id', '=', id)
      .forNoKeyUpdate()
      .executeTakeFirst()
    if (deposit === undefined) return { kind: 'not_found' }
    const mayGoBack = refundable.includes(deposit.status) && (await isUnpaid(tx, id))
    if (!mayGoBack) return { kind: 'wrong_state', status: deposit.status }
    const receiver = to ?? knownSender(deposit)
    if (receiver === null) return { kind: 'sender_unknown' }
    const [changed = deposit] = await deposits.change(tx, refundable, [
      refundOf(deposit, receiver, 'requested'),
    ])
    return { kind: 'refunding', deposit: changed }
  })
}

/** Requires the lock on the deposit's row, which signers of its transfers take too. */
async function isUnpaid(tx: ServiceTransaction, id: string): Promise<boolean> {
  const { rows } = await sql`
    select from service.deposit as deposit where id = ${id} and ${isUnpaidDeposit}`.execute(tx)
  return rows.length === 1
}

export function refundOf(
  { id, amount }: ServiceDepositRow,
  to: Address,
  reason: DepositReason,
): DepositChange {
  return { id, status: 'refunding', reason, refund_address: to, refund_amount: amount }
}

export type ReleaseOutcome =
  | { kind: 'released'; deposit: ServiceDepositRow }
  | { kind: 'not_found' }
  | { kind: 'wrong_state'; status: DepositStatus }

/** No policy stops it again. */
export function releaseDeposit({ db, deposits }: DepositBook, id: string): Promise<ReleaseOutcome> {
  return inTransaction(db, async (tx): Promise<ReleaseOutcome> => {
    const change = { id, status: 'confirmed', released_at: new Date() } as const
    const [deposit] = await deposits.change(tx, ['held'], [change])
    if (deposit !== undefined) return { kind: 'released', deposit }
    const found = await tx
      .selectFrom('service.deposit')
      .select('status')
      .where('id', '=', id)
      .executeTakeFirst()
    return found === undefined ? { kind: 'not_found' } : { kind: 'wrong_state', status: found.status }
  })
}
