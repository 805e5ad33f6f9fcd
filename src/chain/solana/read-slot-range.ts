import { toTxId } from '../../core/asset.ts'
import { assert } from '../../core/errors.ts'
import { mapBounded } from '../map-bounded.ts'
import type { HeightRange } from '../types.ts'
import { accountsOf, readMints } from './accounts.ts'
import { readBlock, readHead, type Unread } from './blocks.ts'
import { readByBlock } from './by-block.ts'
import {
  chooseWay,
  noteCost,
  noteFailure,
  type SolanaReadStrategy,
  type StrategyChoice,
} from './choose-way.ts'
import { type Findings, findingsOf, joinFindings } from './findings.ts'
import { refusal } from './node.ts'
import { type ListedSignature, listSignatures, requireHistory } from './signatures.ts'
import type { SlotRange, SlotRangeReading } from './slot-range.ts'
import { type Effects, readEffects } from './transactions.ts'
import { keepWalk, waitingFor, walkOf } from './walk.ts'
import type { SolanaScan, SolanaWatch } from './watch.ts'

/**
 * Lists the history of every owner and of its token accounts, and reads each transaction once. If there is more than
 * one scan reads, it reads up to the last slot that fits completely.
 * @throws Fault `remote_failed` if the node's answers are not credible
 */
async function readByOwner(scan: SolanaScan, range: SlotRange): Promise<SlotRangeReading> {
  const { bounds, memory, watch } = scan
  const walk = walkOf(memory.walks, range)
  const listed = waitingFor(walk, range, watch.owners) ?? (await listKnown(scan, range))
  const since = walk?.since ?? range.from - range.overlap
  const entries = new Map<string, ListedSignature>(listed.waiting.map((entry) => [entry.signature, entry]))
  for (;;) {
    const oldestFirst = [...entries.values()].toSorted((left, right) => Number(left.slot - right.slot))
    const { due, through } = cutToBound(oldestFirst, range.from, bounds.transactionsPerScan)
    const effects = await mapBounded(due, bounds.requestsAtOnce, (entry) => readEffects(scan, entry))
    const accounts = newAccounts(scan, effects)
    for (const entry of await listAll(scan, accounts, { from: since, to: listed.to })) {
      entries.set(entry.signature, entry)
    }
    if (accounts.length > 0) continue
    const reached = through ?? listed.to
    const waiting = oldestFirst.filter(({ slot }) => slot > reached)
    keepWalk(memory.walks, range, {
      since,
      next: reached + 1n,
      waiting,
      to: listed.to,
      owners: watch.owners,
    })
    const found = await findingsIn(
      scan,
      due.flatMap((entry, place) => {
        const read = effects[place]
        return read === undefined ? [] : [{ entry, effects: read }]
      }),
    )
    return { ...found, reached }
  }
}

/** The transactions of all known accounts of the owners. */
async function listKnown(
  scan: SolanaScan,
  range: SlotRange,
): Promise<{ waiting: ListedSignature[]; to: bigint }> {
  const { from, to, overlap } = range
  await requireSameHistory(scan, range)
  const accounts = await knownAccounts(scan, range)
  return { waiting: await listAll(scan, accounts, { from: from - overlap, to }), to }
}

/** Proves nothing if the node does not have the old block. When reading by block, the chain of parents is the check. */
async function requireSameHistory(scan: SolanaScan, { below }: SlotRange): Promise<void> {
  const head = below === null ? null : await readHead(scan, below.height)
  if (below === null || head === null || head.hash === below.hash) return
  throw refusal(
    scan.node,
    `block ${below.height}`,
    `it is ${head.hash}, and was read as final as ${below.hash}`,
  )
}

async function knownAccounts(scan: SolanaScan, { from, to, overlap }: SlotRange): Promise<string[]> {
  await requireHistory(scan, from - overlap)
  const { requestsAtOnce } = scan.bounds
  await readMints(scan)
  const accounts = await mapBounded([...scan.watch.owners], requestsAtOnce, (owner) =>
    accountsOf(scan, owner, to),
  )
  return [...new Set(accounts.flat())]
}

/** The transactions of the accounts. A transaction that touched several of them is listed several times. */
async function listAll(
  scan: SolanaScan,
  accounts: readonly string[],
  { from, to }: HeightRange,
): Promise<ListedSignature[]> {
  const { owners, native } = scan.watch
  const lists = await mapBounded(accounts, scan.bounds.requestsAtOnce, (account) => {
    const failed = native !== null && isOneOf(owners, account)
    return listSignatures(scan, { account, floor: from, slot: to, failed })
  })
  return lists.flat()
}

/**
 * Accounts of watched owners that appear only in the transactions just read. An account that was created, filled,
 * emptied and closed between two scans is never listed among the existing ones. Its history is read back to the start
 * of the walk of scans, because its transfers may belong to an earlier scan.
 */
function newAccounts({ watch, memory }: SolanaScan, effects: readonly (Effects | Unread)[]): string[] {
  const found: string[] = []
  for (const { account, owner } of effects.flatMap((one) => (typeof one === 'string' ? [] : one.holders))) {
    const known = memory.accounts.get(owner)
    if (!watch.owners.has(owner) || known === undefined || known.has(account)) continue
    memory.accounts.set(owner, new Set([...known, account]))
    found.push(account)
  }
  return found
}

/** Only owners pay fees; their token accounts never do. */
function isOneOf(owners: ReadonlySet<string>, account: string): boolean {
  return owners.has(account)
}

/** Cuts the transactions to whole slots; `through` is null if nothing was cut. */
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

type SignatureEffects = { entry: ListedSignature; effects: Effects | Unread }

/** Requests each block once, even if it holds several of the transactions. */
async function findingsIn(
  scan: SolanaScan,
  read: readonly SignatureEffects[],
): Promise<Findings & Pick<SlotRangeReading, 'unread'>> {
  const { owners } = scan.watch
  const touching = read.flatMap(({ entry, effects }) =>
    typeof effects !== 'string' && effects.changes.some(({ owner }) => owners.has(owner))
      ? [{ entry, effects }]
      : [],
  )
  const slots = [...new Set(touching.map(({ entry }) => entry.slot))]
  const blocks = await mapBounded(slots, scan.bounds.requestsAtOnce, (slot) => readBlock(scan, slot))
  const blockOf = new Map(slots.map((slot, place) => [slot, blocks[place]]))
  const parts = touching.map(({ entry: { signature, slot }, effects }) => {
    const block = blockOf.get(slot)
    assert(block !== undefined, 'the block of each transaction was read')
    return findingsOf(scan.watch, { tx: toTxId(signature), slot, block, ...effects })
  })
  return {
    ...joinFindings(parts),
    unread: read.flatMap(({ entry: { signature, slot }, effects }) =>
      typeof effects === 'string' ? [{ slot, tx: signature, reason: effects }] : [],
    ),
  }
}

/** Final slots to read, before a strategy is chosen. */
export type SlotRangeRequest = Omit<SlotRange, 'blocksMax'>

/** Reads with the cheaper strategy: few owners one by one, many by selecting them from every block. */
export async function readSlotRange(scan: SolanaScan, wanted: SlotRangeRequest): Promise<SlotRangeReading> {
  const { way, trial } = await chosenWay(scan, wanted)
  const startedMs = performance.now()
  const blocksMax = trial ? scan.bounds.requestsAtOnce : scan.bounds.slotsPerScan
  const read = await readers[way](scan, { ...wanted, blocksMax }).catch((error: unknown) => {
    noteFailure(scan.memory.costs, way)
    throw error
  })
  const units = way === 'by_owner' ? scan.watch.owners.size : Number(read.reached - wanted.from) + 1
  if (units > 0) noteCost(scan.memory.costs, way, (performance.now() - startedMs) / units)
  return read
}

const readers: Record<SolanaReadStrategy, typeof readByOwner> = {
  by_owner: readByOwner,
  by_block: readByBlock,
}

async function chosenWay(
  scan: SolanaScan,
  wanted: SlotRangeRequest,
): Promise<{ way: SolanaReadStrategy; trial: boolean }> {
  if (scan.way !== null) return { way: scan.way, trial: false }
  const choice = choose(scan, wanted)
  if (choice.way !== 'measure_owners') return choice
  await measureOwners(scan, wanted)
  return { way: 'by_block', trial: true }
}

function choose({ watch, memory }: SolanaScan, { from, to }: SlotRangeRequest): StrategyChoice {
  return chooseWay(memory.costs, { ...ownersOf(watch), slots: Number(to - from) + 1 })
}

/**
 * The number of owners, and the requests for listing one: its own history and, for each mint, its accounts and the
 * history of one account.
 */
export function ownersOf({ owners, mints }: Pick<SolanaWatch, 'owners' | 'mints'>) {
  return { owners: owners.size, requestsPerOwner: 1 + 2 * mints.size }
}

/** Lists a few owners, as many as may be requested at once, to measure the cost of one. */
async function measureOwners(scan: SolanaScan, { from, to }: SlotRangeRequest): Promise<void> {
  const { requestsAtOnce } = scan.bounds
  const some = [...scan.watch.owners].slice(0, requestsAtOnce)
  const startedMs = performance.now()
  await mapBounded(some, requestsAtOnce, async (owner) => {
    for (const account of await accountsOf(scan, owner, to)) {
      await listSignatures(scan, { account, floor: from, slot: to })
    }
  })
  noteCost(scan.memory.costs, 'by_owner', (performance.now() - startedMs) / some.length)
}
