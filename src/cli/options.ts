import { type Command, Option } from 'commander'
import { Fault } from '../core/errors.ts'
import { parseTime } from '../core/time.ts'
import { didYouMean } from '../presentation/text.ts'
import type { Context } from './context.ts'
import type { News } from './print.ts'

type Implementation = (context: Context, ...words: never[]) => Promise<News | void> | void

/** The action of a command: imports its implementation, and calls it with its arguments and its options. */
export type Act = (load: () => Promise<Implementation>) => (...words: readonly unknown[]) => Promise<void>

/** A command that prints a document with `--json`. */
export function subcommand(group: Command, words: string, description: string): Command {
  return group.command(words).description(description).option('--json', 'print a JSON document')
}

/** A command about one service, or a list that can be limited to one. */
export function ofService(
  command: Command,
  what = 'only this deposit service, of the settings or the database',
): Command {
  return command.option('--service <name>', what)
}

/** The reason of a decision. */
export function reasoned(command: Command): Command {
  return command.requiredOption('--reason <text>', 'the reason; it is stored permanently')
}

export function wrongUse(problem: string, fix: string, options?: ErrorOptions): Fault<'usage_bad'> {
  return new Fault('usage_bad', { problem, fix }, options)
}

export function notFound(what: string, fix: string): Fault<'not_found'> {
  return new Fault('not_found', { problem: `${what} not found`, fix })
}

export function badValue(name: string, text: string, fix: string): Fault<'usage_bad'> {
  return wrongUse(`${name} is ${JSON.stringify(text.slice(0, 100))}`, fix)
}

type NumberRange = { min: number; max: number }

export function parsedOption(
  flags: string,
  description: string,
  parse: (name: string, text: string) => unknown,
): Option {
  const option = new Option(flags, description)
  return option.argParser((text: string) => parse(`--${option.name()}`, text))
}

/** Its help states the range that its parser accepts. */
export function ranged(flags: string, description: string, { min, max }: NumberRange): Option {
  return parsedOption(flags, `${description}: ${min} to ${max}`, (name, text) => {
    const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    if (number >= min && number <= max) return number
    throw badValue(name, text, `give a whole number from ${min} to ${max}`)
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
  const known = words.length === 0 ? 'none: there are none' : words.join(', ')
  throw badValue(name, text, `${didYouMean(text, words)}use ${known}`)
}

export function noDeposit(id: string): Fault {
  const fix = 'use a number from "bin/depositd deposits list", an id of the service, or a transaction'
  return notFound(`deposit ${id}`, fix)
}

/** @throws Fault `not_found`, or `usage_bad` that lists the deposits that share the reference */
export function onlyOne<Deposit extends { id: bigint }>(id: string, shown: readonly Deposit[]): Deposit {
  const [deposit, ...others] = shown
  if (deposit === undefined) throw noDeposit(id)
  if (others.length === 0) return deposit
  const ids = shown.map((one) => one.id).join(', ')
  throw wrongUse(`${id} belongs to several deposits: ${ids}`, 'use the number of one of them')
}

const unitMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Like `30m`, `24h` or `7d`, in milliseconds; null if it is not a span. */
function parseSpan(text: string): number | null {
  const [, digits, unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? []
  return digits === undefined ? null : Number(digits) * (unitMs[unit] ?? 0)
}

/** How long, like `24h`; its value is in milliseconds. */
export function spanOption(flags: string, description: string): Option {
  return parsedOption(flags, description, (name, text) => {
    const span = parseSpan(text)
    if (span !== null) return span
    throw badValue(name, text, 'give how long, like 30m, 24h or 7d')
  })
}

/** Of a price that an option gives. */
export const priceDecimals = 6

export const timeForms = 'give a day or a time, like 2026-11-20 or 2026-11-20T08:00:00Z'

export function timeOption(flags: string, description: string): Option {
  return parsedOption(flags, description, (name, text) => timeOf(name, text))
}

/**
 * With `spanSign`, also how long, like `24h`: 1 from now, -1 ago.
 * @throws Fault `usage_bad`
 */
export function timeOf(name: string, text: string, spanSign?: 1 | -1): Date {
  const span = spanSign === undefined ? null : spanSign * (parseSpan(text) ?? Number.NaN)
  const time = span === null || Number.isNaN(span) ? parseTime(text) : new Date(Date.now() + span)
  if (time !== null) return time
  throw badValue(name, text, span === null ? timeForms : `${timeForms}, or how long, like 24h or 3d`)
}

/** @throws Fault `usage_bad` if the text is blank */
export function textOf(name: string, text: string): string {
  const trimmed = text.trim()
  if (trimmed !== '') return trimmed
  throw wrongUse(`${name} is empty`, 'give a text; it is stored permanently')
}
