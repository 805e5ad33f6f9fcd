import { z } from 'zod'
import { type Amount, formatAmount, parseAmount } from '../../core/money.ts'
import type { AmountField, TimeField, WordField } from './field-schema.ts'
import {
  compileField,
  compileRequired,
  type FieldReading,
  type RecordContext,
  refuseValue,
} from './find-field.ts'

/** A key ending in `*` matches every word with that prefix; the longest prefix wins. */
function compileWords<Word extends string>(
  words: Readonly<Record<string, Word>>,
): (word: string) => Word | null {
  const exact = new Map(Object.entries(words))
  const beginnings = Object.entries(words)
    .flatMap(([word, meaning]) => (word.endsWith('*') ? [{ start: word.slice(0, -1), meaning }] : []))
    .toSorted((left, right) => right.start.length - left.start.length)
  return (word) => exact.get(word) ?? beginnings.find(({ start }) => word.startsWith(start))?.meaning ?? null
}

/** `unknown` handles unlisted words. */
export function compileWordField<Word extends string>(
  field: WordField<Word>,
  { prefix, unknown }: { prefix: string; unknown: (found: FieldReading) => Word },
): (place: RecordContext) => Word {
  const find = compileRequired(field, prefix)
  const translate = compileWords(field.words)
  return (place) => {
    const found = find(place)
    // The schema guarantees that a constant is one of our words.
    return found.isOurs ? (found.text as Word) : (translate(found.text) ?? unknown(found))
  }
}

export function compileTime(
  field: TimeField | undefined,
  prefix: string,
): (place: RecordContext) => Date | null {
  if (field === undefined) return () => null
  const find = compileField(field, prefix)
  const read = timeReaders[field.as]
  return (place) => {
    const found = find(place)
    if (found === null) return null
    const time = read(found.text)
    return time !== null && isKeepable(time) ? time : refuseValue(found, timeProblems[field.as], timeFix)
  }
}

const zoned = z.iso.datetime({ offset: true })
const local = z.iso.datetime({ local: true })

const timeReaders: Record<TimeField['as'], (text: string) => Date | null> = {
  iso: (text) => (zoned.safeParse(text).success ? new Date(text) : null),
  utc: (text) => {
    const joined = text.replace(' ', 'T')
    return local.safeParse(joined).success ? new Date(joined.replace(/Z?$/, 'Z')) : null
  },
  s: (text) => since1970(text, 1000),
  ms: (text) => since1970(text, 1),
}

const timeProblems: Record<TimeField['as'], string> = {
  iso: 'is no ISO 8601 time with a zone',
  utc: 'is no ISO 8601 time',
  s: 'is no time in seconds since 1970',
  ms: 'is no time in milliseconds since 1970',
}

const timeFix = 'set as: iso, utc, s or ms'

const firstYear = Date.parse('0001-01-01T00:00:00Z')
const lastYearsEnd = Date.parse('9999-12-31T23:59:59.999Z')

/** For other years, ISO 8601 uses a form that Postgres does not parse. */
function isKeepable(time: Date): boolean {
  return time.getTime() >= firstYear && time.getTime() <= lastYearsEnd
}

function since1970(text: string, factor: number): Date | null {
  return /^\d{1,15}(\.\d{1,20})?$/.test(text) ? new Date(Math.floor(Number(text) * factor)) : null
}

/** Never rounds: an amount with more digits is refused. */
export function compileAmount(
  field: AmountField | undefined,
  prefix: string,
): (place: RecordContext, assetDecimals: number) => Amount | null {
  if (field === undefined) return () => null
  const find = compileField(field, prefix)
  const ownDecimals = field.decimals === undefined ? null : compileDecimals(field.decimals, prefix)
  return (place, assetDecimals) => {
    const found = find(place)
    if (found === null) return null
    const decimals = ownDecimals === null ? assetDecimals : ownDecimals(place)
    try {
      const digits = plainDecimal(found.text)
      if (field.as === 'units') return parseAmount(digits, assetDecimals)
      return parseAmount(plainDecimal(formatAmount(parseAmount(digits, 0), decimals)), assetDecimals)
    } catch {
      return refuseValue(found, amountProblem(field, assetDecimals), amountFix)
    }
  }
}

const amountFix = 'set as: units or base-units, and decimals if they differ from those of the asset'

function amountProblem({ as }: AmountField, assetDecimals: number): string {
  return `is no amount in ${as === 'units' ? 'units' : 'base units'} of an asset with ${assetDecimals} decimals`
}

function compileDecimals(decimals: string | number, prefix: string): (place: RecordContext) => number {
  if (typeof decimals === 'number') return () => decimals
  const find = compileRequired({ paths: [decimals], presence: 'required', absent: [] }, prefix)
  return (place) => {
    const found = find(place)
    if (/^\d{1,2}$/.test(found.text)) return Number(found.text)
    return refuseValue(found, 'is no number of decimals', 'correct the path of decimals, or give a number')
  }
}

/**
 * Without an exponent, which JSON allows, and trailing zeros in the fraction. Other text is returned
 * unchanged and refused later.
 */
export function plainDecimal(text: string): string {
  const [, whole, fraction = '', exponent = '0'] =
    /^(\d{1,80})(?:\.(\d{1,80}))?(?:[eE]([+-]?\d{1,2}))?$/.exec(text) ?? []
  if (whole === undefined) return text
  const digits = whole + fraction
  const point = whole.length + Number(exponent)
  const left = point > 0 ? digits.slice(0, point).padEnd(point, '0') : '0'
  const right = (point > 0 ? digits.slice(point) : '0'.repeat(-point) + digits).replace(/0+$/, '')
  return right === '' ? left : `${left}.${right}`
}
