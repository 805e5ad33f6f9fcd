import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { type SealedTableName, sealedTable } from './sealed-tables.ts'

type Texts = readonly (string | null)[]

/** Values in the order of the columns in sealedTables; null if a column is empty. */
export type SealedRow = {
  table: SealedTableName
  id: bigint
  values: Texts
  lines: readonly Texts[]
}

/** Nulls are left out, so that null differs from an empty text. */
export type Pairs = readonly (readonly [name: string, value: string])[]

function pairsOf(names: readonly string[], values: Texts): Pairs {
  return names.flatMap((name, place) => {
    const value = values[place] ?? null
    return value === null ? [] : [[name, value] as const]
  })
}

export function fieldNames(table: SealedTableName): readonly string[] {
  const { columns, joined } = sealedTable(table)
  return Object.keys({ ...columns, ...joined?.columns })
}

function lineNames(table: SealedTableName): readonly string[] {
  return Object.keys(sealedTable(table).lines?.columns ?? {})
}

/** Each name and value after its length (a netstring), so that different pairs never have the same encoding. */
export function encodePairs(pairs: Pairs): string {
  return pairs.flat().map(netstring).join('')
}

function netstring(text: string): string {
  return `${Buffer.byteLength(text)}:${text},`
}

/** The bytes of its leaf. */
export function encodeRow({ table, values, lines }: SealedRow): string {
  return encodePairs([
    ['table', table],
    ...pairsOf(fieldNames(table), values),
    ...lines.map((line) => ['line', encodePairs(pairsOf(lineNames(table), line))] as const),
  ])
}

/** The first byte keeps a leaf from being mistaken for a node: RFC 6962, 2.1. */
export function hashOf(what: 'leaf' | 'node', ...content: readonly (string | Buffer)[]): Buffer {
  const pieces = content.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece))
  return hash('sha256', Buffer.concat([Buffer.of(what === 'leaf' ? 0 : 1), ...pieces]), 'buffer')
}

export function leafOf(row: SealedRow): Buffer {
  return hashOf('leaf', encodeRow(row))
}

/** A field of a row, or of one of its lines: `line 2 amount`. */
export type SealedField = { name: string; value: string | null }

function fieldsOf({ table, values, lines }: SealedRow): SealedField[] {
  const named = (prefix: string, names: readonly string[], of: Texts) =>
    names.map((name, place): SealedField => ({ name: `${prefix}${name}`, value: of[place] ?? null }))
  return [
    ...named('', fieldNames(table), values),
    ...lines.flatMap((line, place) => named(`line ${place + 1} `, lineNames(table), line)),
  ]
}

const bytesOfMark = 2

/**
 * Two bytes of a checksum of each field, after their count in two bytes. They prove nothing: they only name the field if
 * the leaf shows that a row was altered.
 */
export function marksOf(row: SealedRow): Buffer {
  const marks = fieldsOf(row).map(markOf)
  const count = Buffer.alloc(bytesOfMark)
  count.writeUInt16BE(marks.length)
  return Buffer.concat([count, ...marks])
}

export function markOf({ name, value }: SealedField): Buffer {
  const mark = Buffer.alloc(bytesOfMark)
  mark.writeUInt16BE(crc32(value === null ? name : `${name}:${value}`) % 2 ** (8 * bytesOfMark))
  return mark
}

/** The marks of each row of a seal. */
export function splitMarks(stored: Buffer): Buffer[] {
  const marks: Buffer[] = []
  for (let place = 0; place + bytesOfMark <= stored.length; ) {
    const end = place + bytesOfMark * (1 + stored.readUInt16BE(place))
    marks.push(stored.subarray(place, end))
    place = end
  }
  return marks
}

/** A field that differs from the sealed one, with the mark of the sealed one. */
export type AlteredField = SealedField & { sealedMark: Buffer }

/** Null if the row had another number of lines. */
export function alteredFields(row: SealedRow, marks: Buffer): AlteredField[] | null {
  const fields = fieldsOf(row)
  if (marks.length !== bytesOfMark * (fields.length + 1)) return null
  return fields.flatMap((field, place) => {
    const sealedMark = marks.subarray(bytesOfMark * (place + 1), bytesOfMark * (place + 2))
    return markOf(field).equals(sealedMark) ? [] : [{ ...field, sealedMark }]
  })
}

/** The row with one field replaced. */
export function withField(row: SealedRow, name: string, value: string | null): SealedRow {
  const [, line, column = ''] = /^line (\d+) (.*)$/.exec(name) ?? []
  if (line === undefined)
    return { ...row, values: replaced(fieldNames(row.table), row.values, { name, value }) }
  const lines = row.lines.map((one, place) =>
    place === Number(line) - 1 ? replaced(lineNames(row.table), one, { name: column, value }) : one,
  )
  return { ...row, lines }
}

function replaced(names: readonly string[], values: Texts, { name, value }: SealedField): Texts {
  return names.map((one, place) => (one === name ? value : (values[place] ?? null)))
}
