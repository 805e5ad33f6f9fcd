import { isFault } from '../../core/errors.ts'
import { defaultReading } from '../options.ts'
import { refusal } from '../pool.ts'
import type { NetworkSettings } from '../types.ts'
import { type EvmBlock, readHeader } from './headers.ts'
import type { EvmNode, EvmScan } from './node.ts'

/** `final` is null while the node has none, as after its start. */
export type ChainHeads = { head: EvmBlock; final: EvmBlock | null }

/** @throws Fault `remote_failed`; it names the setting if the node lacks the rule's tag */
export async function readEnds({ node, watch }: Pick<EvmScan, 'node' | 'watch'>): Promise<ChainHeads> {
  const { finality } = watch
  if (finality.kind === 'depth') {
    const head = await readHeader(node, 'latest')
    return { head, final: await readDeep(node, head, BigInt(finality.blocks)) }
  }
  const [head, final] = await Promise.all([
    readHeader(node, 'latest'),
    readTagged(node, finality.tag, watch.network),
  ])
  // A URL may lead to several nodes, one of which lags: the final block cannot be above the head.
  return { head, final: final !== null && final.height > head.height ? head : final }
}

/**
 * A node behind a load balancer answers a log query for blocks that it lacks with an empty list
 * (ethereum/go-ethereum#24078). Its head, read after its logs, shows whether it had them.
 */
export async function requireHead({ node }: Pick<EvmScan, 'node'>, reached: bigint): Promise<void> {
  const { height } = await readHeader(node, 'latest')
  if (height < reached)
    throw refusal(node, 'head', `it is at ${height}, but answered for blocks up to ${reached}`)
}

/** Null while the node has none. @throws as `readEnds` */
export async function readFinalHead(scan: Pick<EvmScan, 'node' | 'watch'>): Promise<EvmBlock | null> {
  const { node, watch } = scan
  if (watch.finality.kind === 'tag') return readTagged(node, watch.finality.tag, watch.network)
  return (await readEnds(scan)).final
}

/** Empty if a node reports finality, or will once it has started. */
export async function finalityFaults(
  node: EvmNode,
  { name, reading = defaultReading }: NetworkSettings,
): Promise<string[]> {
  const { finality } = reading
  if (finality.kind === 'depth') return []
  const lack = lackOf(finality.tag, name)
  try {
    await readTagged(node, finality.tag, name)
    return []
  } catch (error) {
    if (isFault(error, 'remote_failed') && error.details.problem.endsWith(lack))
      return [`${lack} (${node.name})`]
    throw error
  }
}

/** The genesis block is always final. */
function readDeep(node: EvmNode, head: EvmBlock, blocks: bigint): Promise<EvmBlock> {
  return readHeader(node, head.height > blocks ? head.height - blocks : 0n)
}

/** Messages of go-ethereum, Nethermind and others; viem raises one for an answer of null. */
const noneYet = /block (?:was )?not found|could not be found|unknown block\b(?! ?tag)|not (?:yet )?available/i

/** Messages about an invalid parameter, in the wording of various libraries. */
const unknownTag =
  /code -32602|hex string without 0x|invalid (?:argument|params|block|hex)|unknown (?:variant|tag|block ?tag)|cannot (?:unmarshal|parse|deserialize)|(?:un|not )supported/i

async function readTagged(
  node: EvmNode,
  tag: 'finalized' | 'safe',
  network: NetworkSettings['name'],
): Promise<EvmBlock | null> {
  try {
    return await readHeader(node, tag)
  } catch (error) {
    if (!isFault(error, 'remote_failed')) throw error
    const { problem } = error.details
    if (noneYet.test(problem)) return null
    if (!unknownTag.test(problem)) throw error
    throw refusal(node, `block ${tag}`, `${problem}: ${lackOf(tag, network)}`)
  }
}

function lackOf(tag: string, network: string): string {
  return `the node does not support the block tag ${tag} (setting networks: ${network}: finality); use another node, another tag, or a depth with bookOnDepth`
}
