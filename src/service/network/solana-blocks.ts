import {
  isSolanaError,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_LONG_TERM_STORAGE_SLOT_SKIPPED,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SLOT_SKIPPED,
} from '@solana/kit'
import type { NetworkSettings } from '../../chain/port.ts'
import { type Address, assetKey, toTxId } from '../../core/asset.ts'
import { Fault } from '../../core/errors.ts'
import type { Payment } from './port.ts'
import type { SolanaRpc } from './solana.ts'
import { type BalanceRecord, movementsOf, soleSender } from './solana-movements.ts'

export type FoundPayment = Omit<Payment, 'final'>

/** A block, with what it paid to the addresses that were watched when it was read. */
export type ReadBlock = {
  slot: bigint
  hash: string
  previousHash: string
  payments: readonly FoundPayment[]
}

export type Commitment = 'confirmed' | 'finalized'

export type BlockReader = {
  rpc: SolanaRpc
  settings: NetworkSettings
  owners: ReadonlySet<Address>
  commitment: Commitment
}

export async function readBlock(reader: BlockReader, slot: bigint): Promise<ReadBlock> {
  const { rpc, settings, owners, commitment } = reader
  const block = await rpc
    .getBlock(slot, {
      commitment,
      transactionDetails: 'accounts',
      maxSupportedTransactionVersion: 1,
      rewards: false,
    })
    .send()
  if (block === null) throw unreadable(settings, slot)
  const place = { block: slot, blockHash: block.blockhash, blockAt: toDate(block.blockTime) }
  const payments = block.transactions.flatMap((transaction) =>
    paymentsOf(transaction, settings, owners).map((payment) => ({ ...payment, ...place })),
  )
  return { slot, hash: block.blockhash, previousHash: block.previousBlockhash, payments }
}

/** Null where the slot has no block, or no longer. */
export async function readBlockHash(
  { rpc, commitment }: Pick<BlockReader, 'rpc' | 'commitment'>,
  slot: bigint,
): Promise<string | null> {
  const config = { commitment, transactionDetails: 'none', rewards: false } as const
  const block = await rpc.getBlock(slot, config).send().catch(nullIfSkipped)
  return block?.blockhash ?? null
}

type Transaction = {
  meta: Meta | null
  transaction: { accountKeys: readonly { pubkey: string }[]; signatures: readonly string[] }
}

type Meta = {
  err: unknown
  preBalances: readonly bigint[]
  postBalances: readonly bigint[]
  preTokenBalances?: BalanceRecord['preTokens']
  postTokenBalances?: BalanceRecord['postTokens']
}

/** Nearly all of a block is of others. Failed transactions moved nothing. */
function paymentsOf(
  { meta, transaction }: Transaction,
  { name, assets }: NetworkSettings,
  owners: ReadonlySet<Address>,
): Omit<FoundPayment, 'block' | 'blockHash' | 'blockAt'>[] {
  const accounts = transaction.accountKeys.map(({ pubkey }) => pubkey)
  const [signature] = transaction.signatures
  if (meta === null || meta.err !== null || signature === undefined) return []
  const { preTokenBalances: preTokens = [], postTokenBalances: postTokens = [] } = meta
  const concerned = [...accounts, ...postTokens.map(({ owner }) => owner)]
  if (!concerned.some((address) => owners.has(address as Address))) return []
  const record = { accounts, pre: meta.preBalances, post: meta.postBalances, preTokens, postTokens }
  const movements = movementsOf(record)
  const known = new Set(assets.map(({ key }) => key))
  return movements
    .map((movement) => ({ ...movement, asset: assetKey(name, movement.code) }))
    .filter(({ owner, change, asset }) => change > 0n && owners.has(owner) && known.has(asset))
    .map(({ owner, code, change, asset }) => ({
      transaction: toTxId(signature),
      index: `${code}:${owner}`,
      asset,
      sender: soleSender(movements, code),
      address: owner,
      amount: change,
    }))
}

/** Blocks from before the chain kept time have none. */
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

export function unreadable({ name }: NetworkSettings, slot: bigint): Fault {
  const problem = `the node lists slot ${slot} and does not have its block`
  return new Fault('remote_failed', { what: `reading ${name}`, problem })
}
