/**
 * In milliseconds. The header is in seconds, or a date (RFC 9110); one that has passed gives 0.
 * @returns null if the header has no usable value, such as `-1` or `soon`.
 */
export function readRetryAfter(header: string | null, now: Date): number | null {
  if (header === null) return null
  const text = header.trim()
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000
  if (!/^[A-Z][a-z]{2,8},? .* GMT$/.test(text)) return null
  const until = Date.parse(text)
  return Number.isNaN(until) ? null : Math.max(0, until - now.getTime())
}
