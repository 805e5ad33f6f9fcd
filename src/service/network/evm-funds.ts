import { erc20Abi, getAddress, type Hex, type PublicClient } from 'viem'
import { type AssetKey, assetCode } from '../../core/asset.ts'
import type { Promises } from './evm-promises.ts'

/** The spendable funds of an address. */
export type Funds = {
  /** The balance available to the transaction with this nonce, after all with lower nonces have landed. */
  free(asset: AssetKey, nonce: bigint): bigint
  /** The same, after all other transactions have landed, including those with higher nonces. */
  freeBeside(asset: AssetKey, nonce: bigint): bigint
  /** The node's balance, ignoring transactions that are signed and not sent yet. */
  held(asset: AssetKey): bigint
}

export type BlockTag = 'latest' | 'pending'

type View = { from: number; held: ReadonlyMap<AssetKey, bigint> }

type FundsQuery = { holder: Hex; assets: readonly AssetKey[]; tags: readonly BlockTag[] }

/**
 * Uses the lower balance of the newest block, which lacks pending transactions, and the pending block, which includes
 * those that the node knows. The nonce is read before the balances, so that a transaction that lands between the two
 * queries counts twice instead of never.
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
