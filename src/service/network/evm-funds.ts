import { erc20Abi, getAddress, type Hex, type PublicClient } from 'viem'
import { type AssetKey, assetCode } from '../../core/asset.ts'
import type { Promises } from './evm-promises.ts'

/** What an address can spend. */
export type Funds = {
  /** What is left of the asset to the transaction with this nonce once those before it have landed. */
  free(asset: AssetKey, nonce: bigint): bigint
  /** The same once all but this one have landed, those after it too. */
  freeBeside(asset: AssetKey, nonce: bigint): bigint
  /** What the node says, without what was signed and not sent yet. */
  held(asset: AssetKey): bigint
}

export type BlockTag = 'latest' | 'pending'

type View = { from: number; held: ReadonlyMap<AssetKey, bigint> }

type FundsQuery = { holder: Hex; assets: readonly AssetKey[]; tags: readonly BlockTag[] }

/**
 * By the newest block, which lacks what waits, and by the node's idea of the next one, which has what it knows to
 * wait: the lesser counts. The nonce is asked before the balances, so that whatever lands between the two questions
 * counts twice rather than not at all.
 */
export async function readFunds(
  { client, promises }: { client: PublicClient; promises: Promises },
  { holder, assets, tags }: FundsQuery,
): Promise<Funds> {
  const views = await Promise.all(
    tags.map(async (blockTag): Promise<View> => {
      const from = await client.getTransactionCount({ address: holder, blockTag })
      const amounts = await Promise.all(
        assets.map(async (asset) => [asset, await readBalance(client, holder, { asset, blockTag })] as const),
      )
      return { from, held: new Map(amounts) }
    }),
  )
  const least = (amountIn: (view: View) => bigint): bigint =>
    views.map(amountIn).reduce((left, right) => (left < right ? left : right))
  const free = (asset: AssetKey, nonce: bigint): bigint =>
    least(({ from, held }) => {
      const below = Number(nonce)
      return (held.get(asset) ?? 0n) - promises.taken(holder, asset, { from, below })
    })
  return {
    free,
    freeBeside(asset, nonce) {
      const after = { from: Number(nonce) + 1, below: Infinity }
      return free(asset, nonce) - promises.taken(holder, asset, after)
    },
    held: (asset) => least(({ held }) => held.get(asset) ?? 0n),
  }
}

export function readBalance(
  client: PublicClient,
  holder: Hex,
  { asset, blockTag }: { asset: AssetKey; blockTag: BlockTag },
): Promise<bigint> {
  const code = assetCode(asset)
  if (code === 'native') return client.getBalance({ address: holder, blockTag })
  const contract = { address: getAddress(code), abi: erc20Abi, blockTag } as const
  return client.readContract({ ...contract, functionName: 'balanceOf', args: [holder] })
}
