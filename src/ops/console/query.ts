import { Fault } from '../../core/errors.ts'
import { parseTime } from '../../core/time.ts'

/** @throws Fault `request_refused` if the value is invalid */
export type QueryFieldReader<Value> = (name: string, text: string) => Value

/**
 * Refuses unknown fields. Forms send empty fields, which count as missing.
 * @throws Fault `request_refused` in one line
 */
export function readQuery<Fields extends Readonly<Record<string, QueryFieldReader<unknown>>>>(
  search: URLSearchParams,
  fields: Fields,
): { [Name in keyof Fields]?: ReturnType<Fields[Name]> } {
  const names = [...search.keys()]
  const odd = names.find((name) => !Object.hasOwn(fields, name))
  if (odd !== undefined)
    throw refused(`there is no filter ${quoted(odd)}; use ${listOf(Object.keys(fields))}`)
  const twice = names.find((name) => search.getAll(name).length > 1)
  if (twice !== undefined) throw refused(`${twice} is given more than once`)
  const read = Object.entries(fields).flatMap(([name, field]) => {
    const text = search.get(name)?.trim() ?? ''
    return text === '' ? [] : [[name, field(name, text)]]
  })
  return Object.fromEntries(read) as { [Name in keyof Fields]?: ReturnType<Fields[Name]> }
}

export function oneOf<Word extends string>(words: readonly Word[]): QueryFieldReader<Word> {
  return (name, text) => {
    const word = words.find((one) => one === text)
    if (word === undefined) throw refused(`${name} does not know ${quoted(text)}; use ${listOf(words)}`)
    return word
  }
}

export function numberOf(name: string, text: string): bigint {
  if (!/^[1-9]\d{0,17}$/.test(text)) throw refused(`${name} is ${quoted(text)}; it must be a number`)
  return BigInt(text)
}

/** Like `2026-01-31`, until 2099. */
export function dayOf(name: string, text: string): string {
  if (/^(?:19[7-9]|20\d)\d-\d\d-\d\d$/.test(text) && parseTime(text) !== null) return text
  throw refused(`${name} is ${quoted(text)}; it must be a day like 2026-01-31`)
}

/** Like `2026-01`. */
export function monthOf(name: string, text: string): string {
  if (/^20\d\d-(?:0[1-9]|1[0-2])$/.test(text)) return text
  throw refused(`${name} is ${quoted(text)}; it must be a month like 2026-01`)
}

/** A day or time of ISO 8601. */
export function timeText(name: string, text: string): string {
  if (parseTime(text) !== null) return text
  throw refused(`${name} is ${quoted(text)}; it must be a time like 2026-01-31T10:00Z`)
}

const longestWord = 200

export function shortText(name: string, text: string): string {
  if (text.length > longestWord || /\p{C}/u.test(text))
    throw refused(`${name} must be a text of at most ${longestWord} signs in one line`)
  return text
}

export function missing(what: string, reference: string): Fault<'request_refused'> {
  const problem = `there is no ${what} ${quoted(reference)}`
  return new Fault('request_refused', { status: 404, reason: 'not_found', problem })
}

function refused(problem: string): Fault<'request_refused'> {
  return new Fault('request_refused', { status: 400, reason: 'query_bad', problem })
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 60))
}

function listOf(words: readonly string[]): string {
  return words.length === 0 ? 'none' : words.join(', ')
}
