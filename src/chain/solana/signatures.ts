import { isSolanaError, type Signature, SOLANA_ERROR__JSON_RPC__METHOD_NOT_FOUND } from '@solana/kit'
import type { Address } from '../../core/asset.ts'
import { ask, refusal, type SolanaRpc } from './node.ts'
import { type SolanaScan, toKit } from './watch.ts'

/** A transaction, as an address's history lists it. */
export type Listed = { signature: Signature; slot: bigint }

type Range = {
  account: string
  floor: bigint
  slot: bigint
  /** Failed ones too: they move nothing, but cost the fee. */
  failed?: boolean
}

/**
 * Lists what touched an account from slot `floor` on. It walks back until an entry below the floor, or the end of
 * the account's history, was seen: `until` is not used, because a node that does not know that signature answers
 * with the newest page as if nothing were missing (solana-labs/solana#24620).
 * @throws Fault `remote_failed` where the floor is not reached within the bound of pages
 */
export async function listSignatures(scan: SolanaScan, range: Range): Promise<Listed[]> {
  const { signaturesPerPage, pagesPerAddress } = scan.bounds
  const { failed = false } = range
  const found: Listed[] = []
  let before: Signature | undefined
  for (let pages = 0; pages < pagesPerAddress; pages++) {
    const page = await requestPage(scan, range, before)
    const reaching = page.filter(({ slot }) => slot >= range.floor)
    for (const { signature, slot, err } of reaching) {
      if (slot <= range.slot && (failed || err === null)) found.push({ signature, slot })
    }
    if (page.length < signaturesPerPage || reaching.length < page.length) return found
    before = page.at(-1)?.signature
  }
  const problem = `slot ${range.floor} was not reached within ${pagesPerAddress} pages`
  throw refusal(scan.node, `history of ${range.account}`, problem)
}

/**
 * A node that has dropped old slots answers with a short history as if there had been no more.
 * @throws Fault `remote_failed` where the node does not go back to the floor
 */
export async function requireHistory({ node }: SolanaScan, floor: bigint): Promise<void> {
  const first = await firstAvailable(node)
  if (first !== null && first > floor) {
    throw refusal(node, 'history', `it begins at slot ${first}, but slot ${floor} is still to be read`)
  }
}

/** The first slot whose block the node has; null where it does not tell. */
export function firstAvailable(node: SolanaScan['node']): Promise<bigint | null> {
  return ask(node, 'first block', firstAvailableBlock)
}

async function firstAvailableBlock(rpc: SolanaRpc): Promise<bigint | null> {
  try {
    return await rpc.getFirstAvailableBlock().send()
  } catch (error) {
    if (isSolanaError(error, SOLANA_ERROR__JSON_RPC__METHOD_NOT_FOUND)) return null
    throw error
  }
}

function requestPage({ node, bounds }: SolanaScan, { account, slot }: Range, before: Signature | undefined) {
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
