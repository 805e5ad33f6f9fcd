/** Postgres accepts at most 65,535 parameters per statement. */
export function inPieces<Row>(rows: readonly Row[], columns: number): Row[][] {
  const size = Math.floor(parametersMax / columns)
  return Array.from({ length: Math.ceil(rows.length / size) }, (_, piece) =>
    rows.slice(piece * size, (piece + 1) * size),
  )
}

const parametersMax = 30_000
