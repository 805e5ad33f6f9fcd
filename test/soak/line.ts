export type Point = { at: number; value: number }

/** The slope of the straight line with the least squares, in units of `value` per unit of `at`; 0 for fewer than two points. */
export function slopeOf(points: readonly Point[]): number {
  const meanAt = mean(points.map(({ at }) => at))
  const meanValue = mean(points.map(({ value }) => value))
  const spread = points.reduce((sum, { at }) => sum + (at - meanAt) ** 2, 0)
  if (spread === 0) return 0
  return points.reduce((sum, { at, value }) => sum + (at - meanAt) * (value - meanValue), 0) / spread
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)
}
