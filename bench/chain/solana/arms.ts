import { address, createSolanaRpcFromTransport, type RpcTransport, type Signature } from '@solana/kit'
import { createSolanaReader } from '../../../src/chain/solana/reader.ts'
import type { ScanCursor } from '../../../src/chain/types.ts'
import { type Address, assetKey, type NetworkName } from '../../../src/core/asset.ts'
import { heapBytes } from '../heap-bytes.ts'
import type { Payments } from './payments.ts'

/** What reads the payments, and what the target is held against. */
export const solanaArms = {
  ours: 'depositd: accounts found by itself, histories joined and proved, quota waited for',
  bare: '@solana/kit: told the accounts; pages, transactions and the blocks for their hashes, as many requests at once',
  sequential: 'the same, one request at a time',
} as const

export type SolanaArm = keyof typeof solanaArms

/** `found` holds `signature amount` of each payment; `heap` the bytes after each scan. */
export type SolanaFound = { found: Set<string>; heap: number[] }

export type SolanaReading = { url: string; chain: Payments; owners: number }

export async function readOurs({ url, chain, owners }: SolanaReading): Promise<SolanaFound> {
  const network = 'solana' as NetworkName
  const asset = { key: assetKey(network, chain.mint as Address), network, symbol: 'USDC', decimals: 6 }
  const reader = createSolanaReader({
    name: network,
    family: 'solana',
    chainId: null,
    rpcUrls: [url],
    assets: [asset],
  })
  const watched = new Set(chain.owners.slice(0, owners) as Address[])
  const read: SolanaFound = { found: new Set(), heap: [] }
  for (let cursor: ScanCursor | null = null, more = true; more; ) {
    const result = await reader.scan({ cursor, startHeight: BigInt(chain.firstSlot), watched })
    for (const { tx, amount } of result.transfers) read.found.add(`${tx} ${amount}`)
    read.heap.push(heapBytes())
    cursor = result.cursor
    more = result.more
  }
  return read
}

/** What many write first. It proves nothing, and sends a request again where it is refused. */
export async function readBare({ url, chain, owners }: SolanaReading, atOnce: number): Promise<SolanaFound> {
  const rpc = createSolanaRpcFromTransport(patientTransport(url))
  const found = new Set<string>()
  const hashes = new Map<bigint, Promise<string>>()
  const due: { signature: Signature; slot: bigint }[] = []
  await inLanes(chain.accounts.slice(0, owners), atOnce, async (account) => {
    let before: { before?: Signature } = {}
    for (let size = pageSize; size === pageSize; ) {
      const page = await rpc
        .getSignaturesForAddress(address(account), { ...before, limit: pageSize, commitment: 'finalized' })
        .send()
      for (const { signature, slot, err } of page) if (err === null) due.push({ signature, slot })
      const last = page.at(-1)?.signature
      before = last === undefined ? {} : { before: last }
      size = page.length
    }
  })
  await inLanes(due, atOnce, async ({ signature, slot }) => {
    const reported = await rpc
      .getTransaction(signature, { encoding: 'json', maxSupportedTransactionVersion: 0 })
      .send()
    const after = reported?.meta?.postTokenBalances?.find(({ accountIndex }) => accountIndex === 2)
    found.add(`${signature} ${after?.uiTokenAmount.amount ?? ''}`)
    const options = { transactionDetails: 'none', rewards: false } as const
    const block = async () => (await rpc.getBlock(slot, options).send())?.blockhash ?? ''
    if (!hashes.has(slot)) hashes.set(slot, block())
    await hashes.get(slot)
  })
  return { found, heap: [] }
}

const pageSize = 1000
const retriesMax = 8
const retryMs = 100

/** No other than quota is foreseen of this node. */
function patientTransport(url: string): RpcTransport {
  const send = async ({ payload }: Parameters<RpcTransport>[0]): Promise<unknown> => {
    for (let tries = 0; ; tries++) {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(payload, (_key, part: unknown) =>
          typeof part === 'bigint' ? Number(part) : part,
        ),
      })
      const body = await response.text()
      if (response.ok) return JSON.parse(body)
      if (tries === retriesMax) throw new Error(body)
      await new Promise((resolve) => void setTimeout(resolve, retryMs))
    }
  }
  return send as RpcTransport
}

async function inLanes<Item>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const waiting = items.values()
  const lane = async () => {
    for (const item of waiting) await work(item)
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
}
