import { sql } from 'kysely'
import { assetCode } from '../../core/asset.ts'
import { assert, isFault } from '../../core/errors.ts'
import { type DepositChange, lockDeposits } from '../deposits/deposits.ts'
import type { SignedTransfer } from '../network/port.ts'
import type { ServiceTransaction, WithdrawalRow } from '../tables.ts'
import { reportWithdrawals } from '../webhooks/withdrawal-events.ts'
import {
  type ChainNonces,
  type DraftedTransfer,
  type DueTransfer,
  isUnpaidDeposit,
  isUnpaidWithdrawal,
  paidDeposits,
  postpone,
  type TransferSigningDeps,
} from './due-transfer.ts'

export type SignedStoreContext = TransferSigningDeps & { tx: ServiceTransaction }

export type SignedTransferRecord = TransferAttempt & { id: bigint; signed: SignedTransfer }

/** Signs only those still due, under the lock of their rows. */
export async function storeSigned(
  storing: SignedStoreContext,
  drafted: readonly DraftedTransfer[],
  chainNonces: ChainNonces,
): Promise<readonly SignedTransferRecord[]> {
  await lockNetwork(storing)
  const still = await stillDue(storing.tx, drafted)
  const signed = await signAll(storing, still, await readNonces(storing, chainNonces))
  await saveSigned(storing, signed)
  return signed
}

/** One signer at a time assigns nonces. */
async function lockNetwork({ tx, network }: SignedStoreContext): Promise<void> {
  const { name } = network.settings
  const row = tx.selectFrom('service.stream').select('network').where('network', '=', name)
  await row.forUpdate().executeTakeFirstOrThrow()
}

type TransferAttempt = DraftedTransfer & { attempt: number }

/** Others were refunded or signed by another process since. */
async function stillDue(
  tx: ServiceTransaction,
  drafted: readonly DraftedTransfer[],
): Promise<TransferAttempt[]> {
  const rows = drafted.map(({ wanted }, place) => ({
    place,
    kind: wanted.kind,
    deposits: depositsOf(wanted),
    withdrawal: wanted.kind === 'withdrawal' ? wanted.withdrawal.toString() : null,
  }))
  await lockDeposits(
    tx,
    rows.flatMap(({ deposits }) => deposits),
  )
  const { rows: still } = await sql<{ place: number; attempt: number }>`
    select wanted.place, (
      select coalesce(max(attempt), 0) + 1 from service.transfer
      where transfer.kind = wanted.kind
        and (transfer.deposit_id = wanted.deposits ->> 0 or transfer.withdrawal = wanted.withdrawal)
    )::integer as attempt
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as wanted (
      place integer, kind text, deposits jsonb, withdrawal bigint)
    where case wanted.kind
      when 'forward' then not exists (
        select from jsonb_array_elements_text(wanted.deposits) as paid (id) join service.deposit using (id)
        where not (status in ('converting', 'forwarding') and ${isUnpaidDeposit}))
      when 'refund' then exists (
        select from service.deposit
        where id = wanted.deposits ->> 0 and status = 'refunding' and ${isUnpaidDeposit})
      when 'extra' then not exists (
        select from service.transfer where deposit_id = wanted.deposits ->> 0 and kind = 'extra')
      when 'withdrawal' then exists (
        select from service.withdrawal
        where sequence = wanted.withdrawal and status in ('requested', 'sending') and ${isUnpaidWithdrawal})
      when 'sweep' then not exists (
        select from jsonb_array_elements_text(wanted.deposits) as swept (id) join service.deposit using (id)
        where sweep_id is not null)
      else true
    end
    order by wanted.place`.execute(tx)
  return still.flatMap(({ place, attempt }) => {
    const one = drafted[place]
    return one === undefined ? [] : [{ ...one, attempt }]
  })
}

function depositsOf(wanted: DueTransfer): readonly string[] {
  return wanted.kind === 'sweep' ? wanted.depositIds : paidDeposits(wanted)
}

/** Of the next transfer, by branch; null if the network has no nonces. */
type Nonces = Map<number, bigint | null>

/** The chain's nonce is ahead if the key was used before, and behind while transfers are pending. */
async function readNonces({ tx, network }: SignedStoreContext, chainNonces: ChainNonces): Promise<Nonces> {
  const { rows } = await sql<{ branch: number; next: bigint }>`
    select branch, max(nonce) + 1 as next from service.transfer
    where network = ${network.settings.name} and branch = any(${[...chainNonces.keys()]}::integer[])
      and nonce is not null
    group by branch`.execute(tx)
  const nonces = new Map(chainNonces)
  for (const { branch, next } of rows) {
    const chain = nonces.get(branch) ?? null
    if (chain !== null && next > chain) nonces.set(branch, next)
  }
  return nonces
}

/**
 * Signs sequentially: the funds of a transfer depend on those before it. If signing fails, the next transfer takes the
 * nonce.
 */
async function signAll(
  storing: SignedStoreContext,
  still: readonly TransferAttempt[],
  nonces: Nonces,
): Promise<SignedTransferRecord[]> {
  const ids = await takeIds(storing.tx, still.length)
  const all: SignedTransferRecord[] = []
  for (const one of still) {
    const { branch } = one.wanted.order
    const nonce = nonces.get(branch) ?? null
    const signed = await sign(storing, one, nonce)
    if (signed === null) continue
    all.push({ ...one, id: ids[all.length] ?? 0n, signed })
    if (nonce !== null) nonces.set(branch, nonce + 1n)
  }
  return all
}

async function sign(
  storing: SignedStoreContext,
  { wanted, draft }: TransferAttempt,
  nonce: bigint | null,
): Promise<SignedTransfer | null> {
  try {
    return await draft.sign(nonce)
  } catch (error) {
    if (!isFault(error, 'remote_failed')) throw error
    postpone(storing, wanted, error)
    return null
  }
}

async function takeIds(tx: ServiceTransaction, count: number): Promise<readonly bigint[]> {
  const { rows } = await sql<{ id: bigint }>`
    select nextval('service.transfer_id_seq') as id from generate_series(1, ${count}::integer)`.execute(tx)
  return rows.map(({ id }) => id)
}

/** The caller has locked the records. */
async function saveSigned(
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
  await saveWithdrawals(storing, signed)
  await changeDeposits(storing, signed)
  await saveSweeps(tx, signed)
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

/** Of several transfers, the last one reported remains. */
async function changeDeposits(
  { tx, deposits }: SignedStoreContext,
  signed: readonly SignedTransferRecord[],
): Promise<void> {
  const parts = signed.flatMap((one) =>
    one.wanted.kind === 'extra' && one.wanted.isReported ? reported(one) : [],
  )
  const forwards = signed.flatMap((one) => (one.wanted.kind === 'forward' ? reported(one) : []))
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

/** A fault may misdirect a forward, and the deposit states the actual recipient. */
function reported({ wanted, signed: { transaction } }: SignedTransferRecord): DepositChange[] {
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

/** Locks all rows before the first event is written. */
async function saveWithdrawals(
  { tx, network }: SignedStoreContext,
  signed: readonly SignedTransferRecord[],
): Promise<void> {
  const sent = signed.flatMap(({ wanted, signed: { transaction } }) =>
    wanted.kind === 'withdrawal' ? [{ sequence: wanted.withdrawal.toString(), transaction }] : [],
  )
  if (sent.length === 0) return
  const { rows } = await sql<WithdrawalRow>`
    update service.withdrawal set status = 'sending', transaction = sent.transaction, updated_at = clock_timestamp()
    from jsonb_to_recordset(${JSON.stringify(sent)}::jsonb) as sent (sequence bigint, transaction text)
    where withdrawal.sequence = sent.sequence
    returning withdrawal.*`.execute(tx)
  await reportWithdrawals(tx, [network.settings], rows)
}
