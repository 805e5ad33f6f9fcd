/** Zero as long as a daemon is scraped, so that "nothing happened" and "nobody looks" are told apart: for counters. */
export const elseZero = 'or 0 * max(depositd_build_info)'

/**
 * The same for gauges, which are left out where the database cannot be read: zero only as long as it can.
 * @param part of which a gauge is one
 */
export function zeroWhenRead(part: 'live' | 'totals'): string {
  return `or ${zeroOf(part)}`
}

/** The same for what has labels: a zero without any only where there is nothing else. */
export function onlyZeroWhenRead(part: 'live' | 'totals'): string {
  return `or on () ${zeroOf(part)}`
}

function zeroOf(part: 'live' | 'totals'): string {
  return `0 * (max(depositd_gauges_readable{part="${part}"}) == 1)`
}

/**
 * Series by asset, those of the chosen networks and labels, each with the asset's label and its network.
 * @param expr has one series for each asset, or for each asset and more
 */
export function chosenAssets(expr: string): string {
  return `${expr} * on (asset) group_left (symbol, network) max by (asset, symbol, network) (depositd_asset_info{asset!="other",network=~"$network",symbol=~"$asset"})`
}

/**
 * The same for what is wrong: an asset that was never booked has no label and no network. It is shown whatever is
 * chosen, by its key.
 */
export function chosenAndUnbooked(expr: string): string {
  const unbooked = `${expr} unless on (asset) depositd_asset_info{asset!="other"}`
  return `${chosenAssets(expr)} or label_join(${unbooked}, "symbol", "", "asset")`
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
