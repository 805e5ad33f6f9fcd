import { type Hex, numberToHex } from 'viem'
import { type Anvil, rich } from './anvil.ts'
import { depositor } from './reported-networks.ts'
import {
  changes,
  hidesLogs,
  inEachBlock,
  inEachLog,
  lacksFilters,
  lacksLogs,
  type Script,
} from './rpc-proxy.ts'
import { asData } from './small-contracts.ts'

/** What a node can say that a reader sees through by itself. */
export type SeenThrough = {
  name: string
  /** Over a chain that is read up to a height, and beside another chain. */
  script: (read: bigint, elsewhere: Anvil) => Script
  /** Why it is refused. */
  refusal: RegExp
}

type Row = Record<string, unknown>
const otherHash = `0x${'ab'.repeat(32)}`

export const seenThrough: readonly SeenThrough[] = [
  { name: 'answers empty logs', script: () => hidesLogs, refusal: /the log query omitted/ },
  {
    name: 'leaves one log out',
    script: () => changes('eth_getLogs', (logs) => (logs as Row[]).slice(1)),
    refusal: /the log query omitted/,
  },
  {
    name: 'lags behind what it answered for',
    script: lagsInLogs,
    refusal: /it is at \d+, but answered for blocks up to/,
  },
  {
    name: 'answers logs of a foreign block',
    script: () => inEachLog({ blockHash: otherHash }),
    refusal: /is not the one at/,
  },
  {
    name: 'answers logs that are removed',
    script: () => inEachLog({ removed: true }),
    refusal: /marked as removed/,
  },
  {
    name: 'answers logs in an invalid format',
    script: () => inEachLog({ data: '0x' }),
    refusal: /invalid format/,
  },
  {
    name: 'answers blocks that do not link',
    script: () => inEachBlock({ parentHash: otherHash }),
    refusal: /its parent is/,
  },
  {
    name: 'answers receipts of a foreign block',
    script: () =>
      changes('eth_getTransactionReceipt', (receipt) => ({ ...(receipt as Row), blockHash: otherHash })),
    refusal: /belongs to another block/,
  },
  {
    name: 'is of another chain all at once',
    script: (_read, elsewhere) => isElsewhere(elsewhere),
    refusal: /expected chain id 8453, found 1/,
  },
]

/** The node of another chain. */
export const isElsewhere =
  ({ client }: Anvil): Script =>
  async ({ method, params }) => ({ result: await client.request({ method, params } as never) })

/** A server that lacks the blocks above a height answers for logs, and then for the head; blocks have no log filter. */
function lagsInLogs(height: bigint): Script {
  let lags = false
  return async (call, forward) => {
    if (call.method === 'eth_getLogs') {
      lags = true
      return { result: [] }
    }
    const answer = await lacksFilters(call, forward)
    if (!lags || call.method !== 'eth_getBlockByNumber' || call.params[0] !== 'latest') return answer
    lags = false
    return { result: { ...(answer.result as Row), number: `0x${height.toString(16)}` } }
  }
}

/** What only another node can contradict, told of a token on the chain. */
export type Contradicted = { name: string; script: (anvil: Anvil, token: Hex) => Script }

export const contradicted: readonly Contradicted[] = [
  { name: 'hides a payment, filter and all', script: () => lacksLogs },
  { name: 'invents a payment', script: inventsPayment },
  {
    name: 'tells of another amount',
    script: () => inEachLog({ data: numberToHex(77n, { size: 32 }) }),
  },
  { name: 'says that what was paid has failed', script: () => saysStatus('0x0') },
  { name: 'says that what failed was paid', script: () => saysStatus('0x1') },
]

const saysStatus = (status: Hex): Script =>
  changes('eth_getTransactionReceipt', (receipt) => ({ ...(receipt as object), status }))

const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

/** Adds a payment to the logs of the newest block that is asked for. */
function inventsPayment(anvil: Anvil, token: Hex): Script {
  return async ({ method, params }, forward) => {
    const { result } = await forward()
    if (method !== 'eth_getLogs') return { result }
    const [{ toBlock }] = params as [{ toBlock: Hex }]
    const block = await anvil.client.getBlock({ blockNumber: BigInt(toBlock) })
    const invented = {
      address: token,
      topics: [transferTopic, asData(rich.address), asData(depositor)],
      data: numberToHex(1_000_000n, { size: 32 }),
      blockNumber: toBlock,
      blockHash: block.hash,
      transactionHash: block.hash,
      transactionIndex: '0x0',
      logIndex: '0x63',
      removed: false,
    }
    return { result: [...(result as object[]), invented] }
  }
}
