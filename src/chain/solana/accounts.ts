import { findAssociatedTokenPda } from '@solana-program/token'
import type { Address } from '../../core/asset.ts'
import { readMint } from './mints.ts'
import { ask, refusal } from './node.ts'
import { type SolanaScan, toKit } from './watch.ts'

/**
 * The addresses whose histories list an owner's transfers: the owner's address, and each of the owner's accounts of a
 * watched mint. A token transfer does not list the owner. Accounts of other mints are skipped, because anyone can
 * create thousands of them. The associated account is included even if it does not exist: it may have been filled,
 * emptied and closed since the last scan.
 */
export async function accountsOf(scan: SolanaScan, owner: Address, slot: bigint): Promise<string[]> {
  const known =
    scan.memory.accounts.get(owner) ?? new Set([owner, ...(await associatedAccounts(scan, owner))])
  const listed = []
  for (const mint of scan.watch.mints.keys())
    listed.push(...(await listAccounts(scan, { owner, mint, slot })))
  const all = new Set([...known, ...listed])
  scan.memory.accounts.set(owner, all)
  return [...all]
}

/** Reads the token program of each mint once, so that owners read in parallel do not each request it. */
export async function readMints(scan: SolanaScan): Promise<void> {
  if (scan.watch.owners.size === 0) return
  for (const mint of scan.watch.mints.keys()) await programOf(scan, mint)
}

async function associatedAccounts(scan: SolanaScan, owner: Address): Promise<string[]> {
  const accounts = []
  for (const mint of scan.watch.mints.keys()) {
    const tokenProgram = await programOf(scan, mint)
    const [account] = await findAssociatedTokenPda({ owner: toKit(owner), mint: toKit(mint), tokenProgram })
    accounts.push(account)
  }
  return accounts
}

async function programOf({ node, memory }: SolanaScan, mint: Address) {
  const known = memory.mints.get(mint) ?? (await readMint(node, mint))
  if (known === null) throw refusal(node, `mint ${mint}`, 'it knows no such mint')
  memory.mints.set(mint, known)
  return known.program
}

type TokenAccountQuery = { owner: Address; mint: Address; slot: bigint }

async function listAccounts(
  { node }: SolanaScan,
  { owner, mint, slot }: TokenAccountQuery,
): Promise<string[]> {
  const nothingOfIt = { offset: 0, length: 0 }
  const { value } = await ask(node, `token accounts of ${owner}`, (rpc) =>
    rpc
      .getTokenAccountsByOwner(
        toKit(owner),
        { mint: toKit(mint) },
        { commitment: 'finalized', encoding: 'base64', dataSlice: nothingOfIt, minContextSlot: slot },
      )
      .send(),
  )
  return value.map(({ pubkey }) => pubkey)
}
