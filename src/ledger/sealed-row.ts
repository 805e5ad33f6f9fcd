import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { type SealedTableName, sealedTable, sealedTableNames } from './sealed-tables.ts'

type Texts = readonly (string | null)[]

/** Values in the order of the columns in sealedTables; null if a column is empty. */
export type SealedRow = {
  table: SealedTableName
  id: bigint
  values: Texts
  lines: readonly Texts[]
}

type FieldNames = { fields: readonly string[]; lines: readonly string[] }

const namesOf = Object.fromEntries(
  sealedTableNames.map((table): [string, FieldNames] => {
    const { columns, joined, lines } = sealedTable(table)
    const fields = Object.keys({ ...columns, ...joined?.columns })
    return [table, { fields, lines: Object.keys(lines?.columns ?? {}) }]
  }),
) as Record<SealedTableName, FieldNames>

export function fieldNames(table: SealedTableName): readonly string[] {
  return namesOf[table].fields
}

/** A name and a value, each after its length (a netstring), so that different pairs never have the same encoding. */
function encodePair(name: string, value: string): string {
  return netstring(name) + netstring(value)
}

function netstring(text: string): string {
  return `${Buffer.byteLength(text)}:${text},`
}

/** Nulls are left out, so that null differs from an empty text. */
function encodeFields(names: readonly string[], values: Texts): string {
  let encoded = ''
  for (const [place, name] of names.entries()) {
    const value = values[place] ?? null
    if (value !== null) encoded += encodePair(name, value)
  }
  return encoded
}

/** The bytes of its leaf. */
export function encodeRow({ table, values, lines }: SealedRow): string {
  const names = namesOf[table]
  let encoded = encodePair('table', table) + encodeFields(names.fields, values)
  for (const line of lines) encoded += encodePair('line', encodeFields(names.lines, line))
  return encoded
}

/** The first byte keeps a leaf from being mistaken for a node: RFC 6962, 2.1. */
export function hashOf(what: 'leaf' | 'node', ...content: readonly (string | Buffer)[]): Buffer {
  const pieces = content.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece))
  return hash('sha256', Buffer.concat([Buffer.of(what === 'leaf' ? 0 : 1), ...pieces]), 'buffer')
}

/** As `hashOf`, without buffers in between. */
export function leafOf(row: SealedRow): Buffer {
  return hash('sha256', `\0${encodeRow(row)}`, 'buffer')
}

/** A field of a row, or of one of its lines: `line 2 amount`. */
export type SealedField = { name: string; value: string | null }

function fieldsOf({ table, values, lines }: SealedRow): SealedField[] {
  const named = (prefix: string, names: readonly string[], of: Texts) =>
    names.map((name, place): SealedField => ({ name: `${prefix}${name}`, value: of[place] ?? null }))
  return [
    ...named('', fieldNames(table), values),
    ...lines.flatMap((line, place) => named(`line ${place + 1} `, namesOf[table].lines, line)),
  ]
}

const bytesOfMark = 2

/**
 * Two bytes of a checksum of each field, after their count in two bytes. They prove nothing: they only name the field if
 * the leaf shows that a row was altered.
 */
export function marksOf(row: SealedRow): Buffer {
  const fields = fieldsOf(row)
  const marks = Buffer.allocUnsafe(bytesOfMark * (fields.length + 1))
  marks.writeUInt16BE(fields.length)
  for (const [place, field] of fields.entries())
    marks.writeUInt16BE(checksumOf(field), bytesOfMark * (place + 1))
  return marks
}

export function markOf(field: SealedField): Buffer {
  const mark = Buffer.alloc(bytesOfMark)
  mark.writeUInt16BE(checksumOf(field))
  return mark
}

function checksumOf({ name, value }: SealedField): number {
  return crc32(value === null ? name : `${name}:${value}`) % 2 ** (8 * bytesOfMark)
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
    place === Number(line) - 1 ? replaced(namesOf[row.table].lines, one, { name: column, value }) : one,
  )
  return { ...row, lines }
}

function replaced(names: readonly string[], values: Texts, { name, value }: SealedField): Texts {
  return names.map((one, place) => (one === name ? value : (values[place] ?? null)))
}
