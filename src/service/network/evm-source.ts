import { type Block, getAddress, type Log, type PublicClient, parseAbiItem, type Transaction } from 'viem'
import {
  type Address,
  assetCode,
  assetKey,
  type NetworkSettings,
  parseAddress,
  toTxId,
} from '../../core/asset.ts'
import { Fault } from '../../core/errors.ts'
import { mapBounded } from '../running/requests.ts'
import { type BlockSource, type BlockStage, positionAt, type ReadBlock } from './block-scan.ts'
import type { NetworkReadPosition, ScannedPayment } from './port.ts'

type EvmSourceContext = { client: PublicClient; settings: NetworkSettings; liquidity: Address }
type FullBlock = Block<bigint, true, 'latest'>
type TokenPaymentLog = Log<bigint, number, false, typeof transferEvent, true>
type EvmBlockPayment = ReadBlock['payments'][number]

const transferEvent = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)')

/** Some nodes reject more addresses. Above it, all token transfers are read. */
const filteredMax = 1000
const receiptsAtOnce = 8
const tags = { final: 'finalized', seen: 'latest' } as const

export async function startEvm(client: PublicClient): Promise<NetworkReadPosition> {
  const { number: height, hash } = await client.getBlock({ blockTag: 'finalized' })
  return positionAt({ height, hash })
}

export function evmSource(chain: EvmSourceContext): BlockSource {
  const { client, settings, liquidity } = chain
  return {
    network: settings.name,
    liquidity,
    newest: async (stage: BlockStage) => (await client.getBlock({ blockTag: tags[stage] })).number,
    next: (above, max) =>
      Promise.resolve(Array.from({ length: max }, (_, place) => above + BigInt(place) + 1n)),
    read: (height, watched) => readBlock(chain, height, watched),
    hashAt: async (height) => {
      const params = [`0x${height.toString(16)}`, false] as [`0x${string}`, boolean]
      return (await client.request({ method: 'eth_getBlockByNumber', params }))?.hash ?? null
    },
  }
}

/** Queries by block hash: a node that lacks the block then answers with an error instead of an empty list. */
async function readBlock(
  chain: EvmSourceContext,
  height: bigint,
  watched: ReadonlySet<Address>,
): Promise<ReadBlock> {
  const block = await chain.client.getBlock({ blockNumber: height, includeTransactions: true })
  const [tokens, natives] = await Promise.all([
    readTokens(chain, block, watched),
    readNatives(chain, block, watched),
  ])
  const payments = [...tokens, ...natives].filter(({ amount }) => amount > 0n)
  return { height, hash: block.hash, previousHash: block.parentHash, payments }
}

async function readTokens(
  { client, settings }: EvmSourceContext,
  block: FullBlock,
  watched: ReadonlySet<Address>,
): Promise<EvmBlockPayment[]> {
  const codes = settings.assets.map(({ key }) => assetCode(key))
  const contracts = codes.filter((code) => code !== 'native').map((code) => getAddress(code))
  if (contracts.length === 0) return []
  const isFiltered = watched.size <= filteredMax
  const logs = await client.getLogs({
    address: contracts,
    event: transferEvent,
    ...(isFiltered ? { args: { to: [...watched].map((address) => getAddress(address)) } } : {}),
    blockHash: block.hash,
    strict: true,
  })
  return logs
    .filter(({ args }) => watched.has(parseAddress('evm', args.to)))
    .map((log) => tokenPayment(log, settings, block))
}

function tokenPayment(log: TokenPaymentLog, { name }: NetworkSettings, block: FullBlock): EvmBlockPayment {
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

/** Reads the value of the transaction itself. Reverted transactions paid nothing. */
async function readNatives(
  { client, settings }: EvmSourceContext,
  block: FullBlock,
  watched: ReadonlySet<Address>,
): Promise<EvmBlockPayment[]> {
  const asset = assetKey(settings.name, 'native')
  if (!settings.assets.some(({ key }) => key === asset)) return []
  const paying = block.transactions.filter((transaction) => paysTo(transaction, watched))
  const found = await mapBounded(paying, receiptsAtOnce, async ({ hash, from, to, value }) => {
    const { status, blockHash } = await client.getTransactionReceipt({ hash })
    if (blockHash !== block.hash) {
      const problem = `the node lists ${hash} in block ${block.hash} and returns it in block ${blockHash}`
      throw new Fault('remote_failed', { what: `reading ${settings.name}`, problem })
    }
    if (status !== 'success' || to === null) return []
    const [sender, address] = [parseAddress('evm', from), parseAddress('evm', to)]
    const index = 'native'
    return [{ transaction: toTxId(hash), index, asset, sender, address, amount: value, ...placeOf(block) }]
  })
  return found.flat()
}

function paysTo({ to, value }: Transaction, watched: ReadonlySet<Address>): boolean {
  return to !== null && value > 0n && watched.has(parseAddress('evm', to))
}

function placeOf({
  number,
  hash,
  timestamp,
}: FullBlock): Pick<ScannedPayment, 'block' | 'blockHash' | 'blockAt'> {
  return { block: number, blockHash: hash, blockAt: new Date(Number(timestamp) * 1000) }
}
