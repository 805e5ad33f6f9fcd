import type { Address, NetworkName } from '../../core/asset.ts'
import { Fault } from '../../core/errors.ts'
import { mapBounded } from '../running/bounded.ts'
import type { NetworkReadPosition, Scan, ScannedPayment } from './port.ts'

export type BlockStage = 'final' | 'seen'

type FoundPayment = Omit<ScannedPayment, 'final'>

/** A block, with what it paid to the addresses that were watched when it was read. */
export type ReadBlock = {
  height: bigint
  hash: string
  previousHash: string
  payments: readonly FoundPayment[]
}

/** What reading needs of a chain. */
export type BlockSource = {
  network: NetworkName
  /** The service's own wallet, whose payments are no deposits. */
  liquidity: Address
  /** The newest block of that stage. */
  newest(stage: BlockStage): Promise<bigint>
  /** The next heights above that one which have a block, in their order: so many at most. */
  next(above: bigint, max: number, stage: BlockStage): Promise<readonly bigint[]>
  read(height: bigint, watched: ReadonlySet<Address>, stage: BlockStage): Promise<ReadBlock>
  /** Null where there is no block of that height. */
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
   * Blocks that were read as seen, by height, so that they are not read again as final: an address that was not
   * watched then was handed out to nobody before that block.
   */
  seen: Map<bigint, ReadBlock>
}

type BlockScanRange = { above: ScanMark; to: bigint; stage: BlockStage }

const requestsAtOnce = 8
/** The most blocks one scan reads as final, and again as seen. */
const spanMax = 128
const seenMax = 1024
/** How far to read again where blocks vanished that were final: nodes that lost their newest state do that. */
const finalRewind = 64n

/**
 * Reads block by block, whoever is watched, because asking for each address would cost requests for each. That none
 * is left out is proved by each block naming the hash of the one before it, from the last scan's on.
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

/** What was seen last and is no longer part of the chain gives way to the one before it, and so on. */
function before({ seen }: BlockReadContext, { height }: ScanMark, finalMark: ScanMark): ScanMark {
  const lower = [...seen.values()].filter((block) => block.height < height)
  return lower.reduce<ScanMark>(
    (highest, block) => (block.height > highest.height ? block : highest),
    finalMark,
  )
}

/**
 * The next blocks, each of which names the one before it. Null where the first does not name the mark.
 * @throws Fault `remote_failed` where one is missing between them
 */
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
    if (known.size === 0) throw disbelieved(reading.source, span.above.height)
    // The chain gave up what was seen.
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

/** Whether the newest of the blocks is the chain's, so that those before it, which it stands on, are too. */
async function isCurrent(
  source: BlockSource,
  known: ReadonlyMap<bigint, ReadBlock>,
  newest: ReadBlock | undefined,
): Promise<boolean> {
  if (newest === undefined || !known.has(newest.height)) return true
  return (await source.hashAt(newest.height, 'final')) === newest.hash
}

/** @throws Fault `remote_failed` where the chain still has the last final block: the node leaves out others */
async function rewindFrom(
  source: BlockSource,
  { finalHeight, finalHash }: NetworkReadPosition,
): Promise<Scan> {
  if ((await source.hashAt(finalHeight, 'final')) === finalHash) throw disbelieved(source, finalHeight)
  return rewind(source, finalHeight)
}

async function rewind(source: BlockSource, height: bigint): Promise<Scan> {
  const below = height > finalRewind ? height - finalRewind - 1n : 0n
  const [from = below] = await source.next(below, 1, 'final')
  const mark = { height: from, hash: await source.hashAt(from, 'final') }
  return { payments: [], position: positionAt(mark), more: true }
}

/** Nobody can be paid before an address is handed out. */
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

function disbelieved({ network }: BlockSource, height: bigint): Fault {
  const problem = `the blocks after ${height} do not follow one another`
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
