/** The condition that a column has one of the chosen values; with all of them chosen, any value and none. */
export function isChosen(column: string, variable: 'network' | 'owner' | 'asset'): string {
  const values = `\${${variable}:sqlstring}`
  return `('' in (${values}) or ${column} in (${values}))`
}

/** The network of an asset's key, which is `network/contract`, `network/mint` or `network/native`. */
export const networkOfAsset = "split_part(asset, '/', 1)"
