import type { HeightRange } from './port.ts'

/** The heights that each of several readings proved: what one node alone calls whole is believed of no other. */
export function provedByAll(readings: readonly { proved: readonly HeightRange[] }[]): HeightRange[] {
  const [first, ...others] = readings.map(({ proved }) => proved)
  return others.reduce<readonly HeightRange[]>(common, first ?? []).slice()
}

function common(ranges: readonly HeightRange[], others: readonly HeightRange[]): HeightRange[] {
  return ranges.flatMap((one) =>
    others.flatMap((other) => {
      const from = one.from > other.from ? one.from : other.from
      const to = one.to < other.to ? one.to : other.to
      return from <= to ? [{ from, to }] : []
    }),
  )
}
