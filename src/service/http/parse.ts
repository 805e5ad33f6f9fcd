import { z } from 'zod'
import { refusal } from './problem.ts'

/** Caller-chosen: any of these signs, so that it can stand in a path, a log line and a spreadsheet. */
export const idText = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$/, {
  error: 'must be 1 to 128 letters, digits or . _ : @ -, and begin with a letter or digit',
})

/** Parses once, at the edge, and names every fault at once. */
export function parseRequest<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const faults = result.error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.join('.')}: ${message}`,
  )
  throw refusal('request_invalid', faults.join('; ').slice(0, 1000))
}
