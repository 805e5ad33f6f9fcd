/** Columns of the rows as JSON, and the bytes of all bodies. */
export type PackedRows = { heads: string; bodies: Buffer }

/**
 * Packs any number of rows into two parameters. Bodies are sent as bytes, since the text of an array doubles them.
 * @param headOf receives the position of the row's body among all bytes, counted from 1 as in Postgres
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
