/**
 * Splits rows for statements that carry each value as a parameter of its own: Postgres takes at most 65,535 of them
 * in one.
 */
export function inPieces<Row>(rows: readonly Row[], columns: number): Row[][] {
  const size = Math.floor(parametersMax / columns)
  return Array.from({ length: Math.ceil(rows.length / size) }, (_, piece) =>
    rows.slice(piece * size, (piece + 1) * size),
  )
}

const parametersMax = 30_000
