import { Option } from 'commander'
import { Fault } from '../core/errors.ts'

type NumberRange = { min: number; max: number }

/** Its help states the range that its parser accepts. */
export function ranged(flags: string, description: string, range: NumberRange): Option {
  const option = new Option(flags, `${description}: ${range.min} to ${range.max}`)
  return option.argParser((text) => wholeNumber(option.name(), text, range))
}

/** @throws Fault `usage_bad` */
function wholeNumber(name: string, text: string, { min, max }: NumberRange): number {
  const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (number >= min && number <= max) return number
  throw new Fault('usage_bad', {
    problem: `--${name} is ${JSON.stringify(text)}`,
    fix: `give a whole number from ${min} to ${max}`,
  })
}

/** Other words are refused before the command runs. */
export function choice(flags: string, description: string, words: readonly string[]): Option {
  const option = new Option(flags, description).choices(words)
  return option.argParser((text) => choiceOf(`--${option.name()}`, text, words))
}

/** @throws Fault `usage_bad` that names the nearest word */
export function choiceOf<Word extends string>(name: string, text: string, words: readonly Word[]): Word {
  const word = words.find((one) => one === text)
  if (word !== undefined) return word
  const near = nearest(text, words)
  throw new Fault('usage_bad', {
    problem: `${name} is ${JSON.stringify(text.slice(0, 100))}`,
    fix: `${near === null ? '' : `did you mean ${near}? `}use ${words.length === 0 ? 'none: there are none' : words.join(', ')}`,
  })
}

/** By the fewest different letters; null if more than half differ. */
export function nearest(text: string, words: readonly string[]): string | null {
  const byDistance = words
    .map((word) => ({ word, distance: distanceOf(text.toLowerCase(), word.toLowerCase()) }))
    .filter(({ word, distance }) => distance * 2 <= Math.max(word.length, text.length))
    .toSorted((one, other) => one.distance - other.distance)
  return byDistance[0]?.word ?? null
}

/** Levenshtein distance. */
function distanceOf(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (const [place, letter] of one.split('').entries()) {
    const next = [place + 1]
    for (const [index, otherLetter] of other.split('').entries()) {
      const kept = (row[index] ?? 0) + (letter === otherLetter ? 0 : 1)
      next.push(Math.min(kept, (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1))
    }
    row = next
  }
  return row[other.length] ?? 0
}

/** `group` is its name and a space, or empty for the program. */
export function noCommand(group: string, word: string, commands: readonly string[]): Fault {
  const near = nearest(word, commands)
  return new Fault('usage_bad', {
    problem: `unknown command ${JSON.stringify(`${group}${word}`.slice(0, 100))}`,
    fix: `${near === null ? '' : `did you mean ${near}? `}use ${commands.join(', ')}`,
  })
}

export function noDeposit(id: string): Fault {
  return new Fault('not_found', {
    problem: `deposit ${id} not found`,
    fix: 'use a number from "bin/depositd deposits list", an id of the service, or a transaction',
  })
}

/** @throws Fault `not_found`, or `usage_bad` that lists the deposits that share the reference */
export function onlyOne<Deposit extends { id: bigint }>(id: string, shown: readonly Deposit[]): Deposit {
  const [deposit, ...others] = shown
  if (deposit === undefined) throw noDeposit(id)
  if (others.length === 0) return deposit
  throw new Fault('usage_bad', {
    problem: `${id} belongs to several deposits: ${shown.map((one) => one.id).join(', ')}`,
    fix: 'use the number of one of them',
  })
}

const unitMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Like `30m`, `24h` or `7d`, in milliseconds; null if it is not a span. */
export function parseSpan(text: string): number | null {
  const [, digits, unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? []
  return digits === undefined ? null : Number(digits) * (unitMs[unit] ?? 0)
}

/** @throws Fault `usage_bad` if the text is blank */
export function textOf(name: string, text: string): string {
  const trimmed = text.trim()
  if (trimmed !== '') return trimmed
  throw new Fault('usage_bad', { problem: `${name} is empty`, fix: 'give a text; it is stored permanently' })
}
