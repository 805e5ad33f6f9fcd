import { type AssetKey, assetCode, nativeDecimals } from '../../core/asset.ts'
import { readMint } from './mints.ts'
import type { SolanaNode } from './node.ts'

/** The decimals that a node reports for an asset; null if its address is not a mint. */
export async function readDecimals(node: SolanaNode, key: AssetKey): Promise<number | null> {
  const code = assetCode(key)
  if (code === 'native') return nativeDecimals.solana
  return (await readMint(node, code))?.decimals ?? null
}
