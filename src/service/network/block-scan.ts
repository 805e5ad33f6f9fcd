import type { Address, NetworkName } from '../../core/asset.ts'
import { Fault } from '../../core/errors.ts'
import { mapBounded } from '../running/requests.ts'
import type { NetworkReadPosition, Scan, ScannedPayment } from './port.ts'

export type BlockStage = 'final' | 'seen'

type FoundPayment = Omit<ScannedPayment, 'final'>

export type ReadBlock = {
  height: bigint
  hash: string
  previousHash: string
  payments: readonly FoundPayment[]
}

export type BlockSource = {
  network: NetworkName
  liquidity: Address
  newest(stage: BlockStage): Promise<bigint>
  /** Ascending. Slots without a block are skipped. */
  next(above: bigint, max: number, stage: BlockStage): Promise<readonly bigint[]>
  read(height: bigint, watched: ReadonlySet<Address>, stage: BlockStage): Promise<ReadBlock>
  /** Null if no block has this height. */
  hashAt(height: bigint, stage: BlockStage): Promise<string | null>
}

export type BlockScanner = (
  position: NetworkReadPosition,
  watched: () => Promise<ReadonlySet<Address>>,
) => Promise<Scan>

export type ScanMark = { height: bigint; hash: string | null }

type BlockReadContext = {
  source: BlockSource
  watched: ReadonlySet<Address>
  /**
   * Blocks read as `seen`, by height, so not read again as `final`. An address that was not watched then was not handed
   * out before that block.
   */
  seen: Map<bigint, ReadBlock>
}

type BlockScanRange = { above: ScanMark; to: bigint; stage: BlockStage }

const requestsAtOnce = 8
/** Blocks per scan and stage. */
const spanMax = 128
const seenMax = 1024
/** Rewinds this far if final blocks vanished, as when a node loses its newest state. */
const finalRewind = 64n

/**
 * Queries per address would cost requests for every address. Each block must name the hash of the one before it, across
 * scans, which proves that none is missing.
 */
export function createBlockScanner(source: BlockSource): BlockScanner {
  const seen = new Map<bigint, ReadBlock>()
  return async (position, watched) => {
    const [final, head] = [await source.newest('final'), await source.newest('seen')]
    const reading = { source, watched: await watched(), seen }
    if (final + finalRewind < position.finalHeight) return rewind(source, final)
    if (reading.watched.size === 0) return skip(source, position, { final, head })
    const above = { height: position.finalHeight, hash: position.finalHash }
    const finals = await readLinked(reading, { above, to: final, stage: 'final' })
    if (finals === null) return rewindFrom(source, position)
    return readBeyond(reading, { position, finals, finalMark: finals.at(-1) ?? above, head })
  }
}

export function positionAt(final: ScanMark, seen: ScanMark = final): NetworkReadPosition {
  return {
    finalHeight: final.height,
    finalHash: final.hash,
    seenHeight: seen.height,
    seenHash: seen.hash,
  }
}

type Finals = {
  position: NetworkReadPosition
  finals: readonly ReadBlock[]
  finalMark: ScanMark
  head: bigint
}

async function readBeyond(
  reading: BlockReadContext,
  { position, finals, finalMark, head }: Finals,
): Promise<Scan> {
  const { source, seen } = reading
  for (const height of seen.keys()) if (height <= finalMark.height) seen.delete(height)
  const isAhead = position.seenHeight > finalMark.height
  const above = isAhead ? { height: position.seenHeight, hash: position.seenHash } : finalMark
  const { blocks, mark, more } = await readSeen(reading, { above, finalMark, head })
  return {
    payments: [...paymentsIn(source, finals, true), ...paymentsIn(source, blocks, false)],
    position: positionAt(finalMark, mark),
    more: more || finals.length === spanMax,
  }
}

type SeenBlocks = { blocks: readonly ReadBlock[]; mark: ScanMark; more: boolean }

async function readSeen(
  reading: BlockReadContext,
  { above, finalMark, head }: { above: ScanMark; finalMark: ScanMark; head: bigint },
): Promise<SeenBlocks> {
  const blocks = await readLinked(reading, { above, to: head, stage: 'seen' })
  if (blocks === null) {
    const mark = before(reading, above, finalMark)
    return { blocks: [], mark, more: mark.height < above.height }
  }
  for (const block of blocks) if (reading.seen.size < seenMax) reading.seen.set(block.height, block)
  return { blocks, mark: blocks.at(-1) ?? above, more: blocks.length === spanMax }
}

/** Falls back if the last seen block is no longer part of the chain. */
function before({ seen }: BlockReadContext, { height }: ScanMark, finalMark: ScanMark): ScanMark {
  const lower = [...seen.values()].filter((block) => block.height < height)
  return lower.reduce<ScanMark>(
    (highest, block) => (block.height > highest.height ? block : highest),
    finalMark,
  )
}

/** Null if the first block does not name the mark. @throws Fault `remote_failed` if a block between them is missing */
async function readLinked(
  reading: BlockReadContext,
  span: BlockScanRange,
): Promise<readonly ReadBlock[] | null> {
  const known = span.stage === 'final' ? reading.seen : new Map<bigint, ReadBlock>()
  const blocks = await readBlocks(reading, span, known)
  const isTorn = blocks.some(
    ({ previousHash }, place) => place > 0 && previousHash !== blocks[place - 1]?.hash,
  )
  if (isTorn || !(await isCurrent(reading.source, known, blocks.at(-1)))) {
    if (known.size === 0) throw notLinked(reading.source, span.above.height)
    // A reorganization replaced the seen blocks.
    reading.seen.clear()
    return readLinked(reading, span)
  }
  const [first] = blocks
  const { hash } = span.above
  return first === undefined || hash === null || first.previousHash === hash ? blocks : null
}

async function readBlocks(
  { source, watched }: BlockReadContext,
  { above, to, stage }: BlockScanRange,
  known: ReadonlyMap<bigint, ReadBlock>,
): Promise<readonly ReadBlock[]> {
  const listed = await source.next(above.height, spanMax, stage)
  const heights = listed.filter((height) => height <= to)
  return mapBounded(
    heights,
    requestsAtOnce,
    async (height) => known.get(height) ?? source.read(height, watched, stage),
  )
}

/** If the newest block is on the chain, its ancestors are too. */
async function isCurrent(
  source: BlockSource,
  known: ReadonlyMap<bigint, ReadBlock>,
  newest: ReadBlock | undefined,
): Promise<boolean> {
  if (newest === undefined || !known.has(newest.height)) return true
  return (await source.hashAt(newest.height, 'final')) === newest.hash
}

/** @throws Fault `remote_failed` if the chain still has the last final block: the node omits later ones */
async function rewindFrom(
  source: BlockSource,
  { finalHeight, finalHash }: NetworkReadPosition,
): Promise<Scan> {
  if ((await source.hashAt(finalHeight, 'final')) === finalHash) throw notLinked(source, finalHeight)
  return rewind(source, finalHeight)
}

async function rewind(source: BlockSource, height: bigint): Promise<Scan> {
  const below = height > finalRewind ? height - finalRewind - 1n : 0n
  const [from = below] = await source.next(below, 1, 'final')
  const mark = { height: from, hash: await source.hashAt(from, 'final') }
  return { payments: [], position: positionAt(mark), more: true }
}

/** Without watched addresses there are no payments to find. */
async function skip(
  source: BlockSource,
  position: NetworkReadPosition,
  { final, head }: { final: bigint; head: bigint },
): Promise<Scan> {
  const markAt = async (height: bigint, stage: BlockStage): Promise<ScanMark> => ({
    height,
    hash: await source.hashAt(height, stage),
  })
  const isBehind = final < position.finalHeight || head < final
  const reached = isBehind ? position : positionAt(await markAt(final, 'final'), await markAt(head, 'seen'))
  return { payments: [], position: reached, more: false }
}

function notLinked({ network }: BlockSource, height: bigint): Fault {
  const problem = `the blocks after ${height} are not linked`
  return new Fault('remote_failed', { what: `reading ${network}`, problem })
}

function paymentsIn(
  { liquidity }: BlockSource,
  blocks: readonly ReadBlock[],
  final: boolean,
): ScannedPayment[] {
  return blocks
    .flatMap(({ payments }) => payments)
    .filter(({ sender }) => sender !== liquidity)
    .map((payment) => ({ ...payment, final }))
}
