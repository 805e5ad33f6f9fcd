import type { ChainReader, NetworkSettings, ScanCursor, StagedTransfer } from '../../src/chain/types.ts'
import { type Address, assetKey, type NetworkName, parseAddress } from '../../src/core/asset.ts'
import type { Anvil } from './anvil.ts'

export const base = 'base' as NetworkName

/** Settings of a network whose assets are the tokens given and, unless told otherwise, the native coin. */
export function evmSettings(
  { url, chainId }: Pick<Anvil, 'url' | 'chainId'>,
  { tokens, native = true }: { tokens: readonly string[]; native?: boolean },
): NetworkSettings {
  const codes = [
    ...tokens.map((token) => parseAddress('evm', token)),
    ...(native ? (['native'] as const) : []),
  ]
  const assets = codes.map((code) => ({
    key: assetKey(base, code),
    network: base,
    symbol: code === 'native' ? 'ETH' : 'TKN',
    decimals: 18,
  }))
  return { name: base, family: 'evm', chainId, rpcUrls: [url], assets }
}

export function addresses(...texts: readonly string[]): ReadonlySet<Address> {
  return new Set(texts.map((text) => parseAddress('evm', text)))
}

export type Drained = { transfers: StagedTransfer[]; cursor: ScanCursor; rewinds: bigint[] }

/** Scans until nothing is left, as the job does. */
export async function drain(
  reader: ChainReader,
  watched: ReadonlySet<Address>,
  from: { cursor: ScanCursor | null; startHeight?: bigint | null },
): Promise<Drained> {
  const transfers: StagedTransfer[] = []
  const rewinds: bigint[] = []
  let { cursor } = from
  for (;;) {
    const result = await reader.scan({ cursor, startHeight: from.startHeight ?? null, watched })
    transfers.push(...result.transfers)
    if (result.rewoundTo !== null) rewinds.push(result.rewoundTo)
    cursor = result.cursor
    if (!result.more) return { transfers, cursor, rewinds }
  }
}

/** `stage tx/index`, without the repetitions that overlapping scans bring. */
export function chainTransfers(transfers: readonly StagedTransfer[]): string[] {
  return [...new Set(transfers.map(({ stage, tx, index }) => `${stage} ${tx}/${index}`))].toSorted()
}
