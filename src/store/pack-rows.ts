/** The JSON of what rows say, and the bytes of all their bodies. */
export type PackedRows = { heads: string; bodies: Buffer }

/**
 * Two parameters, whatever the number of rows: bodies go as the bytes they are, for the text of an array doubles them.
 * @param headOf is told where among all bytes the row's body begins, counted from 1 as Postgres does.
 */
export function packRows<Row extends { body: Buffer }>(
  rows: readonly Row[],
  headOf: (row: Row, first: number) => object,
): PackedRows {
  let first = 1
  const heads = rows.map((row) => {
    const head = headOf(row, first)
    first += row.body.length
    return head
  })
  return { heads: JSON.stringify(heads), bodies: Buffer.concat(rows.map(({ body }) => body)) }
}
