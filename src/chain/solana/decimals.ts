import { type AssetKey, assetCode } from '../../core/asset.ts'
import { readMint } from './mints.ts'
import type { SolanaNode } from './node.ts'

/** Lamports per SOL, as a power of ten. */
export const nativeDecimals = 9

/** The decimals that a node shows for an asset; null where its address is no mint. */
export async function readDecimals(node: SolanaNode, key: AssetKey): Promise<number | null> {
  const code = assetCode(key)
  if (code === 'native') return nativeDecimals
  return (await readMint(node, code))?.decimals ?? null
}
