import { z } from 'zod'
import { match } from './route-match.ts'

const account = z.string().max(300)
const label = z
  .string({ error: 'is no text: write it in quotes, like "1100"' })
  .regex(/^[^\s\p{C}]([^\p{C}]{0,98}[^\s\p{C}])?$/u, 'is no text of 1 to 100 characters')

/** Settings of the books: whose money a deposit is, and the names of accounts in other books. */
export const accountsSection = z
  .strictObject({
    /** Accounts that only people book to. */
    own: z.array(account).default([]),
    /** Account for the other side of a deposit; the first match applies. */
    contra: z.array(z.strictObject({ match: match.optional(), account })).default([]),
    /** The first match for an account applies. */
    labels: z
      .array(
        z
          .strictObject({ account, code: label.optional(), name: label.optional() })
          .refine(({ code, name }) => code !== undefined || name !== undefined, 'has neither code nor name'),
      )
      .default([]),
  })
  .prefault({})

export type AccountsSection = z.output<typeof accountsSection>
