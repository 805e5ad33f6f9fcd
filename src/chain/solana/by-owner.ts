import { toTxId } from '../../core/asset.ts'
import { mapBounded } from '../map-bounded.ts'
import { accountsOf } from './accounts.ts'
import { readBlock } from './blocks.ts'
import { type Findings, findingsOf, joinFindings, nothingFound } from './findings.ts'
import { type Listed, listSignatures, requireHistory } from './signatures.ts'
import type { Stretch, StretchRead } from './stretch.ts'
import { readEffects } from './transactions.ts'
import type { SolanaScan } from './watch.ts'

/**
 * Lists the history of every owner and of his token accounts, and reads each transaction once. Where more waits
 * than one scan reads, it reads through the last slot that fits whole.
 * @throws Fault `remote_failed` where the node cannot be believed
 */
export async function readByOwner(scan: SolanaScan, stretch: Stretch): Promise<StretchRead> {
  const listed = await listAll(scan, stretch)
  const { due, through } = cutToBound(listed, stretch.from, scan.bounds.transactionsPerScan)
  const parts = await mapBounded(due, scan.bounds.requestsAtOnce, (entry) => readListed(scan, entry))
  return {
    ...joinFindings(parts.map((part) => part ?? nothingFound)),
    unread: due.filter((_, place) => parts[place] === null).map(({ slot }) => slot),
    reached: through ?? stretch.to,
  }
}

/** Each transaction once, oldest first, whichever accounts it touched. */
async function listAll(scan: SolanaScan, { from, to, overlap }: Stretch): Promise<Listed[]> {
  const { requestsAtOnce } = scan.bounds
  const { owners, native } = scan.watch
  const floor = from - overlap
  await requireHistory(scan, floor)
  const accounts = await mapBounded([...owners], requestsAtOnce, (owner) => accountsOf(scan, owner, to))
  const unique = [...new Set(accounts.flat())]
  const lists = await mapBounded(unique, requestsAtOnce, (account) =>
    listSignatures(scan, { account, floor, slot: to, failed: native !== null && isOneOf(owners, account) }),
  )
  const bySignature = new Map(lists.flat().map((entry) => [entry.signature, entry]))
  return [...bySignature.values()].toSorted((left, right) => Number(left.slot - right.slot))
}

/** Only an owner pays fees; his token accounts never do. */
function isOneOf(owners: ReadonlySet<string>, account: string): boolean {
  return owners.has(account)
}

/** Cuts what is due to whole slots; `through` is null where nothing had to be cut. */
function cutToBound(
  listed: readonly Listed[],
  from: bigint,
  max: number,
): { due: readonly Listed[]; through: bigint | null } {
  const last = listed.filter(({ slot }) => slot >= from)[max - 1]
  const due = last === undefined ? listed : listed.filter(({ slot }) => slot <= last.slot)
  return last === undefined || due.length === listed.length
    ? { due: listed, through: null }
    : { due, through: last.slot }
}

/** Null where the transaction is of a version that cannot be read. */
async function readListed(scan: SolanaScan, listed: Listed): Promise<Findings | null> {
  const effects = await readEffects(scan, listed)
  if (effects === 'unsupported') return null
  if (!effects.changes.some(({ owner }) => scan.watch.owners.has(owner))) return nothingFound
  const block = await readBlock(scan, listed.slot)
  return findingsOf(scan.watch, { tx: toTxId(listed.signature), slot: listed.slot, block, ...effects })
}
