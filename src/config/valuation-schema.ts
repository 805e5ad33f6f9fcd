import { z } from 'zod'
import { duration } from './yaml-file.ts'

/** Currency in which amounts are valued, apart from the books. Without it, they are not. */
export const valuationSection = z
  .strictObject({
    currency: z.string().regex(/^[A-Z]{3}$/, 'is not three capital letters, like EUR'),
    /** Older prices are ignored. */
    maxAge: duration.refine((ms) => ms > 0, 'is no time at all').prefault('24h'),
  })
  .nullable()
  .default(null)
