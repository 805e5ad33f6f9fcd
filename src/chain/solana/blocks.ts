import { setTimeout as pause } from 'node:timers/promises'
import {
  isSolanaError,
  MAX_SUPPORTED_TRANSACTION_VERSION,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_BLOCK_NOT_AVAILABLE,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_BLOCK_STATUS_NOT_AVAILABLE_YET,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_LONG_TERM_STORAGE_SLOT_SKIPPED,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SLOT_SKIPPED,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_UNSUPPORTED_TRANSACTION_VERSION,
  type SolanaErrorCode,
} from '@solana/kit'
import { refusal } from '../pool.ts'
import type { BlockMark } from '../types.ts'
import { ask, notYetTriesMax, type SlotBlock, type SolanaNodeRpc, type SolanaScan } from './node.ts'
import { withTransactionsOf } from './thin-block.ts'

export type BlockHead = SlotBlock & { slot: bigint; parent: BlockMark }

export async function readBlock(scan: SolanaScan, slot: bigint): Promise<SlotBlock> {
  const known = scan.memory.blocks.get(slot)
  if (known !== undefined) return known
  const head = await readHead(scan, slot)
  if (head === null) throw refusal(scan.node, `block ${slot}`, 'the node has no block or no block time')
  return head
}

/** Waits a few slots for a final block that is not readable yet. */
export async function awaitBlock(scan: SolanaScan, slot: bigint): Promise<SlotBlock> {
  for (let tries = 1; tries < notYetTriesMax; tries++) {
    const head = await readHead(scan, slot)
    if (head !== null) return head
    await pause(scan.node.slotMs)
  }
  return readBlock(scan, slot)
}

/** Null also if the block is not readable yet: a final slot may become readable late. */
export async function readHead(scan: SolanaScan, slot: bigint): Promise<BlockHead | null> {
  const block = await ask(scan.node, `block ${slot}`, (rpc) => unlessLate(requestHead(rpc, slot)))
  return block === null ? null : toHead(scan, slot, block)
}

/** The block may still vanish; null if the node does not have it. */
export async function readConfirmed({ node }: SolanaScan, slot: bigint): Promise<SlotBlock | null> {
  const block = await ask(node, `block ${slot}`, (rpc) => unlessLate(requestHead(rpc, slot, 'confirmed')))
  if (block === null || block.blockTime === null) return null
  return { hash: block.blockhash, at: toDate(block.blockTime) }
}

/** `version`: the library does not support it. `owner`: old transactions do not name the owner of a token account. */
export type Unread = 'version' | 'owner'

/** @param accounts omits transactions that name none of them; null: all transactions */
export async function readWhole(scan: SolanaScan, slot: bigint, accounts: ReadonlySet<string> | null) {
  const { node } = scan
  const rpc = accounts === null ? node.rpc : node.rpcOfPart((text) => withTransactionsOf(accounts, text))
  const block = await ask(node, `block ${slot}`, () => unlessLate(unlessUnsupported(requestWhole(rpc, slot))))
  if (block === null || block === 'version') return block
  const head = toHead(scan, slot, block)
  return head === null ? null : { head, transactions: block.transactions }
}

export async function listBlocks(
  { node }: SolanaScan,
  from: bigint,
  most: number,
): Promise<readonly bigint[]> {
  return ask(node, `blocks from slot ${from}`, (rpc) =>
    rpc.getBlocksWithLimit(from, most, { commitment: 'finalized' }).send(),
  )
}

const maxSupportedTransactionVersion = MAX_SUPPORTED_TRANSACTION_VERSION

function requestHead(rpc: SolanaNodeRpc, slot: bigint, commitment: 'confirmed' | 'finalized' = 'finalized') {
  const transactionDetails = 'none'
  return rpc
    .getBlock(slot, { commitment, maxSupportedTransactionVersion, rewards: false, transactionDetails })
    .send()
}

function requestWhole(rpc: SolanaNodeRpc, slot: bigint) {
  const commitment = 'finalized'
  const transactionDetails = 'accounts'
  return rpc
    .getBlock(slot, { commitment, maxSupportedTransactionVersion, rewards: false, transactionDetails })
    .send()
}

const lateCodes: readonly SolanaErrorCode[] = [
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_BLOCK_NOT_AVAILABLE,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SLOT_SKIPPED,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_LONG_TERM_STORAGE_SLOT_SKIPPED,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_BLOCK_STATUS_NOT_AVAILABLE_YET,
]

async function unlessLate<Block>(request: Promise<Block>): Promise<Block | null> {
  try {
    return await request
  } catch (error) {
    if (lateCodes.some((code) => isSolanaError(error, code))) return null
    throw error
  }
}

export async function unlessUnsupported<Answer>(request: Promise<Answer>): Promise<Answer | 'version'> {
  try {
    return await request
  } catch (error) {
    if (isSolanaError(error, SOLANA_ERROR__JSON_RPC__SERVER_ERROR_UNSUPPORTED_TRANSACTION_VERSION)) {
      return 'version'
    }
    throw error
  }
}

type BlockHeadAnswer = NonNullable<Awaited<ReturnType<typeof requestHead>>>

/** A block without a time is not completely stored yet. */
function toHead({ memory }: SolanaScan, slot: bigint, block: BlockHeadAnswer): BlockHead | null {
  const { blockhash, blockTime, parentSlot, previousBlockhash } = block
  if (blockTime === null) return null
  const read = { hash: blockhash, at: toDate(blockTime) }
  memory.blocks.set(slot, read)
  return { ...read, slot, parent: { height: parentSlot, hash: previousBlockhash } }
}

/** From Unix seconds. */
function toDate(blockTime: bigint): Date {
  return new Date(Number(blockTime) * 1000)
}

/** Both come from one answer of one bank: the block itself may become readable later. */
export async function readFinalMark({ node }: Pick<SolanaScan, 'node'>): Promise<BlockMark> {
  const { context, value } = await ask(node, 'final slot', (rpc) =>
    rpc.getLatestBlockhash({ commitment: 'finalized' }).send(),
  )
  return { height: context.slot, hash: value.blockhash }
}
