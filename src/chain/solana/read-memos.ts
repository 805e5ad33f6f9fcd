import { signature as toSignature } from '@solana/kit'
import { mapBounded } from '../map-bounded.ts'
import type { BalanceChange } from './balances.ts'
import { readFull } from './blocks.ts'
import { memoIn } from './memo.ts'
import { refusal } from './node.ts'
import { findTransaction } from './transactions.ts'
import type { SolanaScan } from './watch.ts'

export type SignatureChanges = { signature: string; changes: readonly BalanceChange[] }

/** From so many payments on, the whole block is asked for again, with its instructions. */
const paymentsPerBlock = 4

/**
 * Memos by signature, of those transactions that paid a watched owner; null where the node does not have them yet. A
 * block that tells only its accounts, which is how blocks are searched, leaves the instructions out.
 * @throws Fault `remote_failed`
 */
export async function readMemos(
  scan: SolanaScan,
  slot: bigint,
  touching: readonly SignatureChanges[],
): Promise<ReadonlyMap<string, string | null> | null> {
  const { owners } = scan.watch
  const paying = touching
    .filter(({ changes }) => changes.some(({ owner, paid }) => paid > 0n && owners.has(owner)))
    .map(({ signature }) => signature)
  return paying.length < paymentsPerBlock ? readEach(scan, slot, paying) : readTogether(scan, slot, paying)
}

async function readEach(scan: SolanaScan, slot: bigint, paying: readonly string[]) {
  const found = await mapBounded(paying, scan.bounds.requestsAtOnce, (signature) =>
    findTransaction(scan, { signature: toSignature(signature), commitment: 'finalized' }),
  )
  const memos = new Map<string, string | null>()
  for (const [place, signature] of paying.entries()) {
    const one = found[place]
    if (one === undefined || one === null || typeof one === 'string') return null
    if (one.slot !== slot) throw refusal(scan.node, `transaction ${signature}`, `it is not in block ${slot}`)
    memos.set(signature, one.memo)
  }
  return memos
}

async function readTogether(scan: SolanaScan, slot: bigint, paying: readonly string[]) {
  const block = await readFull(scan, slot)
  if (block === null) return null
  const memos = new Map(block.transactions.map((one) => [one.transaction.signatures[0] ?? '', memoIn(one)]))
  const isWhole = paying.every((signature) => memos.has(signature))
  if (!isWhole) throw refusal(scan.node, `block ${slot}`, 'it lacks transactions that it had a moment ago')
  return memos
}
