/** Reads a day or a time of ISO 8601; null where it is neither, or none of the calendar. */
export function parseTime(text: string): Date | null {
  const [, day] = /^(\d{4}-\d\d-\d\d)(T[\d:.]+(Z|[+-]\d\d:\d\d))?$/.exec(text) ?? []
  if (day === undefined || !isOfCalendar(day)) return null
  const time = new Date(text)
  return Number.isNaN(time.getTime()) ? null : time
}

/** `Date` takes 30 February for a day of March. */
function isOfCalendar(day: string): boolean {
  const time = new Date(day)
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(day)
}

/** The earliest of the times that are known; null where none is. */
export function earliest(times: readonly (Date | null)[]): Date | null {
  let found: Date | null = null
  for (const time of times) if (time !== null && (found === null || time < found)) found = time
  return found
}

/** The latest of the times that are known; null where none is. */
export function latest(times: readonly (Date | null)[]): Date | null {
  let found: Date | null = null
  for (const time of times) if (time !== null && (found === null || time > found)) found = time
  return found
}
