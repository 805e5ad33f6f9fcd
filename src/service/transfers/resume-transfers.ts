import { settleTransfers } from './settle-transfers.ts'
import type { TransferSigningDeps } from './signing.ts'

/**
 * Settles and sends once what an earlier run has stored. Whoever signs awaits this first: what was signed and not sent
 * is known to no node, and a transfer that is signed before it takes its place would count on money that it takes.
 */
export function createResumption(signing: TransferSigningDeps, changed: () => void): () => Promise<void> {
  let resuming: Promise<void> | null = null
  const resume = async (): Promise<void> => {
    try {
      if ((await settleTransfers(signing)) > 0) changed()
    } catch (error) {
      resuming = null
      throw error
    }
  }
  return () => (resuming ??= resume())
}
