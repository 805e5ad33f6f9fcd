import type { Signature } from '@solana/kit'
import { assert, isFault } from '../../core/errors.ts'
import type { SignedTransfer, SignedTransferOutcome } from './port.ts'
import type { SolanaNetworkRpc } from './solana.ts'

type SolanaTransferRef = Pick<SignedTransfer, 'transaction' | 'expiresHeight'>

/** A blockhash serves for so many blocks after its own, so what uses it can only be in one of them. */
const lifetimeBlocks = 150n

/**
 * All of it is asked of one node, the next one where it does not answer: what one node knows says nothing about what
 * another one lacks.
 */
export async function solanaOutcome(
  nodes: readonly SolanaNetworkRpc[],
  wanted: SolanaTransferRef,
): Promise<SignedTransferOutcome> {
  const [node, ...others] = nodes
  assert(node !== undefined, 'a network has an address')
  try {
    return await outcomeBy(node, wanted)
  } catch (error) {
    if (!isFault(error, 'remote_failed') || others.length === 0) throw error
    return solanaOutcome(others, wanted)
  }
}

async function outcomeBy(rpc: SolanaNetworkRpc, wanted: SolanaTransferRef): Promise<SignedTransferOutcome> {
  const { transaction, expiresHeight } = wanted
  assert(expiresHeight !== null, 'a Solana transaction expires')
  const signature = transaction as string as Signature
  const final = await rpc.getEpochInfo({ commitment: 'finalized' }).send()
  const { context, value } = await rpc
    .getSignatureStatuses([signature], { searchTransactionHistory: true })
    .send()
  const status = value[0] ?? null
  if (status === null) {
    // Several nodes may stand behind one address, and one that lags lacks what the others have.
    const isPast = final.blockHeight > expiresHeight && context.slot >= final.absoluteSlot
    const isProved = isPast && (await remembers(rpc, expiresHeight - lifetimeBlocks))
    return isProved ? { kind: 'expired' } : { kind: 'open', known: false }
  }
  if (status.confirmationStatus !== 'finalized') return { kind: 'open', known: true }
  if (status.err !== null) return { kind: 'reverted' }
  const landed = await rpc
    .getTransaction(signature, {
      commitment: 'finalized',
      encoding: 'json',
      maxSupportedTransactionVersion: 1,
    })
    .send()
  if (landed === null) return { kind: 'open', known: true }
  return { kind: 'landed', at: new Date(Number(landed.blockTime) * 1000) }
}

/**
 * Nodes forget old blocks, and do not list what was in them. A slot is never less than the height of its block, so
 * the height of the first block is only asked for where its slot does not tell.
 */
async function remembers(rpc: SolanaNetworkRpc, height: bigint): Promise<boolean> {
  const slot = await rpc.getFirstAvailableBlock().send()
  if (slot <= height) return true
  const config = { commitment: 'finalized', transactionDetails: 'none', rewards: false } as const
  const first = (await rpc.getBlock(slot, config).send())?.blockHeight ?? null
  return first !== null && first <= height
}
