/** Reads a day or a time of ISO 8601; null where it is neither, or none of the calendar. */
export function parseTime(text: string): Date | null {
  const time = /^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d))?$/.test(text) ? new Date(text) : null
  return time !== null && !Number.isNaN(time.getTime()) ? time : null
}

/** The earliest of the times that are known; null where none is. */
export function earliest(times: readonly (Date | null)[]): Date | null {
  const known = times.filter((time) => time !== null).map((time) => time.getTime())
  return known.length === 0 ? null : new Date(Math.min(...known))
}

/** The latest of the times that are known; null where none is. */
export function latest(times: readonly (Date | null)[]): Date | null {
  const known = times.filter((time) => time !== null).map((time) => time.getTime())
  return known.length === 0 ? null : new Date(Math.max(...known))
}
