import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, describe, expect, test } from 'vitest'
import {
  findAddressLists,
  findDepositList,
  publishedPaths,
} from '../../../src/provider/discover/find-calls.ts'
import { findFilter } from '../../../src/provider/discover/find-filter.ts'
import { ownersIn } from '../../../src/provider/discover/find-owners.ts'
import { findPaging, findSingle } from '../../../src/provider/discover/find-paging.ts'
import { createProbe, type ProbedAnswer } from '../../../src/provider/discover/probe.ts'
import { columnsOf } from '../../../src/provider/infer/columns.ts'
import { createServiceCall } from '../../../src/provider/service-call.ts'
import { serviceAuth } from '../../support/service-auth.ts'

type Request = { path: string; query: URLSearchParams; url: string }
type Answer = { body: unknown; link?: string } | null

const stack = new AsyncDisposableStack()
afterAll(() => stack.disposeAsync())

/** A service that is nothing but these answers, for a key. */
async function serve(answer: (request: Request) => Answer, key = 'key') {
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', `http://${request.headers.host}`)
    const isKnown = request.headers['x-api-key'] === 'key'
    const found = isKnown ? answer({ path: url.pathname, query: url.searchParams, url: url.origin }) : null
    const status = isKnown ? 404 : 401
    response.writeHead(found === null ? status : 200, found?.link === undefined ? {} : { link: found.link })
    response.end(JSON.stringify(found?.body ?? {}))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  stack.defer(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const auth = serviceAuth({ scheme: 'header', secret: 'SERVICE_API_KEY' }, { SERVICE_API_KEY: key })
  return createProbe(createServiceCall({ url, auth }))
}

const address = (place: number) => `0x${place.toString(16).padStart(40, '0')}`
const minute = 60_000
const start = Date.parse('2026-11-20T10:00:00Z')

/** Newest first. */
const records = Array.from({ length: 9 }, (_, place) => ({
  id: `d-${90 - place}`,
  tx: `0x${(90 - place).toString(16).padStart(64, '0')}`,
  to: address(place % 3),
  created: new Date(start - place * minute).toISOString(),
  updated: new Date(start + (place === 4 ? 10 : 1 - place) * minute).toISOString(),
}))

const pageOf = (from: number, size: number) => records.slice(from, from + size)
const number = (query: URLSearchParams, name: string, usual: number) => Number(query.get(name) ?? usual)

const shapes: Record<string, { answer: (request: Request) => Answer; section: object }> = {
  'a cursor in the answer': {
    answer: ({ query }) => {
      const [from, size] = [number(query, 'after', 0), number(query, 'per_page', 5)]
      const next = from + size < records.length ? `${from + size}` : null
      return { body: { rows: pageOf(from, size), paging: { after: next } } }
    },
    section: {
      items: 'rows',
      pages: 'cursor',
      next: 'paging.after',
      parameters: { limit: 'per_page', cursor: 'after' },
    },
  },
  'the id of the last record': {
    answer: ({ query }) => {
      const [after, size] = [query.get('starting_after'), number(query, 'limit', 5)]
      const from = after === null ? 0 : records.findIndex(({ id }) => id === after) + 1
      return { body: { data: pageOf(from, size), has_more: from + size < records.length } }
    },
    section: {
      items: 'data',
      pages: 'cursor',
      next: 'data.-1.id',
      parameters: { cursor: 'starting_after' },
    },
  },
  'the id of the last record of a list without an object': {
    answer: ({ query }) => {
      const [last, size] = [query.get('lastId'), number(query, 'limit', 5)]
      return { body: pageOf(last === null ? 0 : records.findIndex(({ id }) => id === last) + 1, size) }
    },
    section: { items: null, pages: 'cursor', next: '-1.id', parameters: { cursor: 'lastId' } },
  },
  'pages from 0': {
    answer: ({ query }) => {
      const size = number(query, 'size', 5)
      return { body: { content: pageOf(number(query, 'page', 0) * size, size) } }
    },
    section: { items: 'content', pages: 'page', firstPage: 0, parameters: { limit: 'size' } },
  },
  'pages from 1, by a name of its own': {
    answer: ({ query }) => {
      const size = number(query, 'limit', 5)
      return { body: { list: pageOf((number(query, 'p', 1) - 1) * size, size) } }
    },
    section: { items: 'list', pages: 'page', parameters: { page: 'p' } },
  },
  'an offset into a list without an object': {
    answer: ({ query }) => ({ body: pageOf(number(query, 'skip', 0), number(query, 'take', 5)) }),
    section: { items: null, pages: 'offset', parameters: { limit: 'take', offset: 'skip' } },
  },
  'the header Link': {
    answer: ({ query, url }) => {
      const [from, size] = [number(query, 'x', 0), number(query, 'limit', 5)]
      const link = `<${url}/v1/deposits?x=${from + size}&limit=${size}>; rel="next"`
      return { body: pageOf(from, size), ...(from + size < records.length && { link }) }
    },
    section: { items: null, pages: 'link' },
  },
  'a link in the answer': {
    answer: ({ query, url }) => {
      const [from, size] = [number(query, 'x', 0), number(query, 'limit', 5)]
      const next = from + size < records.length ? `${url}/v1/deposits?x=${from + size}&limit=${size}` : null
      return { body: { data: pageOf(from, size), links: { self: `${url}/v1/deposits`, next } } }
    },
    section: { items: 'data', pages: 'link', next: 'links.next' },
  },
  'one page for ever': {
    answer: () => ({ body: { data: records } }),
    section: { items: 'data' },
  },
}

describe('pages', () => {
  test.each(Object.entries(shapes))('%s', async (_name, { answer, section }) => {
    const { probe } = await serve((request) => (request.path === '/v1/deposits' ? answer(request) : null))
    const call = await findDepositList(probe, await publishedPaths(probe))
    expect(call).toMatchObject({ path: '/v1/deposits', others: [] })
    const found = await findPaging(probe, { path: '/v1/deposits', answer: call?.answer as ProbedAnswer })
    expect(found.section).toEqual({ path: '/v1/deposits', ...section })
    const isPaged = 'pages' in section
    expect(found.notes.find(({ path }) => path[1] === 'pages')?.isProved).toBe(isPaged)
  })

  test('of three records no page is told from the next', async () => {
    const { probe } = await serve(() => ({ body: { data: records.slice(0, 3) } }))
    const answer = await probe('/v1/deposits')
    const { notes, section } = await findPaging(probe, {
      path: '/v1/deposits',
      answer: answer as ProbedAnswer,
    })
    expect(section).toEqual({ path: '/v1/deposits', items: 'data' })
    expect(notes).toMatchObject([{ isProved: false, text: expect.stringContaining('at least 4 are needed') }])
  })

  test('a size that the service refuses is not asked for', async () => {
    const { probe } = await serve(({ query }) => {
      const size = number(query, 'limit', 5)
      return size > 50 ? null : { body: { data: pageOf(number(query, 'offset', 0), size) } }
    })
    const answer = await probe('/v1/deposits')
    const { section } = await findPaging(probe, { path: '/v1/deposits', answer: answer as ProbedAnswer })
    expect(section).toMatchObject({ limit: 50, pages: 'offset' })
  })
})

describe('a filter by time', () => {
  test.each([
    ['created', 'created_after', 'iso'],
    ['updated', 'updated_since', 's'],
    ['updated', 'since', 'ms'],
  ] as const)('of the time %s is found as %s, in %s', async (of, name, as) => {
    const { probe } = await serve(({ query }) => {
      const text = query.get(name)
      if (text === null) return { body: { data: records } }
      const isNumber = /^\d+$/.test(text)
      // Another format is refused.
      if ((as === 'iso') === isNumber || (isNumber && text.length > 11 !== (as === 'ms'))) return null
      const time = as === 'iso' ? Date.parse(text) : Number(text) * (as === 's' ? 1000 : 1)
      return { body: { data: records.filter((record) => Date.parse(record[of]) >= time) } }
    })
    const answer = (await probe('/v1/deposits')) as ProbedAnswer
    const found = await findFilter(probe, { path: '/v1/deposits', answer })
    expect(found).toMatchObject({ section: { parameter: name, of, as }, note: { isProved: true } })
  })

  test('that is ignored is none', async () => {
    const { probe } = await serve(() => ({ body: { data: records } }))
    const answer = (await probe('/v1/deposits')) as ProbedAnswer
    expect(await findFilter(probe, { path: '/v1/deposits', answer })).toBeNull()
  })
})

test('the call of one record is found, and where its answer has the record', async () => {
  const [record] = records
  const { probe } = await serve(({ path }) =>
    path === `/v1/deposits/${record?.id}` ? { body: { deposit: record, ok: true } } : null,
  )
  const call = { idPath: 'id', record }
  expect(await findSingle(probe, '/v1/deposits', call)).toEqual({
    path: '/v1/deposits/{id}',
    record: 'deposit',
  })
  expect(await findSingle(probe, '/v1/others', call)).toBeNull()
})

describe('owners', () => {
  const rule = { chain: 'base', coin: 'USDC', address: address(99) }
  const lists: Record<string, { rows: unknown; found: object | null }> = {
    'with a list of addresses and a recipient are channels': {
      rows: [0, 1, 2].map((place) => ({
        name: `c-${place}`,
        inboxes: [{ chain: 'base', value: address(place) }],
        payout: rule,
      })),
      found: {
        kind: 'channel',
        record: {
          id: 'name',
          addresses: 'inboxes',
          network: 'chain',
          address: 'value',
          forwardNetwork: 'payout.chain',
          forwardAsset: 'payout.coin',
          forwardRecipient: 'payout.address',
        },
      },
    },
    'are not called by a short number': {
      rows: [0, 1, 2].map((place) => ({
        outId: 101 + place,
        name: `c-${place}`,
        inboxes: [{ chain: 'base', value: address(place) }],
        payout: rule,
      })),
      found: { kind: 'channel', record: { id: 'name' } },
    },
    'of one address each are wallets': {
      rows: [0, 1, 2].map((place) => ({ id: `w-${place}`, network: 'base', address: address(place) })),
      found: {
        kind: 'stable_wallet',
        record: { id: 'id', addresses: null, network: 'network', address: 'address' },
      },
    },
    'without a network are none': {
      rows: [0, 1, 2].map((place) => ({ id: `w-${place}`, address: address(place) })),
      found: null,
    },
    'whose addresses received nothing are none': {
      rows: [5, 6].map((place) => ({ id: `w-${place}`, network: 'base', address: address(place) })),
      found: null,
    },
  }
  test.each(Object.entries(lists))('%s', async (_name, { rows, found }) => {
    const { probe } = await serve(({ path }) => (path === '/v1/accounts' ? { body: { rows } } : null))
    const addresses = new Set(records.map(({ to }) => to))
    const [list] = await findAddressLists(probe, { list: '/v1/deposits', published: [] })
    const listed = list?.answer.listing?.records ?? []
    const owners = ownersIn(listed, { addresses, columns: columnsOf(records) })
    if (found === null) expect(owners).toBeNull()
    else expect(owners).toMatchObject(found)
  })
})

test.each([
  ['deposits name each owner', (place: number) => `c-${place}`, true],
  ['deposits name a chain that differs as the owners do', (place: number) => `c-${(place + 1) % 3}`, false],
  ['only one owner has deposits', (place: number) => (place === 0 ? 'c-0' : null), false],
])('the id of owners is proved by deposits: %s', (_name, owner, isProved) => {
  const rows = [0, 1, 2].map((place) => ({ id: `c-${place}`, network: 'base', address: address(place) }))
  const deposits = records.flatMap((record, place) => {
    const named = owner(place % 3)
    return named === null ? [] : [{ ...record, owner: named }]
  })
  const addresses = new Set(deposits.map(({ to }) => to))
  const found = ownersIn(rows, { addresses, columns: columnsOf(deposits) })
  expect(found?.notes.filter(({ path }) => path.at(-1) === 'id')).toMatchObject([{ isProved }])
})

test('a service that refuses the key is not one without a list', async () => {
  const without = await serve(() => null)
  expect(await findDepositList(without.probe, [])).toBeNull()
  expect(without.counts).toMatchObject({ answered: 0, refusedKeys: 0 })
  const refusing = await serve(() => ({ body: { data: records } }), 'another key')
  expect(await findDepositList(refusing.probe, [])).toBeNull()
  expect(refusing.counts.refusedKeys).toBe(refusing.counts.requests)
})
