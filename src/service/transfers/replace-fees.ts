import { sql } from 'kysely'
import { assert } from '../../core/errors.ts'
import { inTransaction } from '../../store/database.ts'
import type { Draft, Order, SignedTransfer } from '../network/port.ts'
import { describeError } from '../running/describe-error.ts'
import type { ServiceTransaction } from '../tables.ts'
import { sendTransfers } from './send-transfers.ts'
import { forgottenTransfers, type OpenTransfer, withVersions } from './settle-transfers.ts'
import type { Signing } from './signing.ts'
import type { TransferRow } from './tables.ts'

const batchMax = 50

/**
 * Signs those transfers anew, at a fee of today, that were signed longer ago than that and that no block has taken;
 * returns how many. The nonce stays, so that one version lands whatever becomes of the others. Networks without
 * nonces have nothing to replace: there a transfer expires.
 */
export async function replaceFees(signing: Signing, replaceAfterMs: number): Promise<number> {
  const stuck = await stuckTransfers(signing, replaceAfterMs)
  const nextNonces = new Map<number, bigint | null>()
  let replaced = 0
  for (const open of stuck) {
    const { branch, nonce } = open.transfer
    if (!nextNonces.has(branch)) nextNonces.set(branch, await findNextNonce(signing, branch))
    const next = nextNonces.get(branch) ?? null
    if (next !== null && nonce !== null && nonce >= next)
      replaced += (await replaceFee(signing, open)) ? 1 : 0
  }
  return replaced
}

/** Sends anew what the chain has forgotten below, since nothing above it can land before. */
async function findNextNonce(signing: Signing, branch: number): Promise<bigint | null> {
  await sendTransfers(signing.network, await forgottenTransfers(signing, branch), signing.log)
  return signing.network.nextNonce(branch)
}

async function stuckTransfers(
  { db, network }: Signing,
  replaceAfterMs: number,
): Promise<readonly OpenTransfer[]> {
  const transfers = await db
    .selectFrom('service.transfer as transfer')
    .selectAll('transfer')
    .where('network', '=', network.settings.name)
    .where('outcome', 'is', null)
    .where('nonce', 'is not', null)
    .where(
      sql<boolean>`not exists (
        select from service.signing
        where transfer_id = transfer.id
          and created_at > clock_timestamp() - make_interval(secs => ${replaceAfterMs / 1000}))`,
    )
    .orderBy('id')
    .limit(batchMax)
    .execute()
  return withVersions(db, transfers)
}

/** One that the node has no better fee for, or cannot be asked about, keeps its bytes. */
async function replaceFee(signing: Signing, { transfer, versions }: OpenTransfer): Promise<boolean> {
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
    log.warn({ transfer: transfer.id.toString(), problem: describeError(error) }, 'fee not replaced')
    return false
  }
}

/** As it was ordered: a sweep of the native coin pays for itself. */
function payerOf({ kind, branch, asset }: TransferRow): Pick<Order, 'branch' | 'feeFrom'> {
  return { branch, feeFrom: kind === 'sweep' && asset === 'native' ? 'amount' : 'payer' }
}

type Version = { transfer: TransferRow; draft: Draft; signed: SignedTransfer; version: number }

/** Whoever reads of the transfer is told of the newest version, which is the likeliest to land. */
async function storeVersion(
  { tx, deposits }: Signing & { tx: ServiceTransaction },
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
