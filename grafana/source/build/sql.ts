/** The condition that a column has one of the chosen values; with all of them chosen, any value and none. */
export function isChosen(column: string, variable: 'network' | 'owner' | 'asset'): string {
  const values = `\${${variable}:sqlstring}`
  return `('' in (${values}) or ${column} in (${values}))`
}

/** The condition that a row of a view is of no canary: what depositd pays to itself came from no customer. */
export function isOfCustomers(view: string): string {
  return `not ${isOfCanary(view)}`
}

/** Whether a row of a view, which names its deposit, is of a canary. */
export function isOfCanary(view: string): string {
  return `exists (select from accounting.deposits as made where made.id = ${view}.deposit_id and made.is_canary)`
}

/** The network of an asset's key, which is `network/contract`, `network/mint` or `network/native`. */
export const networkOfAsset = "split_part(asset, '/', 1)"
