import { numberToHex } from 'viem'
import { readFinalHead } from './finality.ts'
import { ask, type EvmNode, refusal } from './node.ts'
import type { EvmScan } from './watch.ts'

/** A height and when its block was made, in Unix seconds. `at` is null where the node does not have that block. */
type HeightTime = { height: bigint; at: bigint | null }

/**
 * The last final height whose block is not after that time; null where the first block that the node has is after it.
 * A block that is missing never raises the answer: it is either a block that was read, or null.
 * @throws Fault `remote_failed`
 */
export async function heightAt(scan: Pick<EvmScan, 'node' | 'watch'>, at: Date): Promise<bigint | null> {
  // Blocks are timed in whole seconds.
  const wanted = BigInt(Math.floor(at.getTime() / 1000))
  const { node } = scan
  const final = await readFinalHead(scan)
  if (final === null) throw refusal(node, 'final block', 'it knows of none yet')
  const above = { height: final.height, at: secondsOf(final.at) }
  if (above.at <= wanted) return above.height
  const first = await timeOf(node, 0n)
  if (first.at !== null && first.at > wanted) return null
  const last = await search({ below: first, above, wanted }, (height) => timeOf(node, height))
  if (last === 'missing') throw refusal(node, 'blocks by their time', 'it lacks some of them')
  return last.at === null ? null : last.height
}

type HeightSearch = { below: HeightTime; above: { height: bigint; at: bigint }; wanted: bigint }

/** `missing` where a block is not there although an older one is: then a height could be anything. */
async function search(
  { below, above, wanted }: HeightSearch,
  read: (height: bigint) => Promise<HeightTime>,
): Promise<HeightTime | 'missing'> {
  for (let step = 0; above.height - below.height > 1n; step++) {
    const height = step % 2 === 0 ? likelyHeight(below, above, wanted) : middle(below, above)
    const found = await read(height)
    if (found.at === null && below.at !== null) return 'missing'
    if (found.at !== null && found.at > wanted) above = { height, at: found.at }
    else below = found
  }
  return below
}

async function timeOf(node: EvmNode, height: bigint): Promise<HeightTime> {
  const block = await ask(node, `block ${height}`, (client) =>
    client.request({ method: 'eth_getBlockByNumber', params: [numberToHex(height), false] }),
  )
  return { height, at: block === null ? null : BigInt(block.timestamp) }
}

/** Blocks come at an even pace, so that a few guesses do where halving alone would take thirty. */
function likelyHeight(below: HeightTime, above: { height: bigint; at: bigint }, wanted: bigint): bigint {
  if (below.at === null) return middle(below, above)
  const height = below.height + ((above.height - below.height) * (wanted - below.at)) / (above.at - below.at)
  return height <= below.height ? below.height + 1n : height
}

function middle(below: HeightTime, above: { height: bigint }): bigint {
  return (below.height + above.height) / 2n
}

function secondsOf(at: Date): bigint {
  return BigInt(at.getTime()) / 1000n
}
