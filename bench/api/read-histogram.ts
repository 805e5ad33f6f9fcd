/** Of a histogram of Prometheus: for each upper bound in seconds, how many values are at most that. */
export type Histogram = ReadonlyMap<number, number>

export async function readHistogram(metricsUrl: string, name: string, call: string): Promise<Histogram> {
  const response = await fetch(metricsUrl)
  if (!response.ok) throw new Error(`the metrics were answered ${response.status}`)
  const lines = (await response.text()).split('\n')
  const wanted = lines.filter((line) => line.startsWith(`${name}_bucket{`) && line.includes(`call="${call}"`))
  return new Map(
    wanted.map((line) => {
      const [, bound = '', count = ''] = /le="([^"]+)".*\} (\d+)/.exec(line) ?? []
      return [bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound), Number(count)]
    }),
  )
}

/** What came between two readings. */
export function since(before: Histogram, after: Histogram): Histogram {
  return new Map([...after].map(([bound, count]) => [bound, count - (before.get(bound) ?? 0)]))
}

export function countOfAll(histogram: Histogram): number {
  return histogram.get(Number.POSITIVE_INFINITY) ?? 0
}

/** The share of the values that are at most that bound, which is one of the histogram. */
export function shareWithin(histogram: Histogram, bound: number): number {
  return (histogram.get(bound) ?? Number.NaN) / countOfAll(histogram)
}

/** As `histogram_quantile` of Prometheus: evenly spread within a bucket. */
export function quantileOf(histogram: Histogram, share: number): number {
  const rank = share * countOfAll(histogram)
  let [below, boundBelow] = [0, 0]
  for (const [bound, count] of [...histogram].toSorted(([left], [right]) => left - right)) {
    if (count >= rank && count > below)
      return Number.isFinite(bound)
        ? boundBelow + ((bound - boundBelow) * (rank - below)) / (count - below)
        : boundBelow
    if (Number.isFinite(bound)) [below, boundBelow] = [count, bound]
  }
  return Number.NaN
}
