import { z } from 'zod'
import { timeField } from './field-schema.ts'
import { pathSchema } from './path.ts'

const callPath = z.string().regex(/^\/[^\s?#]*$/, 'is no path of a call: it begins with /')
const parameter = z.string().min(1)

/**
 * How the service lists its deposits. The interface names the call and nothing more; where nothing is said, pages are
 * those of the project's own service.
 */
export const listSchema = z
  .strictObject({
    path: callPath.default('/v1/proxies/deposits'),
    /** Sent with every page, such as an order to sort by. */
    query: z.record(z.string(), z.string()).default({}),
    /**
     * How one page leads to the next: by a cursor in the answer, by counting pages or records, by asking again from
     * the time of the last record on, or by the header `Link` with `rel="next"`.
     */
    pages: z.enum(['cursor', 'page', 'offset', 'since', 'link']).default('cursor'),
    /** By the time of the records; of which, says `time`. */
    order: z.enum(['newest-first', 'oldest-first']).default('newest-first'),
    parameters: z
      .strictObject({
        limit: parameter.default('limit'),
        cursor: parameter.default('cursor'),
        page: parameter.default('page'),
        offset: parameter.default('offset'),
      })
      .prefault({}),
    /** How many records a page is asked for. A service may give fewer. */
    limit: z.int().min(1).max(1000).default(100),
    firstPage: z.int().min(0).max(1).default(1),
    /** Where the records are in the answer; null for an answer that is the list itself. */
    items: pathSchema.nullable().default('data'),
    /** Where the cursor of the next page is; nothing, null or an empty text on the last page. */
    next: pathSchema.default('next_cursor'),
    /** The time of a record that the list is in order of; without it, `createdAt` of the record. */
    time: timeField('optional').optional(),
    /** Asks only for what was created, or updated, since a time; without it, the service cannot. */
    since: z
      .strictObject({
        parameter,
        of: z.enum(['created', 'updated']),
        as: z.enum(['iso', 's', 'ms']).default('iso'),
      })
      .optional(),
    /**
     * Where one record can be read alone: the path with `{id}` for its id, and where the record is in the answer if it
     * is not the answer itself. Without it, records are read in lists alone.
     */
    one: z
      .preprocess(
        (value) => (typeof value === 'string' ? { path: value } : value),
        z.strictObject({
          path: callPath.refine((path) => path.includes('{id}'), 'names no {id}'),
          record: pathSchema.optional(),
        }),
      )
      .optional(),
    /** For how many days records stay listed; without it, for ever. What is older is not missed. */
    keptDays: z.int().min(1).optional(),
  })
  .superRefine(({ pages, order, since }, context) => {
    if (pages !== 'since') return
    const refuse = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message })
    if (since === undefined) refuse('since', 'is needed where pages are by since')
    if (order !== 'oldest-first') refuse('order', 'must be oldest-first where pages are by since')
  })

export type ListProfile = z.output<typeof listSchema>
