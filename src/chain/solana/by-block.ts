import { signature as toSignature } from '@solana/kit'
import { toTxId } from '../../core/asset.ts'
import { mapBounded } from '../map-bounded.ts'
import { refusal } from '../pool.ts'
import type { BlockMark } from '../types.ts'
import type { BalanceChange } from './balance-changes.ts'
import { type BlockHead, listBlocks, readHead, readWhole } from './blocks.ts'
import {
  type Findings,
  findingsOf,
  joinFindings,
  nothingFound,
  type SlotRange,
  type SlotRangeReading,
  type UnreadTransaction,
} from './findings.ts'
import type { SolanaScan } from './node.ts'
import { changesInBlock, findTransaction } from './transactions.ts'

type BlockRead = { head: BlockHead; findings: Findings; unread: readonly UnreadTransaction[] }

/**
 * Each block names its parent by hash, which proves that none is missing: the reading ends with the chain of parents.
 * @throws Fault `remote_failed` if not even the first block follows from the blocks read before
 */
export async function readByBlock(scan: SolanaScan, range: SlotRange): Promise<SlotRangeReading> {
  const { from, to } = range
  if (from > to) return { ...nothingFound, unread: [], reached: to }
  const blocksMax = scan.bounds.slotsPerScan
  const listed = await listBlocks(scan, from, blocksMax + 1)
  const wanted = listed.filter((slot) => slot <= to).slice(0, blocksMax)
  const blocks = await mapBounded(wanted, scan.bounds.requestsAtOnce, (slot) => readOne(scan, slot))
  const linked = linkedPart(range, blocks)
  const last = linked.at(-1)?.head
  const next = linked.length === wanted.length ? listed[wanted.length] : undefined
  // If it is a child of the last block read, the slots in between have no block.
  const child = next === undefined || next <= to ? null : await readHead(scan, next)
  const reached = child !== null && isChildOf(child, range, last) ? to : last?.slot
  if (reached === undefined) throw refusal(scan.node, `blocks from slot ${from}`, brokenLink(range, blocks))
  return {
    ...joinFindings(linked.map(({ findings }) => findings)),
    unread: linked.flatMap(({ unread }) => unread),
    reached,
  }
}

async function readOne(scan: SolanaScan, slot: bigint): Promise<BlockRead | null> {
  const whole = await readWhole(scan, slot, scan.watch.owners)
  if (whole === null) return null
  if (whole === 'version') {
    const head = await readHead(scan, slot)
    return head === null
      ? null
      : { head, findings: nothingFound, unread: [{ slot, tx: null, reason: whole }] }
  }
  const { head, transactions } = whole
  const touching: SignatureChanges[] = []
  const unread: UnreadTransaction[] = []
  for (const transaction of transactions) {
    const signature = transaction.transaction.signatures[0] ?? ''
    const changes = changesInBlock(scan, transaction)
    if (typeof changes === 'string') unread.push({ slot, tx: signature, reason: changes })
    else if (changes.some(({ owner }) => scan.watch.owners.has(owner))) touching.push({ signature, changes })
  }
  const memos = await readMemos(scan, slot, touching)
  if (memos === null) return null
  const parts = touching.map(({ signature, changes }) =>
    findingsOf(scan.watch, {
      tx: toTxId(signature),
      slot,
      block: head,
      changes,
      memo: memos.get(signature) ?? null,
    }),
  )
  return { head, findings: joinFindings(parts), unread }
}

function linkedPart(range: SlotRange, blocks: readonly (BlockRead | null)[]): BlockRead[] {
  const linked: BlockRead[] = []
  let last: BlockHead | undefined
  for (const block of blocks) {
    if (block === null || !isChildOf(block.head, range, last)) break
    linked.push(block)
    last = block.head
  }
  return linked
}

/** Compares with the block read before, or with the start of the range. */
function isChildOf({ parent }: BlockHead, { from, below }: SlotRange, last: BlockHead | undefined): boolean {
  const expected: BlockMark | null = last === undefined ? below : { height: last.slot, hash: last.hash }
  // The first block of the chain names its own slot.
  if (expected === null) return parent.height < from || from === 0n
  return parent.height === expected.height && parent.hash === expected.hash
}

function brokenLink({ from, below }: SlotRange, [first]: readonly (BlockRead | null)[]): string {
  if (first === undefined) return 'the node lists no blocks, although later ones are final'
  if (first === null) return 'the node lists a block that it does not have'
  const { parent, slot } = first.head
  const expected = below === null ? `one below slot ${from}` : `${below.hash} in slot ${below.height}`
  return `block ${slot} has the parent ${parent.hash} in slot ${parent.height}, not ${expected}`
}

type SignatureChanges = { signature: string; changes: readonly BalanceChange[] }

/**
 * By signature; null if the node does not have them yet. Blocks are searched without instructions.
 * @throws Fault `remote_failed`
 */
async function readMemos(
  scan: SolanaScan,
  slot: bigint,
  touching: readonly SignatureChanges[],
): Promise<ReadonlyMap<string, string | null> | null> {
  const { owners } = scan.watch
  const paying = touching
    .filter(({ changes }) => changes.some(({ owner, paid }) => paid > 0n && owners.has(owner)))
    .map(({ signature }) => signature)
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
