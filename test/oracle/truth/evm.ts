import type { Block, Payment, TrueChain, Watched } from './chain.ts'
import { ask, askAll } from './json-rpc.ts'

type Transaction = { hash: string; from: string; to: string | null; value: string }
type TrueBlock = { number: string; hash: string; parentHash: string; transactions: readonly Transaction[] }
type Log = {
  address: string
  topics: readonly string[]
  data: string
  blockNumber: string
  transactionHash: string
  logIndex: string
}

/** keccak256 of `Transfer(address,address,uint256)`. */
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const hex = (height: number): string => `0x${height.toString(16)}`
const ofWord = (word: string): string => `0x${word.slice(-40)}`

export function evmChain(url: string, watched: Watched): TrueChain {
  return {
    async ends() {
      // The final one first: what comes between makes the head newer, never the final one newer than the head.
      const final = await ask<TrueBlock>(url, 'eth_getBlockByNumber', ['finalized', false])
      const head = await ask<string>(url, 'eth_blockNumber', [])
      return { head: Number(head), final: Number(final.number) }
    },
    async hashAt(height) {
      const block = await ask<TrueBlock | null>(url, 'eth_getBlockByNumber', [hex(height), false])
      return block?.hash ?? null
    },
    async read(from, to) {
      const heights = Array.from({ length: to - from + 1 }, (_none, place) => [hex(from + place), true])
      const blocks = await askAll<TrueBlock>(url, 'eth_getBlockByNumber', heights)
      const coins = await paidInCoin(url, watched, blocks)
      return {
        blocks: blocks.map(placeOf),
        paid: [...coins, ...(await paidInTokens(url, watched, { from, to }))],
      }
    },
  }
}

function placeOf({ number, hash, parentHash }: TrueBlock): Block {
  return { height: Number(number), hash, parent_hash: parentHash }
}

/** What fails pays nothing, and neither does who pays himself. */
async function paidInCoin(
  url: string,
  { addresses }: Watched,
  blocks: readonly TrueBlock[],
): Promise<Payment[]> {
  const found = blocks.flatMap(({ number, transactions }) =>
    transactions
      .filter(
        ({ from, to, value }) => to !== null && addresses.includes(to) && from !== to && BigInt(value) > 0n,
      )
      .map(({ hash: tx, to, value }) => ({
        height: Number(number),
        tx,
        to,
        amount: BigInt(value).toString(),
      })),
  )
  const receipts = await askAll<{ status: string }>(
    url,
    'eth_getTransactionReceipt',
    found.map(({ tx }) => [tx]),
  )
  return found
    .filter((_payment, place) => receipts[place]?.status === '0x1')
    .map(({ to, ...payment }) => ({ ...payment, index: 'native', contract: 'native', address: to ?? '' }))
}

async function paidInTokens(
  url: string,
  { addresses, contracts }: Watched,
  { from, to }: { from: number; to: number },
): Promise<Payment[]> {
  const address = contracts.filter((contract) => contract !== 'native')
  if (address.length === 0 || addresses.length === 0) return []
  const topics = [transferTopic, null, addresses.map((one) => `0x${one.slice(2).padStart(64, '0')}`)]
  const range = { fromBlock: hex(from), toBlock: hex(to) }
  const logs = await ask<readonly Log[]>(url, 'eth_getLogs', [{ ...range, address, topics }])
  return logs.flatMap((log) => {
    const [, payer = '', payee = ''] = log.topics
    const amount = BigInt(log.data)
    if (payer === payee || amount === 0n) return []
    return [
      {
        height: Number(log.blockNumber),
        tx: log.transactionHash,
        index: Number(log.logIndex).toString(),
        contract: log.address.toLowerCase(),
        address: ofWord(payee),
        amount: amount.toString(),
      },
    ]
  })
}
