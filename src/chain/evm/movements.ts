import type { Hex, RpcTransactionReceipt } from 'viem'
import type { Address, AssetKey } from '../../core/asset.ts'
import { chunksOf, mapBounded } from '../map-bounded.ts'
import { refusal } from '../pool.ts'
import type { BalanceMovement, HeightRange } from '../types.ts'
import { requireHead } from './finality.ts'
import { readHeader, requireInBlock } from './headers.ts'
import { readInPieces } from './in-pieces.ts'
import { type AnyLog, readQuery } from './logs.ts'
import type { EvmNode, EvmScan } from './node.ts'
import { type CoinWrap, depositTopic, isOfCoin, readReceipt, withdrawalTopic } from './receipts.ts'
import { addressOf, type LogPosition, movedBy, oddLog, topicOf, transferTopic } from './transfer-log.ts'

/**
 * Reads sent tokens, and coins that were wrapped or unwrapped, for which the contract writes no Transfer.
 * @throws Fault `remote_failed`
 */
export async function readMovements(scan: EvmScan, range: HeightRange): Promise<readonly BalanceMovement[]> {
  const { watch, bounds } = scan
  if (watch.contracts.size === 0) return []
  const logs: AnyLog[] = []
  for (const topics of chunksOf([...watch.recipients].map(topicOf), bounds.recipientsPerRequest))
    logs.push(...(await logsOf(scan, range, topics)))
  const entries = logs.flatMap((log) => entryOf(scan, range, log))
  await requireCanonical(scan, entries)
  await requireHead(scan, range.to)
  const movements = await mapBounded(entries, bounds.requestsAtOnce, (entry) => movementsOf(scan, entry))
  return movements.flat()
}

async function logsOf(scan: EvmScan, range: HeightRange, topics: readonly Hex[]): Promise<AnyLog[]> {
  const { node, watch, bounds } = scan
  const address = [...watch.contracts.keys()]
  const filter = { address, topics: [[transferTopic, depositTopic, withdrawalTopic], topics] }
  const { results } = await readInPieces({
    range,
    span: node.logs.spans.senders,
    logsMax: bounds.logsPerAnswerMax,
    atOnce: bounds.requestsAtOnce,
    isEnough: () => false,
    read: async (piece) => {
      const logs = await readQuery(scan, piece, filter)
      return 'kind' in logs ? logs : { logs: logs.length, result: logs }
    },
  })
  return results.flat()
}

type MovementLog = CoinWrap & LogPosition & { event: Hex; asset: AssetKey; to: Address | null }

function entryOf({ node, watch }: EvmScan, range: HeightRange, log: AnyLog): MovementLog[] {
  const { topics: [event, who, recipient] = [] } = log
  const contract = (log.address ?? '').toLowerCase() as Address
  const asset = watch.contracts.get(contract)
  const address = addressOf(who)
  if (asset === undefined || event === undefined || address === null || !watch.recipients.has(address))
    return []
  const moved = movedOut(log)
  if (moved === null) return []
  if ('reason' in moved) {
    node.observeOddLog({ network: watch.network, reason: moved.reason, contract, tx: moved.tx })
    return []
  }
  requireWithin(node, range, { ...moved, removed: log.removed })
  return [{ contract, address, asset, event, to: addressOf(recipient), ...moved }]
}

function requireWithin(
  node: EvmNode,
  { from, to }: HeightRange,
  { removed, height, logIndex }: LogPosition & { removed: boolean | undefined },
): void {
  if (removed || height < from || height > to)
    throw refusal(node, `logs of ${from}..${to}`, `log ${logIndex} was removed or is outside of this range`)
}

/** Null if nothing moved: no value, or to the sender itself. */
function movedOut(log: AnyLog): ReturnType<typeof movedBy> | null {
  const { topics = [] } = log
  const isTransfer = topics[0] === transferTopic
  const moved = topics.length === (isTransfer ? 3 : 2) ? movedBy(log) : oddLog(log, 'topics')
  if ('reason' in moved) return moved
  return moved.value === 0n || (isTransfer && topics[1] === topics[2]) ? null : moved
}

/** Movements of replaced blocks never happened. */
async function requireCanonical({ node, bounds }: EvmScan, entries: readonly MovementLog[]): Promise<void> {
  await mapBounded(
    [...new Set(entries.map(({ height }) => height))],
    bounds.requestsAtOnce,
    async (height) => {
      const block = await readHeader(node, height)
      for (const { tx, logIndex, blockHash } of entries.filter((entry) => entry.height === height))
        requireInBlock(node, `log ${logIndex} of ${tx}`, { blockHash, block })
    },
  )
}

async function movementsOf(scan: EvmScan, entry: MovementLog): Promise<BalanceMovement[]> {
  const { node, watch } = scan
  const { tx, asset, address, value, event, height, blockHash, contract, to } = entry
  const recipients = to === null ? [] : [to]
  const position = { network: watch.network, tx, address, height, blockHash, recipients }
  const index = entry.logIndex.toString()
  if (event === transferTopic) return [{ ...position, index, asset, change: -value }]
  const receipt = await readReceipt(node, tx, { height, hash: blockHash })
  if (!isOfCoin(receipt, entry)) return []
  const change = event === depositTopic ? value : -value
  const wrapped: BalanceMovement = { ...position, index, asset, change }
  // The block already shows value that the transaction itself sends into the contract.
  const shows = event === depositTopic && isSentTo(receipt, { address, contract })
  if (watch.native === null || shows) return [wrapped]
  return [wrapped, { ...position, index: `${index}/native`, asset: watch.native, change: -change }]
}

function isSentTo(
  { from, to }: RpcTransactionReceipt,
  { address, contract }: Pick<CoinWrap, 'address' | 'contract'>,
) {
  return from.toLowerCase() === address && to?.toLowerCase() === contract
}
