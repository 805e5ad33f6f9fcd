import { getBase64Encoder, type Address as KitAddress } from '@solana/kit'
import { findAssociatedTokenPda, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import { type Address, type AssetKey, assetCode, nativeDecimals } from '../../core/asset.ts'
import { refusal } from '../pool.ts'
import { ask, type SolanaNode, type SolanaScan, toKit } from './node.ts'

/**
 * A token transfer does not list the owner, so its accounts of watched mints count too; anyone can create thousands of
 * others. The associated account is included even if it does not exist: it may have been emptied and closed since the
 * last scan.
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

/** Reads them once, so that owners read in parallel do not each request it. */
export async function readPrograms(scan: SolanaScan): Promise<void> {
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
  const program = memory.programs.get(mint) ?? (await readMint(node, mint))?.program
  if (program === undefined) throw refusal(node, `mint ${mint}`, 'it does not know this mint')
  memory.programs.set(mint, program)
  return program
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

/** Starts with the layout of the Token program; extensions follow. */
export const token2022Program = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb' as KitAddress

/** After the optional authority (36 bytes) and the supply (8 bytes). */
const decimalsOffset = 44

/** Null if neither token program owns the address. */
export async function readMint(
  node: SolanaNode,
  mint: Address,
): Promise<{ program: KitAddress; decimals: number } | null> {
  const { value } = await ask(node, `mint ${mint}`, (rpc) =>
    rpc.getAccountInfo(toKit(mint), { commitment: 'finalized', encoding: 'base64' }).send(),
  )
  const program = value?.owner
  if (program === undefined || !isTokenProgram(program)) return null
  const decimals = getBase64Encoder().encode(value?.data[0] ?? '')[decimalsOffset]
  return decimals === undefined ? null : { program, decimals }
}

export function isTokenProgram(program: KitAddress): boolean {
  return program === TOKEN_PROGRAM_ADDRESS || program === token2022Program
}

/** Null if its address is not a mint. */
export async function readDecimals(node: SolanaNode, key: AssetKey): Promise<number | null> {
  const code = assetCode(key)
  if (code === 'native') return nativeDecimals.solana
  return (await readMint(node, code))?.decimals ?? null
}
