import type { UnreadableKind } from '../../core/mismatch.ts'
import { digitsOf } from '../lossless-json.ts'
import type { TextField } from './field-schema.ts'
import { compilePath } from './path.ts'

/** A document while it is read: the whole payload, and the record within it. */
export type RecordContext = { payload: unknown; record: unknown }

/** What stands in a field, where, and whether it is a constant of the profile, which is in our words already. */
export type FieldReading = { text: string; path: string; isOurs: boolean }

/** Thrown within a reading, to end it; the reader catches it. */
export class Unreadable extends Error {
  readonly kind: UnreadableKind
  readonly path: string

  constructor(path: string, problem: string, kind: UnreadableKind = 'schema_drift') {
    super(problem)
    this.path = path
    this.kind = kind
  }
}

/** Thrown where a number must be read whose digits a plain parse does not keep. */
export class DigitsLost extends Error {}

export type Finder = (place: RecordContext) => FieldReading | null

/**
 * Makes what reads a field's text: digits of numbers as they were sent, `true` and `false` as words.
 * @param prefix where the record is in the payload, so that a path is told as it stands there.
 * @returns null where the field is absent and may be.
 */
export function compileField(field: TextField, prefix: string): Finder {
  const { presence, otherwise } = field
  const path = shownPath(field.paths[0] ?? '', prefix)
  const constant = otherwise === undefined ? null : { text: otherwise, path, isOurs: true }
  if (field.paths.length === 0) return () => constant
  const find = compilePaths(field, prefix)
  return (place) => {
    const found = find(place)
    if (typeof found === 'object') return found
    const isFine = presence === 'optional' || (presence === 'nullable' && found === 'is null')
    return isFine ? constant : refuse(path, found)
  }
}

type FieldAbsence = 'is null' | 'is missing'

/** What the first path leads to that leads to something. */
function compilePaths(
  { paths, absent }: TextField,
  prefix: string,
): (place: RecordContext) => FieldReading | FieldAbsence {
  const lookups = paths.map((path) => ({ look: compilePath(path), path: shownPath(path, prefix) }))
  const saysNull = new Set(absent)
  return ({ record, payload }) => {
    let absence: FieldAbsence = 'is missing'
    for (const { look, path } of lookups) {
      const value = look(record, payload)
      if (value === undefined) continue
      const text = value === null ? null : (wordOf(value) ?? refuse(path, 'is neither text nor a number'))
      if (text !== null && !saysNull.has(text)) return { text: checked(text, path), path, isOurs: false }
      absence = 'is null'
    }
    return absence
  }
}

/** The same for a field that cannot do without a value. */
export function compileRequired(field: TextField, prefix: string): (place: RecordContext) => FieldReading {
  const find = compileField(field, prefix)
  return (place) => find(place) ?? refuse(shownPath(field.paths[0] ?? '', prefix), 'is missing')
}

export function refuse(path: string, problem: string): never {
  throw new Unreadable(path, problem)
}

function shownPath(path: string, prefix: string): string {
  if (path.startsWith('$.')) return path.slice(2)
  return prefix === '' ? path : `${prefix}.${path}`
}

/** Without control characters and halves of characters: Postgres keeps neither NUL nor lone surrogates. */
const keepable = /^[^\p{Cc}\p{Cs}]*$/u
/** What nearly every text is, and is told faster. */
const plain = /^[\x20-\x7e]*$/
const lengthMax = 200

/**
 * Text, the digits of a number, or a truth value as a word; null for anything else.
 * @throws DigitsLost
 */
export function wordOf(value: unknown): string | null {
  if (typeof value === 'string') return value
  if (typeof value === 'boolean') return String(value)
  // Also for a whole number: 7.000000000000000001 is 7 by now.
  if (typeof value === 'number') throw new DigitsLost()
  return digitsOf(value)
}

function checked(text: string, path: string): string {
  if (text === '') return refuse(path, 'is empty')
  if (text.length > lengthMax) return refuse(path, `is longer than ${lengthMax} characters`)
  return plain.test(text) || keepable.test(text) ? text : refuse(path, 'holds characters that cannot be kept')
}
