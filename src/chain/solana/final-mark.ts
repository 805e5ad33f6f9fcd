import type { BlockMark } from '../types.ts'
import { ask } from './node.ts'
import type { SolanaScan } from './watch.ts'

/** Slot and hash from one answer of one bank: the block itself may become readable a moment later. */
export async function readFinalMark({ node }: Pick<SolanaScan, 'node'>): Promise<BlockMark> {
  const { context, value } = await ask(node, 'final slot', (rpc) =>
    rpc.getLatestBlockhash({ commitment: 'finalized' }).send(),
  )
  return { height: context.slot, hash: value.blockhash }
}
