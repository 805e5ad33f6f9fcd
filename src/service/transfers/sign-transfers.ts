import { inTransaction } from '../../store/database.ts'
import type { NetworkClient } from '../network/port.ts'
import { mapBounded } from '../running/bounded.ts'
import { sendTransfers } from './send-transfers.ts'
import { type ChainNonces, type DraftedTransfer, postpone, type TransferSigningDeps } from './signing.ts'
import { storeSigned } from './store-signed.ts'
import type { DueTransfer } from './wanted.ts'

const requestsAtOnce = 16

/**
 * Signs the wanted transfers and stores them, with the states and events that tell of them, before a byte is sent: a
 * crash after this finds the bytes, a crash before it finds nothing that could land. Returns how many were signed.
 * One that cannot be signed now, for want of liquidity or of the node, waits and is tried again.
 */
export async function signTransfers(
  signing: TransferSigningDeps,
  wanted: readonly DueTransfer[],
): Promise<number> {
  if (wanted.length === 0) return 0
  const { db, network, log } = signing
  const nonces = await chainNonces(network, wanted)
  const drafted = (await mapBounded(wanted, requestsAtOnce, (one) => draft(signing, one))).filter(
    (one) => one !== null,
  )
  if (drafted.length === 0) return 0
  const signed = await inTransaction(db, (tx) => storeSigned({ ...signing, tx }, drafted, nonces))
  await sendTransfers(
    network,
    signed.map((one) => one.signed),
    log,
  )
  return signed.length
}

async function chainNonces(network: NetworkClient, wanted: readonly DueTransfer[]): Promise<ChainNonces> {
  const branches = [...new Set(wanted.map(({ order }) => order.branch))]
  const entries = await mapBounded(
    branches,
    requestsAtOnce,
    async (branch) => [branch, await network.nextNonce(branch)] as const,
  )
  return new Map(entries)
}

async function draft(signing: TransferSigningDeps, wanted: DueTransfer): Promise<DraftedTransfer | null> {
  try {
    return { wanted, draft: await signing.network.draft(wanted.order) }
  } catch (error) {
    postpone(signing, wanted, error)
    return null
  }
}
