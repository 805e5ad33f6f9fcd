import { toTxId } from '../../core/asset.ts'
import { mapBounded } from '../map-bounded.ts'
import { accountsOf } from './accounts.ts'
import { readBlock, readHead } from './blocks.ts'
import { type Findings, findingsOf, joinFindings, nothingFound } from './findings.ts'
import { refusal } from './node.ts'
import { type Listed, listSignatures, requireHistory } from './signatures.ts'
import type { Stretch, StretchRead } from './stretch.ts'
import { type Effects, readEffects } from './transactions.ts'
import type { SolanaScan } from './watch.ts'

/**
 * Lists the history of every owner and of his token accounts, and reads each transaction once. Where more waits
 * than one scan reads, it reads through the last slot that fits whole.
 * @throws Fault `remote_failed` where the node cannot be believed
 */
export async function readByOwner(scan: SolanaScan, stretch: Stretch): Promise<StretchRead> {
  await requireSameHistory(scan, stretch)
  const listed = new Map<string, Listed>()
  let accounts = await knownAccounts(scan, stretch)
  for (;;) {
    for (const entry of await listAll(scan, accounts, stretch)) listed.set(entry.signature, entry)
    const oldestFirst = [...listed.values()].toSorted((left, right) => Number(left.slot - right.slot))
    const { due, through } = cutToBound(oldestFirst, stretch.from, scan.bounds.transactionsPerScan)
    const effects = await mapBounded(due, scan.bounds.requestsAtOnce, (entry) => readEffects(scan, entry))
    accounts = newAccounts(scan, effects)
    if (accounts.length > 0) continue
    const parts = await mapBounded(due, scan.bounds.requestsAtOnce, (entry) => readListed(scan, entry))
    return {
      ...joinFindings(parts.map((part) => part ?? nothingFound)),
      unread: due.filter((_, place) => parts[place] === null).map(({ slot }) => slot),
      reached: through ?? stretch.to,
    }
  }
}

/** A node that does not have the old block says nothing; by block the chain of parents shows as much. */
async function requireSameHistory(scan: SolanaScan, { below }: Stretch): Promise<void> {
  const head = below === null ? null : await readHead(scan, below.height)
  if (below === null || head === null || head.hash === below.hash) return
  throw refusal(
    scan.node,
    `block ${below.height}`,
    `it is ${head.hash}, and was read as final as ${below.hash}`,
  )
}

async function knownAccounts(scan: SolanaScan, { from, to, overlap }: Stretch): Promise<string[]> {
  await requireHistory(scan, from - overlap)
  const { requestsAtOnce } = scan.bounds
  const accounts = await mapBounded([...scan.watch.owners], requestsAtOnce, (owner) =>
    accountsOf(scan, owner, to),
  )
  return [...new Set(accounts.flat())]
}

/** What touched the accounts; a transaction that touched several is there several times. */
async function listAll(
  scan: SolanaScan,
  accounts: readonly string[],
  { from, to, overlap }: Stretch,
): Promise<Listed[]> {
  const { owners, native } = scan.watch
  const lists = await mapBounded(accounts, scan.bounds.requestsAtOnce, (account) => {
    const failed = native !== null && isOneOf(owners, account)
    return listSignatures(scan, { account, floor: from - overlap, slot: to, failed })
  })
  return lists.flat()
}

/**
 * Accounts of watched owners that show only now, in what their owners did with them: an account that was made, filled,
 * emptied and closed between two scans is never among those that exist.
 */
function newAccounts({ watch, memory }: SolanaScan, effects: readonly (Effects | 'unsupported')[]): string[] {
  const found: string[] = []
  for (const { account, owner } of effects.flatMap((one) => (one === 'unsupported' ? [] : one.holders))) {
    const known = memory.accounts.get(owner)
    if (!watch.owners.has(owner) || known === undefined || known.has(account)) continue
    memory.accounts.set(owner, new Set([...known, account]))
    found.push(account)
  }
  return found
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
