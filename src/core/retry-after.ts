/**
 * How long a service asks to be left alone: seconds, or a date (RFC 9110). A date that has passed is 0.
 * @returns null where it says nothing that can be used, such as `-1` or `soon`.
 */
export function readRetryAfter(header: string | null, now: Date): number | null {
  if (header === null) return null
  const text = header.trim()
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000
  if (!/^[A-Z][a-z]{2,8},? .* GMT$/.test(text)) return null
  const until = Date.parse(text)
  return Number.isNaN(until) ? null : Math.max(0, until - now.getTime())
}
