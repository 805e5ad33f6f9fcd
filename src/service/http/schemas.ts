import { z } from 'zod'

/** Chosen by the caller. Limited to characters that are safe in a path, a log line and a spreadsheet. */
export const idText = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$/, {
  error: 'must be 1 to 128 letters, digits or . _ : @ -, and begin with a letter or digit',
})

/** A positive integer in a query. */
export function countText(max: number) {
  const error = `must be a whole number from 1 to ${max}`
  return z
    .string()
    .regex(/^[1-9]\d{0,5}$/, { error })
    .transform(Number)
    .pipe(z.int().min(1).max(max, { error }))
}

export const listLimitDefault = 50
export const listLimitMax = 500

/** The query of every list. `cursor` is decoded by the list that issued it. */
export const pageQuery = z.strictObject({
  limit: countText(listLimitMax).optional(),
  cursor: z.string().min(1).max(200).optional(),
})

/** A page of a list. `next_cursor` is the `cursor` of the next page, and null on the last. */
export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.strictObject({ data: z.array(item), next_cursor: z.string().nullable() })
}

/** An integer in base units of an asset. It is a string because JSON numbers lose precision. */
export const baseUnits = z.string().regex(/^(?:0|[1-9]\d*)$/)

/** ISO 8601 with an offset, in the range that Postgres supports. */
export const timeText = z.iso
  .datetime({ offset: true, error: 'must be an ISO 8601 time with its offset' })
  .refine((text) => !(Date.parse(text) < 0), { error: 'lies before 1970' })

export const depositAddressSchema = z
  .strictObject({ network: z.string(), address: z.string() })
  .meta({ id: 'DepositAddress' })
