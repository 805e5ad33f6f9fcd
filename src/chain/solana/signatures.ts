import { isSolanaError, type Signature, SOLANA_ERROR__JSON_RPC__METHOD_NOT_FOUND } from '@solana/kit'
import type { Address } from '../../core/asset.ts'
import { refusal } from '../pool.ts'
import { ask, type ListedSignature, type SolanaNodeRpc, type SolanaScan, toKit } from './node.ts'

type SignatureRange = {
  account: string
  floor: bigint
  slot: bigint
  /** Failed transactions cost the fee. */
  failed?: boolean
}

type SignatureEntry = ListedSignature & { failed: boolean }

/** From the newest. */
type SignatureHistory = { entries: ReadonlyMap<Signature, SignatureEntry>; isWhole: boolean }

/**
 * Lists from slot `floor` on.
 * @throws Fault `remote_failed` if the floor is not reached within the page limit, or if the node no longer lists an
 * entry that it listed before
 */
export async function listSignatures(scan: SolanaScan, range: SignatureRange): Promise<ListedSignature[]> {
  const { account, floor, slot, failed = false } = range
  const history = await walkBack(scan, range)
  requireKnown(scan, range, history)
  const entries = [...history.entries.values()]
  const newest = entries.find((entry) => entry.slot <= slot)
  if (newest !== undefined) scan.memory.newest.set(account, newest)
  return entries.filter((entry) => entry.slot >= floor && entry.slot <= slot && (failed || !entry.failed))
}

/** Includes failed ones, and some before slot `floor`. @throws Fault `remote_failed` as `listSignatures` */
export async function listBack(scan: SolanaScan, range: SignatureRange): Promise<ListedSignature[]> {
  const history = await walkBack(scan, range)
  requireKnown(scan, range, history)
  return [...history.entries.values()]
}

/**
 * `until` is not used: a node that does not know that signature answers with the newest page as if nothing were missing
 * (solana-labs/solana#24620).
 */
async function walkBack(scan: SolanaScan, range: SignatureRange): Promise<SignatureHistory> {
  const { signaturesPerPage, pagesPerAddress } = scan.bounds
  const entries = new Map<Signature, SignatureEntry>()
  let cursor: SignatureCursor | null = null
  for (let pages = 0; pages < pagesPerAddress; pages++) {
    const page = await requestPage(scan, range, cursor?.before)
    requireJoint(scan, range, { cursor, page })
    for (const { signature, slot, err } of page) {
      entries.set(signature, { signature, slot, failed: err !== null })
    }
    if (page.some(({ slot }) => slot < range.floor)) return { entries, isWhole: false }
    if (page.length < signaturesPerPage) return { entries, isWhole: true }
    cursor = nextCursor(page, cursor)
  }
  const problem = `slot ${range.floor} was not reached within ${pagesPerAddress} pages`
  throw refusal(scan.node, `history of ${range.account}`, problem)
}

/** The next page must contain the joint. */
type SignatureCursor = { before: Signature | undefined; joint: Signature | null; slot: bigint | undefined }

/**
 * The last slot is requested again: an entry in both pages proves that the second continues the first, whereas a node
 * that does not know `before` answers with an empty page. If one slot fills whole pages, the next page starts after the
 * last entry.
 */
function nextCursor(page: readonly ListedSignature[], previous: SignatureCursor | null): SignatureCursor {
  const last = page.at(-1)
  const before = page.findLast(({ slot }) => slot !== last?.slot)
  const slot = last?.slot
  return before === undefined || last === undefined || slot === previous?.slot
    ? { before: last?.signature, joint: null, slot }
    : { before: before.signature, joint: last.signature, slot }
}

type HistoryPage = { cursor: SignatureCursor | null; page: readonly ListedSignature[] }

function requireJoint(
  { node }: SolanaScan,
  { account }: SignatureRange,
  { cursor, page }: HistoryPage,
): void {
  const joint = cursor?.joint ?? null
  if (joint === null || page.some(({ signature }) => signature === joint)) return
  throw refusal(
    node,
    `history of ${account}`,
    `a page does not continue at ${joint}, where the previous page ended`,
  )
}

/** An entry may be missing if it is older than everything the node keeps. */
function requireKnown(
  { node, memory }: SolanaScan,
  { account, floor }: SignatureRange,
  history: SignatureHistory,
): void {
  const known = memory.newest.get(account)
  if (known === undefined || history.entries.has(known.signature)) return
  const isKept = memory.firstSlot !== null && memory.firstSlot <= known.slot
  if (known.slot < floor && !(history.isWhole && isKept)) return
  throw refusal(node, `history of ${account}`, `${known.signature} in slot ${known.slot} is no longer listed`)
}

/**
 * A node that dropped old slots answers with a short history.
 * @throws Fault `remote_failed` if the node's history does not reach back to the floor
 */
export async function requireHistory({ node, memory }: SolanaScan, floor: bigint): Promise<void> {
  const first = await firstAvailable(node)
  memory.firstSlot = first
  if (first !== null && first > floor) {
    throw refusal(node, 'history', `it starts at slot ${first}, but slot ${floor} has not been read yet`)
  }
}

/** Null if it does not report it. */
export function firstAvailable(node: SolanaScan['node']): Promise<bigint | null> {
  return ask(node, 'first block', firstAvailableBlock)
}

async function firstAvailableBlock(rpc: SolanaNodeRpc): Promise<bigint | null> {
  try {
    return await rpc.getFirstAvailableBlock().send()
  } catch (error) {
    if (isSolanaError(error, SOLANA_ERROR__JSON_RPC__METHOD_NOT_FOUND)) return null
    throw error
  }
}

function requestPage(
  { node, bounds }: SolanaScan,
  { account, slot }: SignatureRange,
  before: Signature | undefined,
) {
  const start = before === undefined ? {} : { before }
  return ask(node, `history of ${account}`, (rpc) =>
    rpc
      .getSignaturesForAddress(toKit(account as Address), {
        ...start,
        commitment: 'finalized',
        limit: bounds.signaturesPerPage,
        minContextSlot: slot,
      })
      .send(),
  )
}
