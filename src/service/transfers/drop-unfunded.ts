import { sql } from 'kysely'
import { type AssetKey, assetCode } from '../../core/asset.ts'
import { liquidityBranch } from '../keyring/keyring.ts'
import { postpone, type Signing } from './signing.ts'
import type { Wanted } from './wanted.ts'

/**
 * Leaves out what the liquidity wallet cannot pay beside what it has signed already: the node would refuse it, and
 * every later nonce would wait for it. What is left out is tried again later.
 */
export async function dropUnfunded(
  signing: Signing,
  wanted: readonly Wanted[],
  nextNonce: bigint | null,
): Promise<readonly Wanted[]> {
  const free = await freeBalances(signing, wanted, nextNonce)
  return wanted.filter((one) => {
    const { branch, asset, amount } = one.order
    if (branch !== liquidityBranch) return true
    const left = (free.get(asset) ?? 0n) - amount
    if (left >= 0n) free.set(asset, left)
    else postpone(signing, one, new Error(`the liquidity wallet lacks ${-left} of ${asset}`))
    return left >= 0n
  })
}

/** What is signed and not on the chain yet still lies in the wallet, and is not free. */
async function freeBalances(
  { db, network }: Signing,
  wanted: readonly Wanted[],
  nextNonce: bigint | null,
): Promise<Map<AssetKey, bigint>> {
  const paid = wanted.filter(({ order }) => order.branch === liquidityBranch)
  const assets = [...new Set(paid.map(({ order }) => order.asset))]
  const { rows } = await sql<{ asset: string; amount: string }>`
    select asset, sum(amount) as amount from service.transfer
    where network = ${network.settings.name} and branch = ${liquidityBranch} and outcome is null
      and (nonce is null or nonce >= ${nextNonce ?? 0n})
    group by asset`.execute(db)
  const signed = new Map(rows.map(({ asset, amount }) => [asset, BigInt(amount)]))
  const entries = assets.map(async (asset) => {
    const balance = await network.balance(liquidityBranch, asset)
    return [asset, balance - (signed.get(assetCode(asset)) ?? 0n)] as const
  })
  return new Map(await Promise.all(entries))
}
