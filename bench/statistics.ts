/** Of an odd or even number of values, none of them missing. */
function median(values: Iterable<number>): number {
  return quantile(values, 0.5)
}

/** The value below which that share of the values lies. */
export function quantile(values: Iterable<number>, share: number): number {
  const sorted = [...values].toSorted((left, right) => left - right)
  const place = share * (sorted.length - 1)
  const [low, high] = [sorted[Math.floor(place)] ?? Number.NaN, sorted[Math.ceil(place)] ?? Number.NaN]
  return low + (high - low) * (place - Math.floor(place))
}

export type Spread = { median: number; min: number; max: number }

export function spreadOf(values: readonly number[]): Spread {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) }
}

/** `12,300 (11,900-12,800)`, or with decimals where they are asked for. */
export function spreadText({ median: middle, min, max }: Spread, decimals = 0): string {
  const said = (value: number) =>
    value.toLocaleString('en', { minimumFractionDigits: decimals, maximumFractionDigits: decimals })
  return `${said(middle)} (${said(min)}-${said(max)})`
}

/** How many times as fast ours is, and whether that is at least the target. */
export type Ratio = Spread & { target: number; isMet: boolean }

/** Round by round, so that what changes on the machine from round to round falls out. */
export function ratioOf(ours: readonly number[], theirs: readonly number[], target: number): Ratio {
  const spread = spreadOf(ours.map((value, round) => value / (theirs[round] ?? Number.NaN)))
  return { ...spread, target, isMet: spread.median >= target }
}

export function ratioLine(against: string, { target, isMet, ...spread }: Ratio): string {
  return `  ours is ${spreadText(spread, 2)} x ${against}, to be at least ${target} x: ${isMet ? 'met' : 'MISSED'}`
}
