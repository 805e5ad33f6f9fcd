import type { UnreadableKind } from '../../core/mismatch.ts'
import { digitsOf } from '../lossless-json.ts'
import type { TextField } from './field-schema.ts'

/** `record` is inside `payload`. */
export type RecordContext = { payload: unknown; record: unknown }

/** `isOurs`: a constant of the profile, already in our words. */
export type FieldReading = { text: string; path: string; isOurs: boolean }

type FieldText = Pick<FieldReading, 'path' | 'text'>

/** `value` was found at the path, `fix` says what to change. */
export type UnreadableCause = { value?: string; fix: string; kind?: UnreadableKind }

/** Caught by the claim reader. */
export class Unreadable extends Error {
  readonly path: string
  readonly kind: UnreadableKind
  /** Shortened; null if there is none. */
  readonly value: string | null
  readonly fix: string

  constructor(path: string, problem: string, { value, fix, kind = 'schema_drift' }: UnreadableCause) {
    super(problem)
    this.path = path
    this.kind = kind
    this.value = value === undefined ? null : shownValue({ path, text: value })
    this.fix = fix
  }
}

/** Payloads hold data of customers. */
const shownMax = 40
const secretPath = /(^|\.)headers?\.|authorization|cookie|password|secret|signature|api[-_]?key/i

/** Short enough for messages, and without characters that Postgres does not store; never a secret. */
export function shownValue({ path, text }: FieldText): string {
  if (secretPath.test(path)) return '(hidden)'
  const start = text.length > shownMax ? `${text.slice(0, shownMax - 1)}…` : text
  return start.replaceAll(/[\p{Cc}\p{Cs}]/gu, '\ufffd')
}

/** A plain parse may have lost digits of a number that is read. */
export class DigitsLost extends Error {}

export type Finder = (place: RecordContext) => FieldReading | null

/**
 * Numbers have their digits as sent, booleans are words.
 * @param prefix path of the record in the payload, for error messages
 * @returns a reader that returns null if the field is absent and may be
 */
export function compileField(field: TextField, prefix: string, fix = absenceFix): Finder {
  const { presence, otherwise } = field
  const path = shownPath(field.paths[0] ?? '', prefix)
  const constant = otherwise === undefined ? null : { text: otherwise, path, isOurs: true }
  if (field.paths.length === 0) return () => constant
  const find = compilePaths(field, prefix)
  return (place) => {
    const found = find(place)
    if (typeof found === 'object') return found
    const isFine = presence === 'optional' || (presence === 'nullable' && found === 'is null')
    return isFine ? constant : refuse(path, found, { fix })
  }
}

const absenceFix = 'correct the path, or set presence: optional'
const requiredFix = 'correct the path, or set otherwise'

type FieldAbsence = 'is null' | 'is missing'

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
      const text = value === null ? null : (wordOf(value) ?? refuse(path, notScalar, { fix: innerPath }))
      if (text !== null && !saysNull.has(text)) return { text: checked(text, path), path, isOurs: false }
      absence = 'is null'
    }
    return absence
  }
}

const notScalar = 'is neither text nor a number'
const innerPath = 'name a field inside it in the path'

export function compileRequired(field: TextField, prefix: string): (place: RecordContext) => FieldReading {
  const find = compileField(field, prefix, requiredFix)
  return (place) =>
    find(place) ?? refuse(shownPath(field.paths[0] ?? '', prefix), 'is missing', { fix: requiredFix })
}

export function refuse(path: string, problem: string, refusal: UnreadableCause): never {
  throw new Unreadable(path, problem, refusal)
}

/** As `refuse`, with the value in the message. */
export function refuseValue({ path, text }: FieldText, problem: string, fix: string): never {
  throw new Unreadable(path, `${problem}: ${shownValue({ path, text })}`, { value: text, fix })
}

/** As from the payload. */
export function shownPath(path: string, prefix: string): string {
  if (path.startsWith('$.')) return path.slice(2)
  return prefix === '' ? path : `${prefix}.${path}`
}

/** Postgres stores neither NUL nor lone surrogates. */
const keepable = /^[^\p{Cc}\p{Cs}]*$/u
/** Faster, and matches nearly every text. */
const plain = /^[\x20-\x7e]*$/
const lengthMax = 200

/**
 * Null for objects, lists and null.
 * @throws DigitsLost
 */
export function wordOf(value: unknown): string | null {
  if (typeof value === 'string') return value
  if (typeof value === 'boolean') return String(value)
  // Whole numbers too: 7.000000000000000001 has already become 7.
  if (typeof value === 'number') throw new DigitsLost()
  return digitsOf(value)
}

const otherPath = 'give the path of another field'

function checked(text: string, path: string): string {
  if (text === '') return refuse(path, 'is empty', { fix: "if it means none, set absent: ['']" })
  const found = { text, path }
  if (text.length > lengthMax) return refuseValue(found, `is longer than ${lengthMax} characters`, otherPath)
  if (plain.test(text) || keepable.test(text)) return text
  return refuseValue(found, 'holds characters that cannot be kept', otherPath)
}

/** `undefined` if the value is missing; `null` if it, or a parent, is null. */
export type Lookup = (record: unknown, payload: unknown) => unknown

export function compilePath(path: string): Lookup {
  const isOfPayload = path.startsWith('$.')
  const names = (isOfPayload ? path.slice(2) : path).split('.')
  return (record, payload) => {
    let place = isOfPayload ? payload : record
    for (const name of names) {
      if (place === null) return null
      place = step(place, name)
      if (place === undefined) return undefined
    }
    return place
  }
}

function step(place: unknown, name: string): unknown {
  if (typeof place !== 'object' || place === null) return undefined
  if (Array.isArray(place)) return /^-?\d{1,4}$/.test(name) ? place.at(Number(name)) : undefined
  return Object.hasOwn(place, name) ? (place as Record<string, unknown>)[name] : undefined
}
