import { getAddressDecoder, getBase64Encoder, getU64Decoder, type Address as KitAddress } from '@solana/kit'
import { findAssociatedTokenPda, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import { type Address, type AssetKey, assetCode, nativeDecimals } from '../../core/asset.ts'
import { highest } from '../heights.ts'
import { chunksOf, mapBounded } from '../map-bounded.ts'
import { refusal } from '../pool.ts'
import type { BalanceReading, BalanceRequest } from '../types.ts'
import { awaitBlock, readFinalMark } from './blocks.ts'
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
const token2022Program = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb' as KitAddress

/** After the optional authority (36 bytes) and the supply (8 bytes). */
const decimalsOffset = 44

/** Null if neither token program owns the address. */
async function readMint(
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

function isTokenProgram(program: KitAddress): boolean {
  return program === TOKEN_PROGRAM_ADDRESS || program === token2022Program
}

/** Null if its address is not a mint. */
export async function readDecimals(node: SolanaNode, key: AssetKey): Promise<number | null> {
  const code = assetCode(key)
  if (code === 'native') return nativeDecimals.solana
  return (await readMint(node, code))?.decimals ?? null
}

type SolanaAccountHolding = {
  lamports: bigint
  token: { mint: string; owner: string; amount: bigint } | null
}
type Holdings = ReadonlyMap<string, SolanaAccountHolding>

/** The limit of the protocol. */
const accountsPerRequest = 100

/** A final slot takes about 400 ms: requests sent together mostly hit the same one. */
const triesMax = 8

/**
 * Reads the current final block; nodes keep no earlier balances. Tokens are summed over an owner's accounts.
 * @throws Fault `remote_failed`, also if the answers repeatedly come from different slots
 */
export async function readBalances(
  scan: SolanaScan,
  pairs: BalanceRequest['pairs'],
): Promise<BalanceReading> {
  const final = await readFinalMark(scan)
  const owners = new Map(pairs.map(({ address }) => [address, new Set<string>([address])]))
  const holders = [
    ...new Set(pairs.filter(({ asset }) => assetCode(asset) !== 'native').map(({ address }) => address)),
  ]
  await mapBounded(holders, scan.bounds.requestsAtOnce, async (owner) => {
    owners.set(owner, new Set([owner, ...(await accountsOf(scan, owner, final.height))]))
  })
  const accounts = [...new Set([...owners.values()].flatMap((own) => [...own]))]
  const { slot, holdings } = await readAtOneSlot(scan, accounts, final.height)
  const { hash } = await awaitBlock(scan, slot)
  const balances = pairs.map(({ address, asset }) => {
    const code = assetCode(asset)
    if (code === 'native') return holdings.get(address)?.lamports ?? 0n
    return tokensOf(address, { mint: code, accounts: owners.get(address) ?? new Set(), holdings })
  })
  return { at: { height: slot, hash }, balances }
}

type MintHoldings = { mint: Address; accounts: ReadonlySet<string>; holdings: Holdings }

export function tokensOf(owner: Address, { mint, accounts, holdings }: MintHoldings): bigint {
  const amounts = [...accounts].map((account) => {
    const token = holdings.get(account)?.token
    return token?.mint === mint && token.owner === owner ? token.amount : 0n
  })
  return amounts.reduce((sum, amount) => sum + amount, 0n)
}

export async function readAtOneSlot(
  scan: SolanaScan,
  accounts: readonly string[],
  notBefore: bigint,
): Promise<{ slot: bigint; holdings: Holdings }> {
  const parts = chunksOf(accounts, accountsPerRequest)
  let slot = notBefore
  for (let tries = 0; tries < triesMax; tries++) {
    const read = await mapBounded(parts, scan.bounds.requestsAtOnce, (part) => readAccounts(scan, part, slot))
    const slots = new Set(read.map((part) => part.slot))
    const newest = highest(slot, ...slots)
    if (slots.size <= 1) return { slot: newest, holdings: new Map(read.flatMap(({ held }) => held)) }
    slot = newest
  }
  throw refusal(
    scan.node,
    `${accounts.length} accounts`,
    `none of ${triesMax} readings was from a single slot`,
  )
}

async function readAccounts({ node }: SolanaScan, accounts: readonly string[], minContextSlot: bigint) {
  const { context, value } = await ask(node, `${accounts.length} accounts`, (rpc) =>
    rpc
      .getMultipleAccounts(
        accounts.map((account) => toKit(account as Address)),
        { commitment: 'finalized', encoding: 'base64', dataSlice: tokenPart, minContextSlot },
      )
      .send(),
  )
  if (value.length !== accounts.length)
    throw refusal(node, `${accounts.length} accounts`, 'the answer lacks some of them')
  const held = accounts.flatMap((account, place): [string, SolanaAccountHolding][] => {
    const found = value[place]
    if (found === null || found === undefined) return []
    return [
      [
        account,
        { lamports: found.lamports, token: isTokenProgram(found.owner) ? readToken(found.data[0]) : null },
      ],
    ]
  })
  return { slot: context.slot, held }
}

/** Mint, owner and amount, in both token programs. */
const tokenPart = { offset: 0, length: 72 }

function readToken(base64: string): SolanaAccountHolding['token'] {
  const bytes = getBase64Encoder().encode(base64)
  if (bytes.length < tokenPart.length) return null
  const decoder = getAddressDecoder()
  return {
    mint: decoder.decode(bytes, 0),
    owner: decoder.decode(bytes, 32),
    amount: getU64Decoder().decode(bytes, 64),
  }
}
