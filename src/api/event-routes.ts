import { z } from 'zod'
import { type EventType, eventTypes } from '../core/event.ts'
import { listLimitDefault, pageQuery } from '../http/pages.ts'
import { type FeedEvent, type FeedPage, readFeed } from '../store/events.ts'
import { journalLeaves } from '../store/ledger/row-proof.ts'
import { isAccountSeen } from './deposit-documents.ts'
import { refusal } from './problem.ts'
import { defineRoute, type ReadApi } from './route.ts'
import { listedEvent, readListSchema, sequenceText, waitMsIn, waitText, wordText } from './schemas.ts'

const eventsQuery = z.strictObject({
  after: sequenceText
    .describe('The `next` of the answer before. By default 0: from the first event on.')
    .optional(),
  limit: pageQuery.shape.limit,
  type: z.enum(eventTypes).optional(),
  service: wordText.optional(),
  owner: wordText.describe('Id of a channel or StableWallet.').optional(),
  wait: waitText
    .describe('If there is no event yet: answer when there is one, at the latest after this time.')
    .optional(),
})

const feedAnswer = readListSchema(listedEvent).extend({ next: sequenceText })

const feedRoute = defineRoute({
  method: 'get',
  path: '/v1/events',
  scope: 'read_deposits',
  summary: 'Read the feed of events',
  description:
    'In order of `sequence`, which has no gap. Ask again after `next`, whether there were events or not. A token that is limited to owners or services sees only theirs, so it sees gaps.',
  query: eventsQuery,
  status: 200,
  answer: feedAnswer,
  refusals: ['cursor_invalid'],
  run: async (api, { query: { wait, ...query } }) => {
    const { events, next } = await awaitEvents(api, query, waitMsIn(wait))
    const leaves = await journalLeaves(
      api.db,
      events.flatMap((event) => journalOf(event) ?? []),
    )
    const data = events.map((event) => eventDocument(event, leaves, api))
    return { data, next: next.toString(), as_of: new Date().toISOString() }
  },
})

export type EventsQuery = Partial<z.output<typeof eventsQuery>>
export type EventsAnswer = z.output<typeof feedAnswer>

type FeedQuery = Omit<z.output<typeof eventsQuery>, 'wait'>

async function awaitEvents(
  { db, token: { services, owners }, wait }: ReadApi,
  { after: afterText = '0', limit = listLimitDefault, type, ...about }: FeedQuery,
  waitMs: number,
): Promise<FeedPage> {
  const after = BigInt(afterText)
  const filter = { ...about, limit, types: type === undefined ? undefined : [type], services, owners }
  let page = await readFeed(db, after, filter)
  if (after > page.newest) throw beyondNewest(after, page)
  if (waitMs === 0 || !isAtEnd(page)) return page
  using turn = wait()
  for (const until = Date.now() + waitMs; Date.now() < until && isAtEnd(page); ) {
    if (!(await turn.pause())) break
    page = await readFeed(db, page.next, filter)
  }
  return page
}

/** Otherwise there is something to answer: events, or that some were passed over. */
function isAtEnd({ events, next, newest }: FeedPage): boolean {
  return events.length === 0 && next === newest
}

function beyondNewest(after: bigint, { newest }: FeedPage) {
  const detail = `${after} is beyond the newest event, ${newest}: it is of another database, or of before a restore`
  return refusal('cursor_invalid', `after ${detail}`, { errors: [{ parameter: 'after', detail }] })
}

const provedTypes: ReadonlySet<EventType> = new Set(['deposit.credit_safe', 'deposit.reconciled'])

function journalOf({ type, data: { journal } }: FeedEvent): bigint | null {
  return provedTypes.has(type) && typeof journal === 'string' ? BigInt(journal) : null
}

function eventDocument(
  event: FeedEvent,
  leaves: ReadonlyMap<bigint, string>,
  api: ReadApi,
): z.output<typeof listedEvent> {
  const { sequence, id, type, depositId, previous, service, owner, at, data } = event
  const journal = journalOf(event)
  return {
    sequence: sequence.toString(),
    id,
    type,
    deposit_id: depositId?.toString() ?? null,
    previous: previous?.toString() ?? null,
    service,
    owner,
    at: at.toISOString(),
    data: seenData(data, api),
    journal: journal === null ? null : { id: journal.toString(), leaf_hash: leaves.get(journal) ?? '' },
    links: {
      deposit: linkTo('deposits', depositId),
      mismatch: linkTo('mismatches', data.mismatch),
      journal: linkTo('journals', journal),
      proof: linkTo('journals', journal, '/proof'),
    },
  }
}

function linkTo(what: string, id: unknown, rest = ''): string | null {
  return typeof id === 'bigint' || typeof id === 'string' ? `/v1/${what}/${id}${rest}` : null
}

/** Without what may name other owners. */
function seenData({ account, subject, detail, ...data }: FeedEvent['data'], api: ReadApi): FeedEvent['data'] {
  const isLimited = api.token.owners !== null
  return {
    ...data,
    ...(typeof account === 'string' && isAccountSeen(account, api) && { account }),
    ...(subject !== undefined && !isLimited && { subject }),
    ...(detail !== undefined && !isLimited && { detail }),
  }
}

export const eventRoutes = [feedRoute]
