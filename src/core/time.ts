/** ISO 8601 day or time; null also if it is not in the calendar. */
export function parseTime(text: string): Date | null {
  const [, day] = /^(\d{4}-\d\d-\d\d)(T[\d:.]+(Z|[+-]\d\d:\d\d))?$/.exec(text) ?? []
  if (day === undefined || !isOfCalendar(day)) return null
  const time = new Date(text)
  return Number.isNaN(time.getTime()) ? null : time
}

/** `Date` reads 30 February as a day in March. */
function isOfCalendar(day: string): boolean {
  const time = new Date(day)
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(day)
}

export function earliest(times: readonly (Date | null)[]): Date | null {
  let found: Date | null = null
  for (const time of times) if (time !== null && (found === null || time < found)) found = time
  return found
}

export function latest(times: readonly (Date | null)[]): Date | null {
  let found: Date | null = null
  for (const time of times) if (time !== null && (found === null || time > found)) found = time
  return found
}
