import { Fault } from '../core/errors.ts'
import { agree, castVote, type NodeFinding, type Vote } from './agree.ts'
import type { QuorumParts } from './agreed-height.ts'
import { allFailed, type PassedOver, type PooledNode } from './pool.ts'
import type { TransactionReading } from './port.ts'
import { transferLines } from './transfer-lines.ts'

/** Nodes that do not know of a transaction as final yet do not gainsay one that does; but it is not final then. */
export async function agreedTransaction<Node extends PooledNode>(
  parts: QuorumParts<Node>,
  read: (node: Node) => Promise<TransactionReading>,
): Promise<TransactionReading> {
  const { network, pool, quorum } = parts
  const votes: Vote<Node, TransactionReading>[] = []
  const faults: PassedOver[] = []
  for (const node of pool.inOrder()) {
    const cast = await castVote(pool, node, async (one) => transactionFinding(await read(one)))
    if (cast instanceof Fault) faults.push(cast)
    else votes.push(cast)
    const decided = votes.filter(({ lines }) => lines.length > 0)
    const sides = Map.groupBy(decided, ({ lines }) => lines.join('\n'))
      .values()
      .toArray()
    if (sides.some((side) => side.length >= quorum)) break
  }
  const [first] = votes
  if (first === undefined) throw allFailed(faults)
  const decided = votes.filter(({ lines }) => lines.length > 0)
  if (decided.length < quorum) return notFinal(votes.map(({ settle }) => settle()))
  const none: readonly Node[] = []
  const { vote } = await agree({ pool, network, quorum, votes: decided, candidates: none, read: refuse })
  return vote.settle()
}

function refuse(): never {
  throw new Error('invariant broken: nobody is asked without being a candidate')
}

/** Without lines where it says nothing final. */
function transactionFinding(reading: TransactionReading): NodeFinding<TransactionReading> {
  return { lines: finalLines(reading), settle: () => reading }
}

function finalLines(reading: TransactionReading): readonly string[] {
  if (reading.kind === 'failed') return [`a failure in block ${reading.height}`]
  const isFinal = reading.kind === 'read' && reading.transfers.every(({ stage }) => stage === 'final')
  return isFinal ? ['it as final', ...transferLines(reading.transfers)] : []
}

function notFinal(readings: readonly TransactionReading[]): TransactionReading {
  const read = readings.find((reading) => reading.kind === 'read')
  if (read === undefined) return { kind: 'unknown' }
  return { kind: 'read', transfers: read.transfers.map((transfer) => ({ ...transfer, stage: 'seen' })) }
}
