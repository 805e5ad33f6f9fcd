import { type Block, getAddress, type Log, type PublicClient, parseAbiItem, type Transaction } from 'viem'
import type { NetworkSettings } from '../../chain/port.ts'
import { type Address, assetCode, assetKey, parseAddress, toTxId } from '../../core/asset.ts'
import { Fault } from '../../core/errors.ts'
import type { Payment, Position, Scan } from './port.ts'

type Chain = {
  client: PublicClient
  settings: NetworkSettings
  /** The service's own wallet, whose payments are no deposits. */
  liquidity: Address
}
type FullBlock = Block<bigint, true, 'latest'>
type TransferLog = Log<bigint, number, false, typeof transferEvent, true>
type Span = { from: bigint; to: bigint; final: boolean }

const transferEvent = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)')

/** The most blocks one scan reads as final, and again as seen. */
const spanMax = 128n
/** A request that names more addresses than this is refused by some nodes; above it, every transfer is read. */
const filteredMax = 1000
/** How far to read again where blocks vanished that were final: nodes that lost their newest state do that. */
const finalRewind = 64n

export async function startEvm(client: PublicClient): Promise<Position> {
  const { number, hash } = await client.getBlock({ blockTag: 'finalized' })
  return { finalHeight: number, finalHash: hash, seenHeight: number, seenHash: hash }
}

export async function scanEvm(
  chain: Chain,
  position: Position,
  watched: () => Promise<ReadonlySet<Address>>,
): Promise<Scan> {
  const { client } = chain
  const [head, final] = await Promise.all([
    client.getBlock({ blockTag: 'latest' }),
    client.getBlock({ blockTag: 'finalized' }),
  ])
  const { finalHeight, seenHeight } = await trusted(client, position, final.number)
  const addresses = await watched()
  const finalTo = lesser(final.number, finalHeight + spanMax)
  const seenFrom = greater(seenHeight, finalTo)
  const seenTo = lesser(head.number, seenFrom + spanMax)
  const read = (span: Span): Promise<Payment[]> => readSpan(chain, span, addresses)
  const [finals, seen] = await Promise.all([
    read({ from: finalHeight + 1n, to: finalTo, final: true }),
    read({ from: seenFrom + 1n, to: seenTo, final: false }),
  ])
  const heights = { finalHeight: greater(finalTo, finalHeight), seenHeight: greater(seenTo, finalTo) }
  return {
    payments: [...finals, ...seen],
    position: await mark(client, heights),
    more: finalTo < final.number || seenTo < head.number,
  }
}

/** The heights from which to read on: what the chain no longer holds is read again. */
async function trusted(
  client: PublicClient,
  position: Position,
  final: bigint,
): Promise<Pick<Position, 'finalHeight' | 'seenHeight'>> {
  const { finalHeight, finalHash, seenHeight, seenHash } = position
  if ((await hashAt(client, finalHeight)) !== finalHash) {
    const rewound = greater(lesser(finalHeight, final) - finalRewind, 0n)
    return { finalHeight: rewound, seenHeight: rewound }
  }
  const seenHolds = (await hashAt(client, seenHeight)) === seenHash
  return { finalHeight, seenHeight: seenHolds ? seenHeight : finalHeight }
}

async function mark(
  client: PublicClient,
  { finalHeight, seenHeight }: Pick<Position, 'finalHeight' | 'seenHeight'>,
): Promise<Position> {
  const [finalHash, seenHash] = await Promise.all([hashAt(client, finalHeight), hashAt(client, seenHeight)])
  return { finalHeight, finalHash, seenHeight, seenHash }
}

/** Null where the node has no such block, or no longer. */
async function hashAt(client: PublicClient, height: bigint): Promise<string | null> {
  const block = await client.request({
    method: 'eth_getBlockByNumber',
    params: [`0x${height.toString(16)}`, false],
  })
  return block?.hash ?? null
}

async function readSpan(chain: Chain, span: Span, watched: ReadonlySet<Address>): Promise<Payment[]> {
  if (span.from > span.to || watched.size === 0) return []
  const heights = Array.from(
    { length: Number(span.to - span.from) + 1 },
    (_, step) => span.from + BigInt(step),
  )
  const [logs, blocks] = await Promise.all([
    readTransfers(chain, span, watched),
    Promise.all(
      heights.map((blockNumber) => chain.client.getBlock({ blockNumber, includeTransactions: true })),
    ),
  ])
  const byHeight = new Map(blocks.map((block) => [block.number, block]))
  const tokens = logs.map((log) => tokenPayment(log, chain.settings, byHeight.get(log.blockNumber)))
  const natives = await readNatives(chain, blocks, watched)
  return [...tokens, ...natives]
    .filter(({ amount, sender }) => amount > 0n && sender !== chain.liquidity)
    .map((payment) => ({ ...payment, final: span.final }))
}

async function readTransfers(
  chain: Chain,
  span: Span,
  watched: ReadonlySet<Address>,
): Promise<TransferLog[]> {
  const codes = chain.settings.assets.map(({ key }) => assetCode(key))
  const contracts = codes.filter((code) => code !== 'native').map((code) => getAddress(code))
  if (contracts.length === 0) return []
  const logs = await chain.client.getLogs({
    address: contracts,
    event: transferEvent,
    ...(watched.size <= filteredMax
      ? { args: { to: [...watched].map((address) => getAddress(address)) } }
      : {}),
    fromBlock: span.from,
    toBlock: span.to,
    strict: true,
  })
  return logs.filter(({ args }) => watched.has(parseAddress('evm', args.to)))
}

type Found = Omit<Payment, 'final'>

function tokenPayment(log: TransferLog, { name }: NetworkSettings, block: FullBlock | undefined): Found {
  if (block?.hash !== log.blockHash) {
    const problem = `block ${log.blockNumber} changed while it was read`
    throw new Fault('remote_failed', { what: `reading ${name}`, problem })
  }
  return {
    transaction: toTxId(log.transactionHash),
    index: log.logIndex.toString(),
    asset: assetKey(name, parseAddress('evm', log.address)),
    sender: parseAddress('evm', log.args.from),
    address: parseAddress('evm', log.args.to),
    amount: log.args.value,
    ...placeOf(block),
  }
}

/** Payments of the network's own coin: what a transaction itself carries. A reverted one carried nothing. */
async function readNatives(
  { client, settings }: Chain,
  blocks: readonly FullBlock[],
  watched: ReadonlySet<Address>,
): Promise<Found[]> {
  const asset = assetKey(settings.name, 'native')
  if (!settings.assets.some(({ key }) => key === asset)) return []
  const candidates = blocks.flatMap((block) =>
    block.transactions
      .filter((transaction) => paysTo(transaction, watched))
      .map((transaction) => ({ block, transaction })),
  )
  const receipts = await Promise.all(
    candidates.map(({ transaction }) => client.getTransactionReceipt({ hash: transaction.hash })),
  )
  return candidates.flatMap(({ block, transaction }, place) => {
    if (receipts[place]?.status !== 'success' || transaction.to === null) return []
    const { hash, value, from, to } = transaction
    const [sender, address] = [parseAddress('evm', from), parseAddress('evm', to)]
    return [
      {
        transaction: toTxId(hash),
        index: 'native',
        asset,
        sender,
        address,
        amount: value,
        ...placeOf(block),
      },
    ]
  })
}

function paysTo({ to, value }: Transaction, watched: ReadonlySet<Address>): boolean {
  return to !== null && value > 0n && watched.has(parseAddress('evm', to))
}

function placeOf({ number, hash, timestamp }: FullBlock): Pick<Payment, 'block' | 'blockHash' | 'blockAt'> {
  return { block: number, blockHash: hash, blockAt: new Date(Number(timestamp) * 1000) }
}

function lesser(left: bigint, right: bigint): bigint {
  return left < right ? left : right
}

function greater(left: bigint, right: bigint): bigint {
  return left > right ? left : right
}
