/** Zero as long as a daemon is scraped, so that "nothing is wrong" and "nobody looks" are told apart. */
export const elseZero = 'or 0 * max(depositd_build_info)'

/** The same for what has labels: a zero without any only where there is nothing else. */
export const ifEmptyZero = 'or on () 0 * max(depositd_build_info)'

/**
 * Series by asset, those of the chosen networks and labels, each with the asset's label and its network.
 * @param expr has one series for each asset, or for each asset and more
 */
export function chosenAssets(expr: string): string {
  return `${expr} * on (asset) group_left (symbol, network) max by (asset, symbol, network) (depositd_asset_info{asset!="other",network=~"$network",symbol=~"$asset"})`
}

/** Balance of each asset of the books, zero where nothing was ever booked on such an account. */
export function balanceOf(account: string): string {
  const all = 'depositd_ledger_balance'
  return `(max by (asset) (${all}{account="${account}"}) or 0 * max by (asset) (${all}))`
}

/**
 * What counters grew by. One with labels may appear with its first event, which `increase` alone does not see.
 * @param over how far back, like `1h`
 */
export function grownBy(counter: string, over: string): string {
  return `((${counter} unless ${counter} offset ${over}) or increase(${counter}[${over}]))`
}

/** How `chosenAssets` are called. */
export const assetLegend = '{{symbol}} on {{network}}'

/**
 * What so many of a hundred observations took at most.
 * @param by labels to keep, comma-separated
 */
export function quantile(share: number, { of, by, over }: { of: string; by: string; over: string }): string {
  const labels = by === '' ? 'le' : `le, ${by}`
  return `histogram_quantile(${share}, sum by (${labels}) (rate(${of}[${over}])))`
}
