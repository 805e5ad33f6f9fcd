import { createHash } from 'node:crypto'
import { type Hex, pad } from 'viem'
import { bloomBits } from '../../src/chain/evm/receipts.ts'
import { transferTopic } from '../../src/chain/evm/transfer-log.ts'
import type { Address } from '../../src/core/asset.ts'

/** A token transfer, the n-th of its chain. */
export type ScriptedTransfer = {
  number: number
  height: number
  logIndex: number
  from: Address
  to: Address
  value: bigint
}

export type ScriptedChainSettings = {
  seed: number
  blocks: number
  /** Addresses that are to be watched. */
  addresses: number
  /** Transfers to them, half of which come in a few busy stretches. */
  transfers: number
  /** Transfers of the same token between others. */
  others: number
}

type LogFilter = {
  fromBlock: Hex
  toBlock: Hex
  address: Hex | readonly Hex[]
  topics: readonly (Hex | readonly Hex[] | null)[]
}

/** A chain that is made of one seed: the same blocks, hashes, logs and receipts each time. */
export type ScriptedChain = {
  token: Address
  watched: readonly Address[]
  /** By height. */
  transfers: readonly ScriptedTransfer[]
  blocks: number
  hashOf(height: number): Hex
  block(height: number): object
  /** Each as JSON. */
  logs(filter: LogFilter): string[]
  receipts(height: number): string
  /** Replaces the blocks from a height on; their transfers stay, in other blocks of the same heights. */
  replace(from: number): void
}

const token = `0x${'70'.repeat(20)}` as Address
const busyRanges = 20
const startSeconds = 1_700_000_000

export function scriptedChain(settings: ScriptedChainSettings): ScriptedChain {
  const { seed, blocks } = settings
  const watched = Array.from({ length: settings.addresses }, (_, number) =>
    addressOf(`${seed}/watched/${number}`),
  )
  const transfers = transfersOf(settings, watched)
  const places = placesOf(transfers, blocks)
  const isWatched = new Set(watched)
  const replacedFrom: number[] = []
  const texts: string[] = []
  const inBlock = (height: number) => transfers.slice(places[height], places[height + 1])
  const hashOf = (height: number) =>
    digest(`${seed}/block/${height}/${replacedFrom.filter((from) => from <= height).length}`)
  const logText = (transfer: ScriptedTransfer) =>
    (texts[transfer.number] ??= JSON.stringify(logOf(transfer, { seed, hashOf })))
  return {
    token,
    watched,
    transfers: transfers.filter(({ to }) => isWatched.has(to)),
    blocks,
    hashOf,
    block: (height) => ({
      number: hex(height),
      hash: hashOf(height),
      parentHash: height === 0 ? digest('none') : hashOf(height - 1),
      timestamp: hex(startSeconds + height * 2),
      logsBloom: bloomOf(inBlock(height)),
      transactions: inBlock(height).map(({ number }) => digest(`${seed}/tx/${number}`)),
      gasLimit: '0x1c9c380',
      gasUsed: '0x0',
      extraData: '0x',
      uncles: [],
    }),
    logs: ({ fromBlock, toBlock, address, topics }) => {
      const named = topics[2] ?? null
      const to = named === null ? null : new Set([named].flat())
      const from = places[Math.min(Number(fromBlock), blocks)] ?? 0
      const end = places[Math.min(Number(toBlock) + 1, blocks)] ?? transfers.length
      if (![address].flat().includes(token as string as Hex)) return []
      const among = transfers.slice(from, end)
      return (to === null ? among : among.filter((one) => to.has(topicOf(one.to)))).map(logText)
    },
    receipts: (height) =>
      `[${inBlock(height)
        .map((one) => `{"blockHash":"${hashOf(height)}","status":"0x1","logs":[${logText(one)}]}`)
        .join()}]`,
    replace: (from) => {
      replacedFrom.push(from)
      texts.length = 0
    },
  }
}

function transfersOf(
  { seed, blocks, transfers, others }: ScriptedChainSettings,
  watched: readonly Address[],
) {
  const random = seededRandom(seed)
  const unrelated = addressOf(`${seed}/unrelated`)
  const anyHeight = () => 1 + Math.floor(random() * (blocks - 1))
  const ranges = Array.from({ length: busyRanges }, anyHeight)
  const width = Math.max(1, Math.floor(blocks / 200))
  const busyHeight = () => {
    const start = ranges[Math.floor(random() * busyRanges)] ?? 1
    return Math.min(blocks - 1, start + Math.floor(random() * width))
  }
  const heights = Array.from({ length: transfers + others }, (_, number) => ({
    isOther: number >= transfers,
    height: number % 2 === 0 ? anyHeight() : busyHeight(),
  }))
  const sorted = heights.toSorted((left, right) => left.height - right.height)
  let logIndex = 0
  return sorted.map(({ isOther, height }, number): ScriptedTransfer => {
    logIndex = sorted[number - 1]?.height === height ? logIndex + 1 : 0
    const to = isOther ? addressOf(`${seed}/other/${number}`) : watched[Math.floor(random() * watched.length)]
    return {
      number,
      height,
      logIndex,
      from: unrelated,
      to: to ?? unrelated,
      value: BigInt(number + 1),
    }
  })
}

/** At each height, where its transfers begin. */
function placesOf(transfers: readonly ScriptedTransfer[], blocks: number): Uint32Array {
  const places = new Uint32Array(blocks + 1)
  for (const { height } of transfers) places[height + 1] = (places[height + 1] ?? 0) + 1
  for (let height = 1; height <= blocks; height++)
    places[height] = (places[height] ?? 0) + (places[height - 1] ?? 0)
  return places
}

function logOf(
  transfer: ScriptedTransfer,
  { seed, hashOf }: { seed: number; hashOf: (height: number) => Hex },
) {
  return {
    address: token,
    topics: [transferTopic, topicOf(transfer.from), topicOf(transfer.to)],
    data: pad(hex(transfer.value), { size: 32 }),
    blockNumber: hex(transfer.height),
    blockHash: hashOf(transfer.height),
    transactionHash: digest(`${seed}/tx/${transfer.number}`),
    transactionIndex: hex(transfer.logIndex),
    logIndex: hex(transfer.logIndex),
    removed: false,
  }
}

const bitsOf = new Map<Hex, readonly number[]>()

function bloomOf(transfers: readonly ScriptedTransfer[]): Hex {
  const bloom = Buffer.alloc(256)
  const values = transfers.flatMap(({ from, to }) => [
    token as string as Hex,
    transferTopic,
    topicOf(from),
    topicOf(to),
  ])
  for (const value of values) {
    const bits = bitsOf.get(value) ?? bloomBits(value)
    bitsOf.set(value, bits)
    for (const bit of bits) bloom[255 - (bit >> 3)] = (bloom[255 - (bit >> 3)] ?? 0) | (1 << (bit & 7))
  }
  return `0x${bloom.toString('hex')}`
}

/** Numbers from 0 to 1 that are the same for the same seed (Marsaglia's xorshift). */
export function seededRandom(seed: number): () => number {
  let state = (seed ^ 0x9e37_79b9) >>> 0 || 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    state >>>= 0
    return state / 2 ** 32
  }
}

function addressOf(text: string): Address {
  return digest(text).slice(0, 42) as Address
}

function digest(text: string): Hex {
  return `0x${createHash('sha256').update(text).digest('hex')}`
}

function topicOf(address: Address): Hex {
  return `0x000000000000000000000000${address.slice(2)}`
}

function hex(number: number | bigint): Hex {
  return `0x${number.toString(16)}`
}
