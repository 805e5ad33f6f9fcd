import type { Signature } from '@solana/kit'
import { assert } from '../../core/errors.ts'
import type { Outcome, SignedTransfer } from './port.ts'
import type { SolanaRpc } from './solana.ts'

/**
 * The height is asked before the transaction: once the last block that could hold it is final, a node that does not
 * list it tells that it never landed.
 */
export async function solanaOutcome(
  rpc: SolanaRpc,
  { transaction, expiresHeight }: Pick<SignedTransfer, 'transaction' | 'expiresHeight'>,
): Promise<Outcome> {
  assert(expiresHeight !== null, 'a Solana transaction expires')
  const signature = transaction as string as Signature
  const finalHeight = await rpc.getBlockHeight({ commitment: 'finalized' }).send()
  const { value } = await rpc.getSignatureStatuses([signature], { searchTransactionHistory: true }).send()
  const status = value[0] ?? null
  if (status === null)
    return finalHeight > expiresHeight ? { kind: 'expired' } : { kind: 'open', known: false }
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
