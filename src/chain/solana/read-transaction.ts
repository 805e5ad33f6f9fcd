import { isSignature, type Signature } from '@solana/kit'
import type { TxId } from '../../core/asset.ts'
import type { FinalityStage, TransactionReading } from '../port.ts'
import { readBlock, readConfirmed, type Unread } from './blocks.ts'
import { findingsOf } from './findings.ts'
import { refusal } from './node.ts'
import { findTransaction, type TransactionEffects } from './transactions.ts'
import type { SolanaScan } from './watch.ts'

/**
 * Reads one transaction by its signature, as a scan would tell it. One that failed is told once it is final, since
 * until then it may still be dropped; until then it is unknown.
 * @throws Fault `remote_failed` where the node cannot be believed, or the transaction cannot be read
 */
export async function readTransaction(scan: SolanaScan, tx: TxId): Promise<TransactionReading> {
  // Whoever names it may name anything in base58; no node has to be asked for what cannot be on the chain.
  if (!isSignature(tx)) return { kind: 'unknown' }
  const final = await find(scan, tx, 'finalized')
  if (final?.failed === true) return { kind: 'failed', height: final.slot }
  if (final !== null) return toReading(scan, { tx, found: final, stage: 'final' })
  const seen = await find(scan, tx, 'confirmed')
  return seen === null || seen.failed
    ? { kind: 'unknown' }
    : toReading(scan, { tx, found: seen, stage: 'seen' })
}

async function find(
  scan: SolanaScan,
  tx: Signature,
  commitment: 'confirmed' | 'finalized',
): Promise<TransactionEffects | null> {
  const found = await findTransaction(scan, { signature: tx, commitment })
  if (typeof found === 'string') throw refusal(scan.node, `transaction ${tx}`, unreadable[found])
  return found
}

const unreadable: Record<Unread, string> = {
  version: 'its version cannot be read',
  owner: 'it does not say whose a balance is',
}

type StagedTransaction = { tx: TxId; found: TransactionEffects; stage: FinalityStage }

async function toReading(
  scan: SolanaScan,
  { tx, found, stage }: StagedTransaction,
): Promise<TransactionReading> {
  const { slot, changes, memo } = found
  const block = stage === 'final' ? await readBlock(scan, slot) : await readConfirmed(scan, slot)
  if (block === null) return { kind: 'unknown' }
  return {
    kind: 'read',
    transfers: findingsOf(scan.watch, { tx, slot, block, changes, memo, stage }).transfers,
  }
}
