import { parseTime } from '../../core/time.ts'
import type { Moments } from '../../store/ledger/accounts.ts'
import { badValue, timeForms, wrongUse } from '../options.ts'

export type SpanOptions = { from?: string; to?: string; asOf?: string; recordedAsOf?: string }

/** In microseconds, the precision of PostgreSQL; inclusive; null if not given. */
export type TimeBounds = {
  from: bigint | null
  until: bigint | null
  recordedUntil: bigint | null
}

const dayMicros = 86_400_000_000n

/**
 * A day as the end includes the whole day, in UTC. A time in `--to` is exclusive, so that spans can adjoin;
 * other times are inclusive.
 * @throws Fault `usage_bad`
 */
export function spanOf({ from, to, asOf, recordedAsOf }: SpanOptions): TimeBounds {
  const end = optional('to', to, (begin, isDay) => (isDay ? begin + dayMicros : begin) - 1n)
  const span = {
    from: optional('from', from, (begin) => begin),
    until: end ?? optional('as-of', asOf, lastOf),
    recordedUntil: optional('recorded-as-of', recordedAsOf, lastOf),
  }
  if (span.from === null || span.until === null || span.from <= span.until) return span
  throw wrongUse('the end is before --from', 'give a later end, or an earlier --from')
}

function lastOf(begin: bigint, isDay: boolean): bigint {
  return isDay ? begin + dayMicros - 1n : begin
}

function optional(
  name: string,
  text: string | undefined,
  meant: (begin: bigint, isDay: boolean) => bigint,
): bigint | null {
  if (text === undefined) return null
  const begin = microsOf(text)
  if (begin !== null) return meant(begin, !text.includes('T'))
  throw badValue(`--${name}`, text, timeForms)
}

/** `Date` has milliseconds; the three digits after them are added. */
function microsOf(text: string): bigint | null {
  const time = parseTime(text)
  const fraction = /\.(\d+)/.exec(text)?.[1] ?? ''
  if (time === null || fraction.length > 6) return null
  return BigInt(time.getTime()) * 1000n + BigInt(fraction.padEnd(6, '0').slice(3, 6) || '0')
}

/** In UTC with all six digits. */
export function momentText(micros: bigint): string {
  const rest = ((micros % 1000n) + 1000n) % 1000n
  const milliseconds = new Date(Number((micros - rest) / 1000n)).toISOString().slice(0, -1)
  return `${milliseconds}${rest.toString().padStart(3, '0')}Z`
}

/** @throws Fault `usage_bad` unless a month like `2026-01` */
export function monthOption(text: string): string {
  if (/^\d{4}-(0[1-9]|1[0-2])$/.test(text)) return text
  throw badValue('--period', text, 'give a month like 2026-01')
}

export type BooksOptions = Pick<SpanOptions, 'asOf' | 'recordedAsOf'> & { period?: string }

/**
 * Inclusive moments as texts for Postgres; null without a limit.
 * @throws Fault `usage_bad`
 */
export function booksOf({ period, ...options }: BooksOptions): Required<Moments> {
  const { until, recordedUntil } = spanOf(options)
  const month = period === undefined ? null : monthOption(period)
  return { period: month, asOf: textOf(until), recordedAsOf: textOf(recordedUntil) }
}

/**
 * The moment that a report is about: the end of its month or span, and now if that is later.
 * @throws Fault `usage_bad`
 */
export function momentOf({ period, ...options }: BooksOptions & Pick<SpanOptions, 'to'>): string {
  const end = period === undefined ? spanOf(options).until : lastOfMonth(monthOption(period))
  const now = BigInt(Date.now()) * 1000n
  return momentText(end === null || end > now ? now : end)
}

function lastOfMonth(month: string): bigint {
  const [year = 0, number = 0] = month.split('-').map(Number)
  return BigInt(Date.UTC(year, number)) * 1000n - 1n
}

function textOf(micros: bigint | null): string | null {
  return micros === null ? null : momentText(micros)
}
