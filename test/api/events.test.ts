import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { numberEvents } from '../../src/store/events.ts'
import type { Books } from '../support/books.ts'
import { openReadBooks, type ReadClient, serveReadApi } from '../support/read-api.ts'

const stack = new AsyncDisposableStack()
let books: Books
let api: ReadClient

beforeAll(async () => {
  books = stack.use(await openReadBooks())
  api = await serveReadApi(books, stack)
})
afterAll(() => stack.disposeAsync())

type ListedEvent = {
  sequence: string
  type: string
  deposit_id: string | null
  previous: string | null
  service: string | null
  owner: { id: string } | null
  data: Record<string, string>
  journal: { id: string } | null
  links: Record<string, string | null>
}

type FeedAnswer = { data: ListedEvent[]; next: string }

const feed = async (query = '', token?: string): Promise<FeedAnswer> =>
  (await api.get(`/v1/events?limit=500${query}`, token)).body

async function add(type: string, deposit: number | null, data: object = {}): Promise<void> {
  await sql`
    insert into event_pending (type, deposit_id, data)
    values (${type}, ${deposit}, ${JSON.stringify(data)}::jsonb)`.execute(books.db)
  await numberEvents(books.db)
}

/** The parameter that continues after all that there is. */
const fromNow = async () => `&after=${(await feed()).next}`

describe('the feed', () => {
  test('is gapless, in pages that go on after `next`, and names the event before of each deposit', async () => {
    const whole = await feed()
    expect(whole.data.map(({ sequence }) => sequence)).toEqual(
      whole.data.map((_event, place) => `${place + 1}`),
    )
    expect(whole.next).toBe(whole.data.at(-1)?.sequence)
    const paged: object[] = []
    for (let after = '0'; after !== whole.next; ) {
      const { body } = await api.get(`/v1/events?limit=7&after=${after}`)
      paged.push(...body.data)
      after = body.next
    }
    expect(paged).toEqual(whole.data)
    expect(await feed(`&after=${whole.next}`)).toMatchObject({ data: [], next: whole.next })
    for (const [deposit, events] of Map.groupBy(whole.data, (event) => event.deposit_id))
      if (deposit !== null)
        expect(events.map(({ previous }) => previous)).toEqual([
          null,
          ...events.slice(0, -1).map(({ sequence }) => sequence),
        ])
  })

  test('has what happened to a deposit, with its owner, its journal and links', async () => {
    const { data } = await feed('&type=deposit.credit_safe')
    expect(data[0]).toMatchObject({
      type: 'deposit.credit_safe',
      deposit_id: '1',
      service: 'default',
      owner: { kind: 'channel', id: 'shop' },
      data: { amount: '100000000', account: 'liabilities:deposits:channel:shop' },
      links: { deposit: '/v1/deposits/1', mismatch: null },
    })
    const { journal, links } = data[0] as ListedEvent
    expect([links.journal, links.proof]).toEqual([
      `/v1/journals/${journal?.id}`,
      `/v1/journals/${journal?.id}/proof`,
    ])
    expect((await api.get(links.journal ?? '')).body).toMatchObject(journal ?? {})
    const [opened] = (await feed('&type=mismatch.opened')).data
    expect([opened?.journal, opened?.links.mismatch]).toEqual([
      null,
      `/v1/mismatches/${opened?.data.mismatch}`,
    ])
  })

  test('is filtered, and `next` is after what was passed over', async () => {
    const { next, data } = await feed()
    const filters = {
      type: (event: ListedEvent) => event.type === 'deposit.reconciled',
      service: (event: ListedEvent) => event.service === 'acme',
      owner: (event: ListedEvent) => event.owner?.id === 'savings',
    }
    const values = { type: 'deposit.reconciled', service: 'acme', owner: 'savings' }
    for (const [name, isOf] of Object.entries(filters)) {
      const filtered = await feed(`&${name}=${values[name as 'type']}`)
      expect(filtered.data.length).toBeGreaterThan(0)
      expect(filtered).toMatchObject({ data: data.filter(isOf), next })
    }
  })

  test('refuses to go on after a number that no event has yet', async () => {
    const { next } = await feed()
    const { body } = await api.get(`/v1/events?after=${BigInt(next) + 1n}`)
    expect(body).toMatchObject({ status: 400, code: 'cursor_invalid', errors: [{ parameter: 'after' }] })
    expect(body.detail).toContain(`beyond the newest event, ${next}`)
  })
})

describe('with wait', () => {
  test('it is answered as soon as there is a later event', async () => {
    const began = Date.now()
    const waiting = feed(`${await fromNow()}&wait=30s`)
    await add('deposit.observed', 1, { place: 'awaited' })
    expect((await waiting).data).toMatchObject([{ data: { place: 'awaited' } }])
    expect(Date.now() - began).toBeLessThan(15_000)
  })

  test('it is answered at once if there is one already, and empty if there is none in time', async () => {
    const began = Date.now()
    expect((await feed('&wait=60s')).data.length).toBeGreaterThan(0)
    expect((await feed(`${await fromNow()}&wait=1s`)).data).toEqual([])
    expect(Date.now() - began).toBeLessThan(15_000)
  })

  test('an event that does not pass the filter does not end it, and moves `next` on', async () => {
    const waiting = feed(`${await fromNow()}&owner=savings&wait=30s`)
    await add('deposit.observed', 1)
    await new Promise((resolve) => setTimeout(resolve, 1200))
    await add('deposit.observed', 4, { place: 'own' })
    const { data, next } = await waiting
    expect(data).toMatchObject([{ deposit_id: '4', data: { place: 'own' } }])
    expect(next).toBe((await feed()).next)
  })
})

describe('a limited token', () => {
  test('sees only the events of its owners, without what may name others', async () => {
    const token = await api.token({ owners: ['savings'] })
    await add('seal.published', null, { size: '1' })
    const all = (await feed('&owner=savings')).data
    const seen = await feed('', token)
    expect(seen.data.map(({ sequence }) => sequence)).toEqual(all.map(({ sequence }) => sequence))
    expect(seen.next).toBe((await feed()).next)
    const withDetail = all.find(({ data }) => data.detail !== undefined)
    const own = seen.data.find(({ sequence }) => sequence === withDetail?.sequence)
    const { subject: _subject, detail: _detail, ...rest } = withDetail?.data ?? {}
    expect([withDetail?.data.subject, own?.data]).toEqual([expect.any(String), rest])
  })

  test('sees the account of a credit if it is of its owners', async () => {
    const token = await api.token({ owners: ['savings'] })
    const from = await fromNow()
    const account = 'liabilities:deposits:stable_wallet:savings'
    await add('deposit.credit_safe', 4, { account, journal: '1' })
    await add('deposit.credit_safe', 4, { account: 'liabilities:deposits:channel:shop', amount: '1' })
    expect((await feed(from, token)).data.map(({ data }) => data)).toEqual([
      { account, journal: '1' },
      { amount: '1' },
    ])
  })

  test('of a service sees its events whole', async () => {
    const token = await api.token({ services: ['acme'] })
    const all = (await feed('&service=acme')).data
    expect((await feed('', token)).data).toEqual(all)
    expect(all.map(({ type }) => type)).toContain('mismatch.opened')
  })

  test('needs the scope', async () => {
    const token = await api.token({ scopes: ['read_books'] })
    expect((await api.get('/v1/events', token)).body.code).toBe('scope_insufficient')
  })
})
