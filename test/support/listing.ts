import type { IncomingMessage } from 'node:http'
import type { z } from 'zod'
import { defaultService } from '../../src/core/evidence.ts'
import { createDepositClient, type DepositClient } from '../../src/provider/deposit-client.ts'
import { listSchema } from '../../src/provider/profile/profile-schema.ts'
import { createServiceCall } from '../../src/provider/service-call.ts'
import { profileOf } from './profile.ts'
import { startRawService } from './raw-service.ts'
import { keyAuth } from './service-auth.ts'

export type ListedRecord = { id: string; created_at: string; updated_at?: string; status: string }

type Instead = { status: number; body: string }

export type ListForm = z.input<typeof listSchema>

/** A service that lists records in any of the ways that there are; what it does can be changed at any time. */
export type Listing = AsyncDisposable & {
  client: DepositClient
  /** Oldest first. */
  records: ListedRecord[]
  /** No page holds more. */
  pageMax: number
  /** The request at hand, before it is answered; it may also answer in its stead. */
  before: (request: URL) => void | Instead | Promise<void | Instead>
  /** What was asked for: paths with their queries. */
  asked: string[]
}

export async function startListing(form: ListForm): Promise<Listing> {
  const list = listSchema.parse({ one: '/v1/proxies/deposits/{id}', ...form })
  const answer = async (request: IncomingMessage) => {
    const url = new URL(request.url ?? '', 'http://service')
    listing.asked.push(url.pathname + url.search)
    const instead = await listing.before(url)
    if (instead) return { headers: {}, ...instead }
    const id = /deposits\/(.+)$/.exec(url.pathname)?.[1]
    return id === undefined ? page(listing, url.searchParams) : single(listing, decodeURIComponent(id))
  }
  const server = await startRawService((request, response) => {
    void answer(request).then(
      ({ status, headers, body }) => response.writeHead(status, headers).end(body),
      () => response.writeHead(500).end('broken'),
    )
  })
  const pace = { now: () => new Date(), random: () => 0, wait: () => Promise.resolve() }
  const call = createServiceCall({ url: server.url, auth: keyAuth('key'), attemptsMax: 1 }, undefined, pace)
  const { record } = profileOf('depositd')
  const listing: Listing = {
    client: createDepositClient({ name: defaultService, url: server.url, call }, { list, record }),
    records: [],
    pageMax: 10,
    before: () => undefined,
    asked: [],
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
  return listing
}

type Answer = { status: number; headers: Record<string, string>; body: string }

function single({ records }: Listing, id: string): Answer {
  const found = records.find((one) => one.id === id)
  return found === undefined
    ? { status: 404, headers: {}, body: '{"code":"not_found"}' }
    : { status: 200, headers: {}, body: JSON.stringify(found) }
}

/** One page of a service whose cursors name the last record, and whose page numbers begin with 1. */
function page(listing: Listing, query: URLSearchParams): Answer {
  const { list } = listing.client
  const sorted = sortedSince(listing, query)
  const size = Math.min(listing.pageMax, Number(query.get(list.parameters.limit) ?? listing.pageMax))
  const start = startOf(list, sorted, { query, size })
  if (start < 0) return { status: 400, headers: {}, body: '{"code":"cursor_invalid"}' }
  const data = sorted.slice(start, start + size)
  const last = start + size < sorted.length ? (data.at(-1)?.id ?? null) : null
  const next = new URLSearchParams({ ...Object.fromEntries(query), [list.parameters.cursor]: last ?? '' })
  const link = `</v1/x>; rel="prev", <${list.path}?${next.toString()}>; rel="next"`
  return {
    status: 200,
    headers: list.pages === 'link' && last !== null ? { link } : {},
    body: JSON.stringify({ data, next_cursor: last }),
  }
}

function sortedSince({ client: { list }, records }: Listing, query: URLSearchParams): ListedRecord[] {
  const from = list.since === undefined ? null : query.get(list.since.parameter)
  const timeOf = (one: ListedRecord) =>
    list.since?.of === 'updated' ? (one.updated_at ?? one.created_at) : one.created_at
  const wanted = records.filter((one) => from === null || Date.parse(timeOf(one)) >= Date.parse(from))
  return list.order === 'newest-first' ? wanted.toReversed() : wanted
}

type Asked = { query: URLSearchParams; size: number }

function startOf(
  { pages, parameters }: DepositClient['list'],
  sorted: ListedRecord[],
  { query, size }: Asked,
): number {
  if (pages === 'page') return (Number(query.get(parameters.page)) - 1) * size
  if (pages === 'offset') return Number(query.get(parameters.offset))
  const after = query.get(parameters.cursor)
  if (after === null || pages === 'since') return 0
  const place = sorted.findIndex(({ id }) => id === after)
  return place < 0 ? -1 : place + 1
}
