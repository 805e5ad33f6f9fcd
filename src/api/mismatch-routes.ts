import { z } from 'zod'
import { numberKey, pageQuery, readPageOf } from '../http/pages.ts'
import { timeText } from '../http/read-request.ts'
import { adviceOf } from '../presentation/mismatch.ts'
import { listMismatches, type MismatchLine, showMismatch } from '../store/mismatches/show-mismatches.ts'
import { mismatchDocument } from './deposit-documents.ts'
import { notFound } from './problem.ts'
import { defineRoute } from './route.ts'
import {
  listedMismatch,
  numberedPath,
  numberText,
  readPageSchema,
  shownMismatch,
  wordText,
} from './schemas.ts'

const mismatchesQuery = pageQuery.extend({
  kind: wordText.optional(),
  severity: listedMismatch.shape.severity.optional(),
  status: z
    .enum(['open', 'snoozed', 'all'])
    .describe('By default open; `snoozed` adds snoozed ones, `all` also resolved and cleared ones.')
    .optional(),
  service: wordText.optional(),
  network: wordText.optional(),
  deposit: numberText.describe('Number of a deposit.').optional(),
  since: timeText.describe('Opened at this time or later.').optional(),
  until: timeText.describe('Opened before this time.').optional(),
})

export type MismatchesQuery = z.output<typeof mismatchesQuery>

const alsoOf = { open: 'nothing', snoozed: 'snoozed', all: 'all' } as const

const paging = { list: 'mismatches', key: numberKey, keyOf: ({ id }: MismatchLine) => [id] }

/** New mismatches do not shift later pages. */
const listRoute = defineRoute({
  method: 'get',
  path: '/v1/mismatches',
  scope: 'read_deposits',
  summary: 'List mismatches, the newest first',
  description:
    'By any of the parameters. A token that is limited to owners sees those of their deposits; one that is limited to services, those of these services.',
  query: mismatchesQuery,
  status: 200,
  answer: readPageSchema(listedMismatch),
  refusals: ['cursor_invalid'],
  run: async (api, { query: { status = 'open', deposit, since, until, limit, cursor, ...filter } }) => {
    const { services, owners } = api.token
    const about = { deposit: deposit === undefined ? undefined : BigInt(deposit) }
    const wanted = {
      ...filter,
      ...about,
      openedFrom: since,
      openedBefore: until,
      services,
      owners,
      also: alsoOf[status],
      isNewestFirst: true,
    }
    const { page, next_cursor } = await readPageOf(paging, { limit, cursor }, (range) =>
      api.read((tx) =>
        listMismatches(tx, { ...wanted, limit: range.limit, after: range.after ?? undefined }),
      ),
    )
    return {
      data: page.map((line) => mismatchDocument(line, api)),
      next_cursor,
      as_of: api.asOf.toISOString(),
    }
  },
})

const showRoute = defineRoute({
  method: 'get',
  path: '/v1/mismatches/{id}',
  scope: 'read_deposits',
  summary: 'Show a mismatch',
  description:
    'With what it means, the next step and its history. The history is null for a token that is limited to owners.',
  parameters: numberedPath,
  status: 200,
  answer: shownMismatch,
  refusals: ['not_found'],
  run: (api, { parameters: { id } }) =>
    api.read(async (tx) => {
      const { services, owners } = api.token
      const filter = { ids: [BigInt(id)], services, owners, also: 'all', limit: 1 } as const
      const [[line], shown] = await Promise.all([listMismatches(tx, filter), showMismatch(tx, BigInt(id))])
      if (line === undefined || shown === null) throw notFound('mismatch', id)
      const { means, next } = adviceOf(shown)
      const history = shown.history.map(({ at, actor, action, text }) => ({
        at: at.toISOString(),
        actor,
        action,
        text,
      }))
      return {
        ...mismatchDocument(line, api),
        means,
        next,
        history: owners === null ? history : null,
        as_of: api.asOf.toISOString(),
      }
    }),
})

export const mismatchRoutes = [listRoute, showRoute]
