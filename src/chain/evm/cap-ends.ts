import type { BlockMark, ScanRequest } from '../port.ts'
import { type Block, readHeader } from './blocks.ts'
import type { EvmNode } from './node.ts'

type Ends = { head: Block; final: BlockMark }

/** Where the chain stands for a scan that is to read no further than asked for. */
export async function capEnds(node: EvmNode, ends: Ends, request: ScanRequest): Promise<Ends> {
  const { finalMax, finalOnly } = request
  const final =
    finalMax === undefined || ends.final.height <= finalMax ? ends.final : await readHeader(node, finalMax)
  return { head: finalOnly ? { ...ends.head, height: final.height } : ends.head, final }
}
