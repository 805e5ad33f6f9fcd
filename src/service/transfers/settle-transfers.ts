import { sql } from 'kysely'
import { toTxId } from '../../core/asset.ts'
import { inTransaction } from '../../store/database.ts'
import { type DepositChange, type Deposits, lockDeposits } from '../deposits/deposits.ts'
import { liquidityBranch } from '../keyring/keyring.ts'
import type { NetworkClient, SignedTransferOutcome } from '../network/port.ts'
import type { RetryBackoff } from '../running/loop.ts'
import { mapBounded } from '../running/requests.ts'
import type {
  ServiceDatabase,
  ServiceTransaction,
  ServiceTransferRow,
  SigningRow,
  WithdrawalRow,
} from '../tables.ts'
import { reportWithdrawals } from '../webhooks/withdrawal-events.ts'
import { keyOf, sendTransfers, type TransferSigningDeps } from './due-transfer.ts'

export type OpenTransfer = { transfer: ServiceTransferRow; versions: readonly SigningRow[] }

const batchMax = 200
const requestsAtOnce = 8

/**
 * Returns how many ended. Unknown transfers are sent again with the same bytes, in the order of signing: a crash or the
 * node lost them, or the node rejected them.
 */
export async function settleTransfers(signing: TransferSigningDeps): Promise<number> {
  const { network, log } = signing
  await sendTransfers(network, await forgottenTransfers(signing, liquidityBranch), log)
  let ended = 0
  for (let after: bigint | null = 0n; after !== null; ) {
    const open: readonly OpenTransfer[] = await openTransfers(signing, after)
    ended += await settleBatch(signing, open)
    after = open.length < batchMax ? null : (open.at(-1)?.transfer.id ?? null)
  }
  return ended
}

/**
 * The chain lost final blocks, as a local node does when it is killed, and expects their nonces again. Later nonces can
 * land only after these.
 */
export async function forgottenTransfers(
  { db, network }: Pick<TransferSigningDeps, 'db' | 'network'>,
  branch: number,
): Promise<readonly SigningRow[]> {
  const nextNonce = await network.nextNonce(branch)
  if (nextNonce === null) return []
  return db
    .selectFrom('service.transfer as transfer')
    .innerJoin('service.signing as signing', 'signing.transaction', 'transfer.transaction')
    .selectAll('signing')
    .where('transfer.network', '=', network.settings.name)
    .where('transfer.branch', '=', branch)
    .where('transfer.nonce', '>=', nextNonce)
    .orderBy('transfer.nonce')
    .limit(batchMax)
    .execute()
}

async function openTransfers(
  { db, network }: TransferSigningDeps,
  after: bigint,
): Promise<readonly OpenTransfer[]> {
  const transfers = await db
    .selectFrom('service.transfer')
    .selectAll()
    .where('network', '=', network.settings.name)
    .where('outcome', 'is', null)
    .where('id', '>', after)
    .orderBy('id')
    .limit(batchMax)
    .execute()
  return withVersions(db, transfers)
}

export async function withVersions(
  db: ServiceDatabase,
  transfers: readonly ServiceTransferRow[],
): Promise<readonly OpenTransfer[]> {
  if (transfers.length === 0) return []
  const ids = transfers.map(({ id }) => id)
  const signings = await db
    .selectFrom('service.signing')
    .selectAll()
    .where('transfer_id', 'in', ids)
    .orderBy('version', 'desc')
    .execute()
  const byTransfer = Map.groupBy(signings, ({ transfer_id }) => transfer_id)
  return transfers.map((transfer) => ({ transfer, versions: byTransfer.get(transfer.id) ?? [] }))
}

async function settleBatch(signing: TransferSigningDeps, open: readonly OpenTransfer[]): Promise<number> {
  const { db, deposits, network, backoff, log } = signing
  const judged = await mapBounded(open, requestsAtOnce, async (one) => ({
    ...one,
    fate: await fateOf(network, one),
  }))
  const lost = judged.flatMap(({ versions: [newest], fate }) =>
    fate.kind === 'lost' && newest !== undefined ? [newest] : [],
  )
  await sendTransfers(network, lost, log)
  const ended = judged.flatMap(({ transfer, fate }): EndedTransfer[] =>
    fate.kind === 'ended' ? [{ transfer, ...fate }] : [],
  )
  if (ended.length === 0) return 0
  return inTransaction(db, (tx) => saveOutcomes({ tx, deposits, backoff, network }, ended))
}

type Fate =
  | { kind: 'open' }
  /** The node knows none of the versions. */
  | { kind: 'lost' }
  | { kind: 'ended'; outcome: Exclude<SignedTransferOutcome, { kind: 'open' }>; transaction: string }

/** All versions share a nonce, so at most one lands. */
async function fateOf(network: NetworkClient, { versions }: OpenTransfer): Promise<Fate> {
  let isKnown = false
  for (const { transaction, expires_height: expiresHeight } of versions) {
    const outcome = await network.outcome({ transaction: toTxId(transaction), expiresHeight })
    if (outcome.kind !== 'open') return { kind: 'ended', outcome, transaction }
    isKnown ||= outcome.known
  }
  return { kind: isKnown ? 'open' : 'lost' }
}

export type EndedTransfer = {
  transfer: ServiceTransferRow
  outcome: Exclude<SignedTransferOutcome, { kind: 'open' }>
  transaction: string
}

type SaveOutcomeDeps = {
  tx: ServiceTransaction
  deposits: Deposits
  backoff: RetryBackoff
  network: Pick<NetworkClient, 'settings'>
}

/** Limits payments to a recipient that makes every transfer revert. */
const revertsMax = 5

/**
 * A reverted or expired attempt moved nothing and never will, so another may follow.
 * @returns how many ended by this call; another process may have saved the same outcomes
 */
export async function saveOutcomes(
  { tx, deposits, backoff, network }: SaveOutcomeDeps,
  reported: readonly EndedTransfer[],
): Promise<number> {
  await lockDeposits(tx, await depositsOf(tx, reported))
  const ended = await endTransfers(tx, reported)
  const undeliverable = await findUndeliverable(tx, ended)
  const alsoPaid = Map.groupBy(await findAlsoPaid(tx, ended), ({ transfer }) => transfer)
  await saveWithdrawals(tx, network, ended)
  await deposits.change(
    tx,
    ['forwarding'],
    ended.flatMap((one) => settled(one, alsoPaid.get(one.transfer.id) ?? [])),
  )
  await deposits.change(tx, ['refunding'], ended.flatMap(refunded))
  await deposits.change(tx, ['forwarding', 'refunding'], undeliverable.map(heldOf))
  await sql`
    update service.deposit set sweep_id = null
    from service.transfer
    where transfer.id = deposit.sweep_id and transfer.outcome in ('reverted', 'expired')
      and transfer.id = any(${ended.map(({ transfer }) => transfer.id)})`.execute(tx)
  for (const { transfer, outcome } of ended) {
    if (outcome.kind === 'reverted') backoff.failed(keyOf(transfer))
    if (outcome.kind === 'landed') backoff.done(keyOf(transfer))
  }
  for (const id of undeliverable) backoff.done(id)
  return ended.length
}

/** Locks all before the first event is written, because that blocks other writers. */
async function depositsOf(
  tx: ServiceTransaction,
  reported: readonly EndedTransfer[],
): Promise<readonly string[]> {
  const ids = reported.map(({ transfer }) => transfer.id)
  const swept = await tx
    .selectFrom('service.deposit')
    .select('id')
    .where(sql<boolean>`sweep_id = any(${ids})`)
    .execute()
  const paid = reported.map(({ transfer }) => transfer.deposit_id).filter((id) => id !== null)
  const alsoPaid = await findAlsoPaid(tx, reported)
  return [...paid, ...[...swept, ...alsoPaid].map(({ id }) => id)]
}

async function findAlsoPaid(
  tx: ServiceTransaction,
  reported: readonly EndedTransfer[],
): Promise<readonly { id: string; transfer: bigint }[]> {
  const forwards = reported.filter(({ transfer }) => transfer.kind === 'forward')
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

async function endTransfers(
  tx: ServiceTransaction,
  reported: readonly EndedTransfer[],
): Promise<readonly EndedTransfer[]> {
  const rows = reported.map(({ transfer, outcome, transaction }) => ({
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
  return reported.filter(({ transfer }) => ids.has(transfer.id))
}

/** Their transfers reverted `revertsMax` times. A person's decision allows as many new attempts. */
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

/** Another version than the newest may have landed. */
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

async function saveWithdrawals(
  tx: ServiceTransaction,
  { settings }: Pick<NetworkClient, 'settings'>,
  ended: readonly EndedTransfer[],
): Promise<void> {
  const rows = ended.map(({ transfer, outcome, transaction }) => ({
    id: transfer.id.toString(),
    transaction: outcome.kind === 'expired' ? null : transaction,
    at: outcome.kind === 'landed' ? outcome.at : null,
  }))
  const { rows: changed } = await sql<WithdrawalRow>`
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
    where withdrawal.sequence = transfer.withdrawal and withdrawal.status = 'sending'
    returning withdrawal.*`.execute(tx)
  await reportWithdrawals(
    tx,
    [settings],
    changed.filter(({ status }) => status !== 'sending'),
  )
}
