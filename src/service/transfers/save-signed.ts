import { sql } from 'kysely'
import { assetCode } from '../../core/asset.ts'
import { assert } from '../../core/errors.ts'
import type { DepositChange } from '../deposits/deposits.ts'
import type { ServiceTransaction } from '../tables.ts'
import type { SignedStoreContext, SignedTransferRecord } from './store-signed.ts'
import { paidDeposits } from './wanted.ts'

/** Writes the transfers and their bytes, and the states that tell of them. The rows of the states are locked. */
export async function saveSigned(
  storing: SignedStoreContext,
  signed: readonly SignedTransferRecord[],
): Promise<void> {
  if (signed.length === 0) return
  const { tx, network } = storing
  await tx
    .insertInto('service.transfer')
    .values(signed.map((one) => transferOf(one, network.settings.name)))
    .execute()
  await tx
    .insertInto('service.signing')
    .values(
      signed.map(({ id, draft, signed: { transaction, bytes, expiresHeight } }) => ({
        transaction,
        transfer_id: id,
        amount: draft.amount.toString(),
        bytes: Buffer.from(bytes),
        expires_height: expiresHeight,
      })),
    )
    .execute()
  await changeDeposits(storing, signed)
  await saveSweeps(tx, signed)
  await saveWithdrawals(tx, signed)
}

function transferOf(
  { wanted, draft, id, attempt, signed }: SignedTransferRecord,
  network: SignedStoreContext['network']['settings']['name'],
) {
  return {
    id,
    kind: wanted.kind,
    deposit_id: 'depositId' in wanted ? wanted.depositId : null,
    withdrawal: wanted.kind === 'withdrawal' ? wanted.withdrawal : null,
    attempt,
    network,
    branch: wanted.order.branch,
    nonce: signed.nonce,
    asset: assetCode(wanted.order.asset),
    to_address: wanted.order.to,
    amount: draft.amount.toString(),
    outcome: null,
    transaction: null,
  }
}

/** Of what is told in parts the last one counts. */
async function changeDeposits(
  { tx, deposits }: SignedStoreContext,
  signed: readonly SignedTransferRecord[],
): Promise<void> {
  const parts = signed.flatMap((one) => (one.wanted.kind === 'stray' && one.wanted.isTold ? told(one) : []))
  const forwards = signed.flatMap((one) => (one.wanted.kind === 'forward' ? told(one) : []))
  const refunds = signed.flatMap(({ wanted, signed: { transaction } }): DepositChange[] =>
    wanted.kind === 'refund'
      ? [{ id: wanted.depositId, status: 'refunding', refund_transaction: transaction }]
      : [],
  )
  await deposits.change(tx, ['converting'], parts)
  const changed = [
    ...(await deposits.change(tx, ['converting', 'forwarding'], forwards)),
    ...(await deposits.change(tx, ['refunding'], refunds)),
  ]
  assert(changed.length === forwards.length + refunds.length, 'a deposit that is locked keeps its state')
}

/** The address is written with it: a fault may send a forward elsewhere, and states what it did. */
function told({ wanted, signed: { transaction } }: SignedTransferRecord): DepositChange[] {
  return paidDeposits(wanted).map((id) => ({
    id,
    status: 'forwarding',
    to_address: wanted.order.to,
    to_transaction: transaction,
  }))
}

async function saveSweeps(tx: ServiceTransaction, signed: readonly SignedTransferRecord[]): Promise<void> {
  const sweeps = signed.flatMap(({ id, wanted }) =>
    wanted.kind === 'sweep' ? wanted.depositIds.map((deposit) => ({ deposit, sweep: id.toString() })) : [],
  )
  if (sweeps.length === 0) return
  await sql`
    update service.deposit set sweep_id = swept.sweep
    from jsonb_to_recordset(${JSON.stringify(sweeps)}::jsonb) as swept (deposit text, sweep bigint)
    where deposit.id = swept.deposit`.execute(tx)
}

async function saveWithdrawals(
  tx: ServiceTransaction,
  signed: readonly SignedTransferRecord[],
): Promise<void> {
  const sent = signed.flatMap(({ wanted, signed: { transaction } }) =>
    wanted.kind === 'withdrawal' ? [{ sequence: wanted.withdrawal.toString(), transaction }] : [],
  )
  if (sent.length === 0) return
  await sql`
    update service.withdrawal set status = 'sending', transaction = sent.transaction, updated_at = clock_timestamp()
    from jsonb_to_recordset(${JSON.stringify(sent)}::jsonb) as sent (sequence bigint, transaction text)
    where withdrawal.sequence = sent.sequence`.execute(tx)
}
