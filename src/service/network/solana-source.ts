import {
  isSolanaError,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_LONG_TERM_STORAGE_SLOT_SKIPPED,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SLOT_SKIPPED,
} from '@solana/kit'
import type { NetworkSettings } from '../../core/asset.ts'
import { type Address, type AssetCode, assetKey, parseAddress, toTxId } from '../../core/asset.ts'
import { Fault } from '../../core/errors.ts'
import { type BlockSource, type BlockStage, positionAt, type ReadBlock } from './block-scan.ts'
import type { NetworkReadPosition } from './port.ts'
import type { SolanaNetworkRpc } from './solana-accounts.ts'

type SolanaSourceContext = { rpc: SolanaNetworkRpc; settings: NetworkSettings; liquidity: Address }
type SolanaBlockPayment = ReadBlock['payments'][number]

const commitments = { final: 'finalized', seen: 'confirmed' } as const

/** Both come from one response: the block may become readable later. */
export async function startSolana(rpc: SolanaNetworkRpc): Promise<NetworkReadPosition> {
  const { context, value } = await rpc.getLatestBlockhash({ commitment: 'finalized' }).send()
  return positionAt({ height: context.slot, hash: value.blockhash })
}

/** Heights are slots; some have no block. */
export function solanaSource(chain: SolanaSourceContext): BlockSource {
  const { rpc, settings, liquidity } = chain
  return {
    network: settings.name,
    liquidity,
    newest: (stage) => rpc.getSlot({ commitment: commitments[stage] }).send(),
    next: (above, max, stage) =>
      rpc.getBlocksWithLimit(above + 1n, max, { commitment: commitments[stage] }).send(),
    read: (slot, watched, stage) => readBlock(chain, slot, { watched, stage }),
    hashAt: async (slot, stage) => {
      const commitment = commitments[stage]
      const config = { commitment, transactionDetails: 'none', rewards: false } as const
      return (await rpc.getBlock(slot, config).send().catch(nullIfSkipped))?.blockhash ?? null
    },
  }
}

type SolanaBlockQuery = { watched: ReadonlySet<Address>; stage: BlockStage }

async function readBlock(
  { rpc, settings }: SolanaSourceContext,
  slot: bigint,
  { watched, stage }: SolanaBlockQuery,
): Promise<ReadBlock> {
  const block = await rpc
    .getBlock(slot, {
      commitment: commitments[stage],
      transactionDetails: 'accounts',
      maxSupportedTransactionVersion: 1,
      rewards: false,
    })
    .send()
  if (block === null) {
    const problem = `the node lists slot ${slot} but does not have its block`
    throw new Fault('remote_failed', { what: `reading ${settings.name}`, problem })
  }
  const place = { block: slot, blockHash: block.blockhash, blockAt: toDate(block.blockTime) }
  const payments = block.transactions.flatMap((transaction) =>
    paymentsOf(transaction, settings, watched).map((payment) => ({ ...payment, ...place })),
  )
  return { height: slot, hash: block.blockhash, previousHash: block.previousBlockhash, payments }
}

type SolanaBlockTransaction = {
  meta: SolanaBlockTransactionMeta | null
  transaction: { accountKeys: readonly { pubkey: string }[]; signatures: readonly string[] }
}

type SolanaBlockTransactionMeta = {
  err: unknown
  fee: bigint
  preBalances: readonly bigint[]
  postBalances: readonly bigint[]
  preTokenBalances?: BalanceRecord['preTokens']
  postTokenBalances?: BalanceRecord['postTokens']
}

/** Checks addresses first: most transactions concern no watched one. Failed transactions moved nothing. */
function paymentsOf(
  { meta, transaction }: SolanaBlockTransaction,
  { name, assets }: NetworkSettings,
  watched: ReadonlySet<Address>,
): Omit<SolanaBlockPayment, 'block' | 'blockHash' | 'blockAt'>[] {
  const accounts = transaction.accountKeys.map(({ pubkey }) => pubkey)
  const [signature] = transaction.signatures
  if (meta === null || meta.err !== null || signature === undefined) return []
  const { preTokenBalances: preTokens = [], postTokenBalances: postTokens = [] } = meta
  const concerned = [...accounts, ...postTokens.map(({ owner }) => owner)]
  if (!concerned.some((address) => watched.has(address as Address))) return []
  const { fee, preBalances: pre, postBalances: post } = meta
  const record = { accounts, fee, pre, post, preTokens, postTokens }
  const movements = movementsOf(record)
  const known = new Set(assets.map(({ key }) => key))
  return movements
    .map((movement) => ({ ...movement, asset: assetKey(name, movement.code) }))
    .filter(({ owner, change, asset }) => change > 0n && watched.has(owner) && known.has(asset))
    .map(({ owner, code, change, asset }) => ({
      transaction: toTxId(signature),
      index: `${code}:${owner}`,
      asset,
      sender: soleSender(movements, code),
      address: owner,
      amount: change,
    }))
}

/** Blocks produced before the chain recorded block times have no time. */
function toDate(blockTime: bigint | null): Date {
  return new Date(Number(blockTime ?? 0n) * 1000)
}

function nullIfSkipped(error: unknown): null {
  const skipped =
    isSolanaError(error, SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SLOT_SKIPPED) ||
    isSolanaError(error, SOLANA_ERROR__JSON_RPC__SERVER_ERROR_LONG_TERM_STORAGE_SLOT_SKIPPED)
  if (!skipped) throw error
  return null
}

export type HoldingChange = { owner: Address; code: AssetCode; change: bigint }

/** In the order of the accounts. */
export type BalanceRecord = {
  accounts: readonly string[]
  /** Paid by the first account. */
  fee: bigint
  pre: readonly bigint[]
  post: readonly bigint[]
  preTokens: readonly TokenBalanceEntry[]
  postTokens: readonly TokenBalanceEntry[]
}

type TokenBalanceEntry = { mint: string; owner?: string; uiTokenAmount: { amount: string } }

/**
 * Uses balances, not instructions, to cover inner transfers, transfers without a mint and unknown programs. Zero
 * changes are omitted.
 */
export function movementsOf(record: BalanceRecord): HoldingChange[] {
  return [...tokenMovements(record), ...lamportMovements(record)].filter(({ change }) => change !== 0n)
}

/** Null unless the balances show exactly one. */
export function soleSender(movements: readonly HoldingChange[], code: AssetCode): Address | null {
  const givers = movements.filter((movement) => movement.code === code && movement.change < 0n)
  return givers.length === 1 ? (givers[0]?.owner ?? null) : null
}

function tokenMovements({ preTokens, postTokens }: BalanceRecord): HoldingChange[] {
  const sums = new Map<string, HoldingChange>()
  const add = (sign: bigint) => (holding: TokenBalanceEntry) => {
    if (holding.owner === undefined) return
    const [owner, code] = [parseAddress('solana', holding.owner), parseAddress('solana', holding.mint)]
    const before = sums.get(`${owner}/${code}`)?.change ?? 0n
    sums.set(`${owner}/${code}`, {
      owner,
      code,
      change: before + sign * BigInt(holding.uiTokenAmount.amount),
    })
  }
  preTokens.forEach(add(-1n))
  postTokens.forEach(add(1n))
  return [...sums.values()]
}

/** A fee payer is not a sender of the deposit. */
function lamportMovements({ accounts, fee, pre, post }: BalanceRecord): HoldingChange[] {
  return accounts.map((account, place) => ({
    owner: parseAddress('solana', account),
    code: 'native',
    change: (post[place] ?? 0n) - (pre[place] ?? 0n) + (place === 0 ? fee : 0n),
  }))
}
