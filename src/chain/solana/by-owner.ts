import { type Address, toTxId } from '../../core/asset.ts'
import { assert } from '../../core/errors.ts'
import { mapBounded } from '../map-bounded.ts'
import { refusal } from '../pool.ts'
import type { HeightRange } from '../types.ts'
import { accountsOf, readPrograms } from './accounts.ts'
import { readBlock, readHead, type Unread } from './blocks.ts'
import { findingsOf, joinFindings, type SlotRange, type SlotRangeReading } from './findings.ts'
import type { Effects, ListedSignature, OwnerWalk, SolanaScan } from './node.ts'
import { listSignatures, requireHistory } from './signatures.ts'
import { readEffects } from './transactions.ts'

/**
 * Each transaction is read once. If there is more than one scan reads, the last slot that fits completely ends it.
 * @throws Fault `remote_failed` if the node's answers are not credible
 */
export async function readByOwner(scan: SolanaScan, range: SlotRange): Promise<SlotRangeReading> {
  const { bounds, memory, watch } = scan
  const walk = walkFor(memory, range)
  const listed = waitingFor(walk, range, watch.owners) ?? (await listKnown(scan, range))
  const since = walk?.since ?? range.from - range.overlap
  const entries = new Map<string, ListedSignature>(listed.waiting.map((entry) => [entry.signature, entry]))
  for (;;) {
    const oldestFirst = [...entries.values()].toSorted((left, right) => Number(left.slot - right.slot))
    const { due, through } = cutToBound(oldestFirst, range.from, bounds.transactionsPerScan)
    const read = await mapBounded(due, bounds.requestsAtOnce, async (entry) => ({
      ...entry,
      effects: await readEffects(scan, entry),
    }))
    const accounts = newAccounts(scan, read)
    for (const entry of await listAll(scan, accounts, { from: since, to: listed.to })) {
      entries.set(entry.signature, entry)
    }
    if (accounts.length > 0) continue
    const reached = through ?? listed.to
    const waiting = oldestFirst.filter(({ slot }) => slot > reached)
    memory.walks[kindOf(range)] = {
      since,
      next: reached + 1n,
      ...boundWaiting({ waiting, to: listed.to }),
      owners: watch.owners,
    }
    return { ...(await findingsIn(scan, read)), reached }
  }
}

/** The newest above this are dropped, and listed again once the others are read. */
const waitingMax = 100_000

type WaitingList = Pick<OwnerWalk, 'waiting' | 'to'>

/** Ends below the slot of the first one dropped, so that it stays complete up to its end. */
export function boundWaiting({ waiting, to }: WaitingList, max = waitingMax): WaitingList {
  const dropped = waiting[max]
  if (dropped === undefined) return { waiting, to }
  return { waiting: waiting.filter(({ slot }) => slot < dropped.slot), to: dropped.slot - 1n }
}

/** Null if the range starts a new one. */
function walkFor({ walks }: SolanaScan['memory'], range: SlotRange): OwnerWalk | null {
  const walk = walks[kindOf(range)]
  return walk?.next === range.from ? walk : null
}

function kindOf({ below }: SlotRange): 'scan' | 'range' {
  return below === null ? 'range' : 'scan'
}

/** Null if they must be listed. */
function waitingFor(
  walk: OwnerWalk | null,
  { to }: SlotRange,
  owners: ReadonlySet<Address>,
): WaitingList | null {
  if (walk === null || walk.waiting.length === 0 || walk.to > to) return null
  return owners.size === walk.owners.size && owners.isSubsetOf(walk.owners) ? walk : null
}

async function listKnown(
  scan: SolanaScan,
  range: SlotRange,
): Promise<{ waiting: ListedSignature[]; to: bigint }> {
  const { from, to, overlap } = range
  await requireSameHistory(scan, range)
  const accounts = await knownAccounts(scan, range)
  return { waiting: await listAll(scan, accounts, { from: from - overlap, to }), to }
}

/** Proves nothing without the old block. When reading by block, the chain of parents is the check. */
async function requireSameHistory(scan: SolanaScan, { below }: SlotRange): Promise<void> {
  const head = below === null ? null : await readHead(scan, below.height)
  if (below === null || head === null || head.hash === below.hash) return
  throw refusal(
    scan.node,
    `block ${below.height}`,
    `its hash is ${head.hash}, but it was read as final with ${below.hash}`,
  )
}

async function knownAccounts(scan: SolanaScan, { from, to, overlap }: SlotRange): Promise<string[]> {
  await requireHistory(scan, from - overlap)
  const { requestsAtOnce } = scan.bounds
  await readPrograms(scan)
  const accounts = await mapBounded([...scan.watch.owners], requestsAtOnce, (owner) =>
    accountsOf(scan, owner, to),
  )
  return [...new Set(accounts.flat())]
}

/** A transaction is listed for each account that it touched. */
async function listAll(
  scan: SolanaScan,
  accounts: readonly string[],
  { from, to }: HeightRange,
): Promise<ListedSignature[]> {
  const { owners, native } = scan.watch
  const lists = await mapBounded(accounts, scan.bounds.requestsAtOnce, (account) => {
    // Token accounts never pay fees.
    const failed = native !== null && owners.has(account as Address)
    return listSignatures(scan, { account, floor: from, slot: to, failed })
  })
  return lists.flat()
}

/**
 * An account that was filled, emptied and closed between two scans is never listed as existing. Its history is read
 * back to the start of the walk, because its transfers may belong to an earlier scan.
 */
function newAccounts({ watch, memory }: SolanaScan, read: readonly ReadSignature[]): string[] {
  const found: string[] = []
  for (const { account, owner } of read.flatMap(({ effects }) =>
    typeof effects === 'string' ? [] : effects.holders,
  )) {
    const known = memory.accounts.get(owner)
    if (!watch.owners.has(owner) || known === undefined || known.has(account)) continue
    memory.accounts.set(owner, new Set([...known, account]))
    found.push(account)
  }
  return found
}

/** Cuts to whole slots; `through` is null if nothing was cut. */
function cutToBound(
  listed: readonly ListedSignature[],
  from: bigint,
  max: number,
): { due: readonly ListedSignature[]; through: bigint | null } {
  const last = listed.filter(({ slot }) => slot >= from)[max - 1]
  const due = last === undefined ? listed : listed.filter(({ slot }) => slot <= last.slot)
  return last === undefined || due.length === listed.length
    ? { due: listed, through: null }
    : { due, through: last.slot }
}

type ReadSignature = ListedSignature & { effects: Effects | Unread }

/** Requests each block once. */
async function findingsIn(
  scan: SolanaScan,
  read: readonly ReadSignature[],
): Promise<Omit<SlotRangeReading, 'reached'>> {
  const { owners } = scan.watch
  const touching = read.flatMap(({ effects, ...listed }) =>
    typeof effects !== 'string' && effects.changes.some(({ owner }) => owners.has(owner))
      ? [{ ...listed, ...effects }]
      : [],
  )
  const slots = [...new Set(touching.map(({ slot }) => slot))]
  const blocks = await mapBounded(slots, scan.bounds.requestsAtOnce, (slot) => readBlock(scan, slot))
  const blockOf = new Map(slots.map((slot, index) => [slot, blocks[index]]))
  const parts = touching.map(({ signature, slot, changes, memo }) => {
    const block = blockOf.get(slot)
    assert(block !== undefined, 'the block of each transaction was read')
    return findingsOf(scan.watch, { tx: toTxId(signature), slot, block, changes, memo })
  })
  return {
    ...joinFindings(parts),
    unread: read.flatMap(({ signature, slot, effects }) =>
      typeof effects === 'string' ? [{ slot, tx: signature, reason: effects }] : [],
    ),
  }
}
