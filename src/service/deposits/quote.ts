/** `prices['ETH/USDC']` is how many whole USDC one whole ETH is worth, in plain decimal text. */
export type QuoteSettings = { prices: Readonly<Record<string, string>>; feeBasisPoints: number }

export type Quote = { rate: string; fee: bigint; amount: bigint }

type Side = { symbol: string; decimals: number }

const rateForm = /^(\d{1,30})(?:\.(\d{1,30}))?$/
const basisPoints = 10_000n

/**
 * What a deposit of `amount` base units delivers, in base units of the other asset: amount × rate, scaled by the
 * decimals and floored, less the fee, itself floored. What the floor leaves over stays with the service.
 * An asset is worth itself; null where the table has no price for the pair.
 */
export function quote(
  settings: QuoteSettings,
  amount: bigint,
  { from, to }: { from: Side; to: Side },
): Quote | null {
  const rate = settings.prices[`${from.symbol}/${to.symbol}`] ?? (from.symbol === to.symbol ? '1' : null)
  if (rate === null) return null
  const [, whole = '', fraction = ''] = rateForm.exec(rate) ?? []
  const numerator = amount * BigInt(whole + fraction) * 10n ** BigInt(to.decimals)
  const gross = numerator / 10n ** BigInt(fraction.length + from.decimals)
  const fee = (gross * BigInt(settings.feeBasisPoints)) / basisPoints
  return { rate, fee, amount: gross - fee }
}

/** A positive plain decimal. */
export function isRate(text: string): boolean {
  return rateForm.test(text) && /[1-9]/.test(text)
}
