import { Fault } from '../core/errors.ts'

/**
 * Reads an option that is a whole number.
 * @throws Fault `usage_bad` that names the option.
 */
export function wholeNumber(name: string, text: string, { min, max }: { min: number; max: number }): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (number >= min && number <= max) return number
  throw new Fault('usage_bad', {
    problem: `--${name} is ${JSON.stringify(text)}`,
    mend: `give a whole number from ${min} to ${max}`,
  })
}

export function limitOf(text: string): number {
  return wholeNumber('limit', text, { min: 1, max: 100_000 })
}

/**
 * Reads an option that is one of a few words.
 * @throws Fault `usage_bad` that names the option and the words.
 */
export function wordOf<Word extends string>(name: string, text: string, words: readonly Word[]): Word {
  const word = words.find((one) => one === text)
  if (word !== undefined) return word
  throw new Fault('usage_bad', {
    problem: `--${name} does not know ${JSON.stringify(text)}`,
    mend: `use ${words.join(', ')}`,
  })
}

export function noDeposit(id: string): Fault {
  return new Fault('usage_bad', {
    problem: `there is no deposit ${id}`,
    mend: 'take a number from "depositd deposits list", an id of the service, or a transaction',
  })
}

const unitMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Reads a span of time like `30m`, `24h` or `7d`, in milliseconds; null where it is none. */
export function parseSpan(text: string): number | null {
  const [, digits, unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? []
  return digits === undefined ? null : Number(digits) * (unitMs[unit] ?? 0)
}

/**
 * Reads an option that is a text for people to read later.
 * @throws Fault `usage_bad` that names the option, where it is blank.
 */
export function textOf(name: string, text: string): string {
  const trimmed = text.trim()
  if (trimmed !== '') return trimmed
  throw new Fault('usage_bad', { problem: `${name} is empty`, mend: 'say it in words; it is kept for good' })
}
