import type { QueryArrayResult } from 'pg'

/** int2, int4, int8, float8, numeric: what psql aligns to the right. */
const rightAligned = new Set([21, 23, 20, 701, 1700])

/** Rows as psql prints them. Every value has to be text already. */
export function psqlTable({ fields, rows }: QueryArrayResult<(string | null)[]>): string {
  const widths = fields.map(({ name }, place) =>
    Math.max(name.length, ...rows.map((row) => row[place]?.length ?? 0)),
  )
  const head = fields.map(({ name }, place) => centred(name, widths[place] ?? 0))
  const body = rows.map((row) =>
    row.map((value, place) => {
      const isRight = rightAligned.has(fields[place]?.dataTypeID ?? 0)
      return (value ?? '')[isRight ? 'padStart' : 'padEnd'](widths[place] ?? 0)
    }),
  )
  const lines = [head, ...body].map((cells) => ` ${cells.join(' | ')}`.trimEnd())
  const rule = widths.map((width) => '-'.repeat(width + 2)).join('+')
  const count = `(${rows.length} ${rows.length === 1 ? 'row' : 'rows'})`
  return [lines[0] ?? '', rule, ...lines.slice(1), count].join('\n')
}

function centred(text: string, width: number): string {
  const left = Math.floor((width - text.length) / 2)
  return `${' '.repeat(left)}${text}`.padEnd(width)
}
