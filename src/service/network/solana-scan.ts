import type { NetworkSettings } from '../../chain/port.ts'
import type { Address } from '../../core/asset.ts'
import { Fault } from '../../core/errors.ts'
import { mapBounded } from '../running/bounded.ts'
import type { Position, Scan } from './port.ts'
import type { SolanaRpc } from './solana.ts'
import {
  type BlockReader,
  type Commitment,
  type ReadBlock,
  readBlock,
  readBlockHash,
} from './solana-blocks.ts'

export type SolanaChain = {
  rpc: SolanaRpc
  settings: NetworkSettings
  /** The service's own wallet, whose payments are no deposits. */
  liquidity: Address
  /**
   * Blocks that were read as seen, by slot, so that they are not read again as final. An address that was not
   * watched then was handed out to nobody before that block.
   */
  seen: Map<bigint, ReadBlock>
}

type Mark = { slot: bigint; hash: string | null }
type Span = { after: Mark; to: bigint }

const requestsAtOnce = 8
/** The most blocks one scan reads as final, and again as seen. */
const spanMax = 128
/** How far to read again where blocks vanished that were final: nodes that lost their newest state do that. */
const finalRewind = 64n
const seenMax = 1024

export async function startSolana(rpc: SolanaRpc): Promise<Position> {
  const { context, value } = await rpc.getLatestBlockhash({ commitment: 'finalized' }).send()
  return toPosition({ slot: context.slot, hash: value.blockhash })
}

/**
 * Reads block by block, whoever is watched, because asking for each address would cost requests for each. That none
 * is left out is proved by each block naming the hash of the one before it, from the last scan's on.
 */
export async function scanSolana(
  chain: SolanaChain,
  position: Position,
  watched: () => Promise<ReadonlySet<Address>>,
): Promise<Scan> {
  const final = await chain.rpc.getSlot({ commitment: 'finalized' }).send()
  const head = await chain.rpc.getSlot({ commitment: 'confirmed' }).send()
  const owners = await watched()
  const reader = (commitment: Commitment): BlockReader => ({ ...chain, owners, commitment })
  const after = { slot: position.finalHeight, hash: position.finalHash }
  const finals = await readLinked(chain, reader('finalized'), { after, to: final })
  if (finals === null) return rewind(chain, position)
  const finalMark = lastOf(finals, after)
  for (const slot of chain.seen.keys()) if (slot <= finalMark.slot) chain.seen.delete(slot)
  const isAhead = position.seenHeight > finalMark.slot
  const seenMark = isAhead ? { slot: position.seenHeight, hash: position.seenHash } : finalMark
  const seen = await readSeen(chain, reader('confirmed'), { after: seenMark, to: head })
  return {
    payments: [...paymentsIn(chain, finals, true), ...paymentsIn(chain, seen ?? [], false)],
    // What was seen and is no longer part of the chain is read again from what is final.
    position: toPosition(finalMark, seen === null ? finalMark : lastOf(seen, seenMark)),
    more: finals.length === spanMax || seen?.length === spanMax,
  }
}

async function readSeen(chain: SolanaChain, reader: BlockReader, span: Span): ReturnType<typeof readLinked> {
  const blocks = await readLinked(chain, reader, span)
  for (const block of blocks ?? []) if (chain.seen.size < seenMax) chain.seen.set(block.slot, block)
  return blocks
}

/**
 * The next blocks, each of which names the one before it. Null where the first does not name the mark.
 * @throws Fault `remote_failed` where one is missing between them
 */
async function readLinked(
  chain: SolanaChain,
  reader: BlockReader,
  { after, to }: Span,
): Promise<readonly ReadBlock[] | null> {
  const { commitment } = reader
  const listed = await chain.rpc.getBlocksWithLimit(after.slot + 1n, spanMax, { commitment }).send()
  const slots = listed.filter((slot) => slot <= to)
  const known = commitment === 'finalized' ? chain.seen : new Map<bigint, ReadBlock>()
  const blocks = await mapBounded(
    slots,
    requestsAtOnce,
    async (slot) => known.get(slot) ?? readBlock(reader, slot),
  )
  const [first] = blocks
  const torn = blocks.find(({ previousHash }, place) => place > 0 && previousHash !== blocks[place - 1]?.hash)
  if (torn !== undefined || !(await isCurrent(reader, known, blocks.at(-1)))) {
    throw forget(chain, `the blocks up to slot ${(torn ?? first)?.slot} do not follow one another`)
  }
  const isNext = first === undefined || after.hash === null || first.previousHash === after.hash
  return isNext ? blocks : null
}

/** Whether the newest of the blocks is the chain's, so that those before it, which it stands on, are too. */
async function isCurrent(
  reader: BlockReader,
  known: ReadonlyMap<bigint, ReadBlock>,
  newest: ReadBlock | undefined,
): Promise<boolean> {
  if (newest === undefined || !known.has(newest.slot)) return true
  return (await readBlockHash(reader, newest.slot)) === newest.hash
}

/** @throws Fault `remote_failed` where the chain still has the last final block: the node leaves out others */
async function rewind(chain: SolanaChain, { finalHeight, finalHash }: Position): Promise<Scan> {
  const reader = { rpc: chain.rpc, commitment: 'finalized' } as const
  if ((await readBlockHash(reader, finalHeight)) === finalHash) {
    throw forget(chain, `the blocks after slot ${finalHeight} do not follow it`)
  }
  const from = finalHeight > finalRewind ? finalHeight - finalRewind : 0n
  const [slot = from] = await chain.rpc.getBlocksWithLimit(from, 1, { commitment: 'finalized' }).send()
  return {
    payments: [],
    position: toPosition({ slot, hash: await readBlockHash(reader, slot) }),
    more: true,
  }
}

/** What was read before is not to be believed either. */
function forget({ settings, seen }: SolanaChain, problem: string): Fault {
  seen.clear()
  return new Fault('remote_failed', { what: `reading ${settings.name}`, problem })
}

function paymentsIn({ liquidity }: SolanaChain, blocks: readonly ReadBlock[], final: boolean) {
  return blocks
    .flatMap(({ payments }) => payments)
    .filter(({ sender }) => sender !== liquidity)
    .map((payment) => ({ ...payment, final }))
}

function lastOf(blocks: readonly ReadBlock[], before: Mark): Mark {
  return blocks.at(-1) ?? before
}

function toPosition(final: Mark, seen: Mark = final): Position {
  return { finalHeight: final.slot, finalHash: final.hash, seenHeight: seen.slot, seenHash: seen.hash }
}
