import { sql } from 'kysely'
import { assert } from '../../core/errors.ts'
import { logEvent } from '../../log/log-event.ts'
import { inTransaction } from '../../store/database.ts'
import type { SignedTransfer, TransferDraft, TransferOrder } from '../network/port.ts'
import { describeError } from '../running/requests.ts'
import type { ServiceTransaction, ServiceTransferRow } from '../tables.ts'
import { sendTransfers, type TransferSigningDeps } from './due-transfer.ts'
import { forgottenTransfers, type OpenTransfer, withVersions } from './settle-transfers.ts'

const batchMax = 50

/**
 * After `replaceAfterMs`; returns how many. The nonce stays the same, so at most one version lands. Networks without
 * nonces have nothing to replace: their transfers expire.
 */
export async function replaceFees(signing: TransferSigningDeps, replaceAfterMs: number): Promise<number> {
  const { network, log } = signing
  let replaced = 0
  for (const branch of await slowBranches(signing, replaceAfterMs)) {
    // Those that the chain forgot have lower nonces and must land first.
    await sendTransfers(network, await forgottenTransfers(signing, branch), log)
    const nextNonce = (await network.nextNonce(branch)) ?? 0n
    for (const open of await stuckTransfers(signing, { branch, nextNonce, replaceAfterMs })) {
      replaced += (await replaceFee(signing, open)) ? 1 : 0
    }
  }
  return replaced
}

function slowTransfers({ db, network }: TransferSigningDeps, replaceAfterMs: number) {
  const signedLately = sql<boolean>`exists (
    select from service.signing
    where transfer_id = transfer.id
      and created_at > clock_timestamp() - make_interval(secs => ${replaceAfterMs / 1000}))`
  return db
    .selectFrom('service.transfer as transfer')
    .where('network', '=', network.settings.name)
    .where('outcome', 'is', null)
    .where('nonce', 'is not', null)
    .where((build) => build.not(signedLately))
}

async function slowBranches(signing: TransferSigningDeps, replaceAfterMs: number): Promise<number[]> {
  const rows = await slowTransfers(signing, replaceAfterMs).select('branch').distinct().execute()
  return rows.map(({ branch }) => branch)
}

type Stuck = { branch: number; nextNonce: bigint; replaceAfterMs: number }

/** Transfers below the next nonce are in a block that is not final yet. */
async function stuckTransfers(
  signing: TransferSigningDeps,
  { branch, nextNonce, replaceAfterMs }: Stuck,
): Promise<readonly OpenTransfer[]> {
  const transfers = await slowTransfers(signing, replaceAfterMs)
    .selectAll('transfer')
    .where('branch', '=', branch)
    .where('nonce', '>=', nextNonce)
    .orderBy('nonce')
    .limit(batchMax)
    .execute()
  return withVersions(signing.db, transfers)
}

/** Replaces only if the old fee is too low and the node can be queried. */
async function replaceFee(
  signing: TransferSigningDeps,
  { transfer, versions }: OpenTransfer,
): Promise<boolean> {
  const { db, network, log } = signing
  const [newest] = versions
  assert(newest !== undefined, 'a transfer is stored with its bytes')
  try {
    const draft = await network.redraft(newest.bytes, payerOf(transfer))
    if (draft === null) return false
    const signed = await draft.sign(transfer.nonce)
    const isStored = await inTransaction(db, (tx) =>
      storeVersion({ ...signing, tx }, { transfer, draft, signed, version: newest.version + 1 }),
    )
    if (isStored) await sendTransfers(network, [signed], log)
    return isStored
  } catch (error) {
    logEvent(log, 'fee_not_replaced', { transfer: transfer.id.toString(), problem: describeError(error) })
    return false
  }
}

/** A sweep of the native coin pays its own fee. */
function payerOf({ kind, branch, asset }: ServiceTransferRow): Pick<TransferOrder, 'branch' | 'feeFrom'> {
  return { branch, feeFrom: kind === 'sweep' && asset === 'native' ? 'amount' : 'payer' }
}

type Version = { transfer: ServiceTransferRow; draft: TransferDraft; signed: SignedTransfer; version: number }

/** The newest version is the likeliest to land. */
async function storeVersion(
  { tx, deposits }: TransferSigningDeps & { tx: ServiceTransaction },
  { transfer, draft, signed, version }: Version,
): Promise<boolean> {
  const { transaction, bytes, expiresHeight } = signed
  const amount = draft.amount.toString()
  const { numUpdatedRows } = await tx
    .updateTable('service.transfer')
    .set({ amount })
    .where('id', '=', transfer.id)
    .where('outcome', 'is', null)
    .executeTakeFirstOrThrow()
  if (numUpdatedRows === 0n) return false
  await tx
    .insertInto('service.signing')
    .values({
      transaction,
      transfer_id: transfer.id,
      version,
      amount,
      bytes: Buffer.from(bytes),
      expires_height: expiresHeight,
    })
    .execute()
  const { kind, deposit_id: id, withdrawal } = transfer
  if (kind === 'forward' && id !== null)
    await deposits.change(tx, ['forwarding'], [{ id, status: 'forwarding', to_transaction: transaction }])
  if (kind === 'refund' && id !== null)
    await deposits.change(tx, ['refunding'], [{ id, status: 'refunding', refund_transaction: transaction }])
  if (withdrawal !== null)
    await sql`
      update service.withdrawal set transaction = ${transaction}, updated_at = clock_timestamp()
      where sequence = ${withdrawal} and status = 'sending'`.execute(tx)
  return true
}
