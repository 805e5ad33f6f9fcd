import { toTxId } from '../../core/asset.ts'
import { inTransaction } from '../../store/database.ts'
import { liquidityBranch } from '../keyring/keyring.ts'
import type { NetworkClient, SignedTransferOutcome } from '../network/port.ts'
import { mapBounded } from '../running/bounded.ts'
import type { ServiceDatabase } from '../tables.ts'
import { type EndedTransfer, saveOutcomes } from './save-outcomes.ts'
import { sendTransfers } from './send-transfers.ts'
import type { TransferSigningDeps } from './signing.ts'
import type { ServiceTransferRow, SigningRow } from './tables.ts'

/** The newest version comes first. */
export type OpenTransfer = { transfer: ServiceTransferRow; versions: readonly SigningRow[] }

const batchMax = 200
const requestsAtOnce = 8

/**
 * Looks how the transfers on this network fare, and returns how many came to an end. Those that the node does not
 * have are sent, always the same bytes, in the order in which they were signed: those that a crash or the node has
 * lost, and those it did not take.
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
 * Transfers of a branch that had landed, with nonces that the chain expects anew: it lost blocks that were final, as
 * a local node does that is killed. Nothing later can land until they have landed again.
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
  const { db, deposits, network, postponed, log } = signing
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
  return inTransaction(db, (tx) => saveOutcomes({ tx, deposits, postponed }, ended))
}

type Fate =
  | { kind: 'open' }
  /** The node has none of the versions. */
  | { kind: 'lost' }
  | { kind: 'ended'; outcome: Exclude<SignedTransferOutcome, { kind: 'open' }>; transaction: string }

/** Of the versions of a transfer at most one lands: they have one nonce. */
async function fateOf(network: NetworkClient, { versions }: OpenTransfer): Promise<Fate> {
  let isKnown = false
  for (const { transaction, expires_height: expiresHeight } of versions) {
    const outcome = await network.outcome({ transaction: toTxId(transaction), expiresHeight })
    if (outcome.kind !== 'open') return { kind: 'ended', outcome, transaction }
    isKnown ||= outcome.known
  }
  return { kind: isKnown ? 'open' : 'lost' }
}
