import { z } from 'zod'
import { timeField } from './field-schema.ts'
import { pathSchema } from './path.ts'

const callPath = z.string().regex(/^\/[^\s?#]*$/, 'is no path of a call: it begins with /')
const parameter = z.string().min(1)

/**
 * How the service lists its deposits. The API specification names only the call. The defaults describe the paging of
 * the project's own service.
 */
export const listSchema = z
  .strictObject({
    path: callPath.default('/v1/proxies/deposits'),
    /** Sent with every page, for example a sort order. */
    query: z.record(z.string(), z.string()).default({}),
    /**
     * How one page leads to the next: by a cursor in the answer, by counting pages or records, by asking again from the
     * time of the last record, or by the header `Link` with `rel="next"`.
     */
    pages: z.enum(['cursor', 'page', 'offset', 'since', 'link']).default('cursor'),
    /** Order by the time of the records; `time` names the field. */
    order: z.enum(['newest-first', 'oldest-first']).default('newest-first'),
    parameters: z
      .strictObject({
        limit: parameter.default('limit'),
        cursor: parameter.default('cursor'),
        page: parameter.default('page'),
        offset: parameter.default('offset'),
      })
      .prefault({}),
    /** Records requested per page. A service may return fewer. */
    limit: z.int().min(1).max(1000).default(100),
    firstPage: z.int().min(0).max(1).default(1),
    /** Path of the records in the answer; null if the answer is the list itself. */
    items: pathSchema.nullable().default('data'),
    /** Path of the cursor of the next page; missing, null or an empty text on the last page. */
    next: pathSchema.default('next_cursor'),
    /** The time by which the list is ordered; default: `createdAt` of the record. */
    time: timeField('optional').optional(),
    /** Requests only records created, or updated, since a time; absent if the service does not support it. */
    since: z
      .strictObject({
        parameter,
        of: z.enum(['created', 'updated']),
        as: z.enum(['iso', 's', 'ms']).default('iso'),
      })
      .optional(),
    /**
     * The call for a single record: a path with `{id}`, and the path of the record in the answer if it is not the
     * answer itself. Absent: records are read from lists only.
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
    /** How many days records stay listed; default: for ever. Older records do not count as missed. */
    keptDays: z.int().min(1).optional(),
  })
  .superRefine(({ pages, order, since }, context) => {
    if (pages !== 'since') return
    const refuse = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message })
    if (since === undefined) refuse('since', 'is needed if pages are by since')
    if (order !== 'oldest-first') refuse('order', 'must be oldest-first if pages are by since')
  })

export type ListProfile = z.output<typeof listSchema>
