import type { Brand } from '../core/brand.ts'

/** A month of the books, in UTC: `2026-01`. */
export type Period = Brand<string, 'Period'>

/** Null if the text is not a month. */
export function parsePeriod(text: string): Period | null {
  return /^\d{4}-(0[1-9]|1[0-2])$/.test(text) ? (text as Period) : null
}
