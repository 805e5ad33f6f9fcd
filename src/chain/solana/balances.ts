import { getAddressDecoder, getBase64Encoder, getU64Decoder } from '@solana/kit'
import { type Address, assetCode } from '../../core/asset.ts'
import { highest } from '../heights.ts'
import { chunksOf, mapBounded } from '../map-bounded.ts'
import { refusal } from '../pool.ts'
import type { BalanceReading, BalanceRequest } from '../types.ts'
import { accountsOf, isTokenProgram } from './accounts.ts'
import { awaitBlock, readFinalMark } from './blocks.ts'
import { ask, type SolanaScan, toKit } from './node.ts'

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
