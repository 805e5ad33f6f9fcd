import type { ChainTransfer } from './port.ts'

/** In an order of their own, each once: a late one may be read twice. */
export function transferLines(transfers: readonly ChainTransfer[]): string[] {
  const lines = transfers.map(
    ({ tx, index, asset, from, to, amount, height, blockHash }) =>
      `${tx}/${index}: ${amount} of ${asset} from ${from ?? 'several'} to ${to} in block ${height} (${blockHash})`,
  )
  return [...new Set(lines)].toSorted()
}
