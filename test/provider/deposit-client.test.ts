import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { PageMark } from '../../src/provider/paging.ts'
import { at } from '../support/evidence.ts'
import { type ListedRecord, type ListForm, type Listing, startListing } from '../support/listing.ts'

let stack: AsyncDisposableStack
beforeEach(() => {
  stack = new AsyncDisposableStack()
})
afterEach(() => stack.disposeAsync())

async function listing(form: ListForm, records: ListedRecord[] = []): Promise<Listing> {
  const started = stack.use(await startListing(form))
  started.records = records
  return started
}

const records = (count: number, time = (place: number) => at(place)): ListedRecord[] =>
  Array.from({ length: count }, (_, place) => ({
    id: `dep_${place}`,
    created_at: time(place).toISOString(),
    status: 'confirmed',
  }))

/** Ids in the order in which their pages brought them, and how often records were seen to shift. */
async function readAll({ client }: Listing, since: Date | null = null) {
  const ids: (string | null)[] = []
  let mark: PageMark = null
  let drifts = 0
  for (let pages = 1; pages < 100; pages++) {
    const page = await client.listDeposits({ mark, since })
    ids.push(...(page?.records.map(({ id }) => id) ?? []))
    if (page?.next?.isDrift) drifts++
    if (!page?.next) return { ids, distinct: new Set(ids), pages, drifts }
    mark = page.next.mark
  }
  throw new Error('the pages do not end')
}

const byTime = { since: { parameter: 'from', of: 'created' as const } }
const ways: [string, ListForm][] = [
  ['cursors', { pages: 'cursor' }],
  [
    'ids of the last record',
    { pages: 'cursor', next: 'data.-1.id', parameters: { cursor: 'starting_after' } },
  ],
  ['page numbers', { pages: 'page' }],
  ['offsets', { pages: 'offset' }],
  ['links', { pages: 'link' }],
  ['times', { pages: 'since', order: 'oldest-first', ...byTime }],
  ['cursors, oldest first', { pages: 'cursor', order: 'oldest-first' }],
  ['page numbers, oldest first', { pages: 'page', order: 'oldest-first' }],
  ['offsets, oldest first', { pages: 'offset', order: 'oldest-first' }],
  ['links, oldest first', { pages: 'link', order: 'oldest-first' }],
]

describe.each(ways)('pages by %s', (_what, form) => {
  test.each([0, 1, 9, 10, 11, 20, 35])('bring every one of %i records', async (count) => {
    const { distinct } = await readAll(await listing(form, records(count)))
    expect(distinct.size).toBe(count)
  })

  test('go on where the service gives fewer records than it is asked for', async () => {
    const short = await listing({ ...form, limit: 500 }, records(35))
    short.pageMax = 7
    expect((await readAll(short)).distinct.size).toBe(35)
  })

  test('can be gone on with from any mark', async () => {
    const { client } = await listing(form, records(35))
    const first = await client.listDeposits({ mark: null, since: null })
    const mark = first?.next?.mark ?? null
    const [one, again] = [
      await client.listDeposits({ mark, since: null }),
      await client.listDeposits({ mark, since: null }),
    ]
    expect(one?.records.length).toBeGreaterThan(0)
    expect(again).toEqual(one)
  })

  test('name the first page with the limit and whatever else is set', async () => {
    const { client, asked } = await listing({ ...form, query: { sort: 'time' }, limit: 7 })
    await client.listDeposits({ mark: null, since: null })
    expect(asked[0]).toMatch(/^\/v1\/proxies\/deposits\?sort=time&limit=7/)
  })
})

describe('records that shift while their pages are read', () => {
  test.each(ways)('by %s: one that comes in leaves none of the others out', async (_what, form) => {
    const shifting = await listing(form, records(35))
    let page = 0
    shifting.before = () => {
      if (++page === 2) shifting.records = [...shifting.records, ...records(37).slice(35)]
    }
    const { distinct } = await readAll(shifting)
    expect(records(35).filter(({ id }) => !distinct.has(id))).toEqual([])
  })

  test.each(['newest-first', 'oldest-first'] as const)(
    'by offsets, %s: where some leave, it is seen, and the page before is read again',
    async (order) => {
      const shifting = await listing({ pages: 'offset', order }, records(35))
      let page = 0
      const leave = (one: ListedRecord) =>
        !(order === 'newest-first' ? /_(3[34]|25)$/ : /_([01]|9)$/).test(one.id)
      shifting.before = () => {
        if (++page === 2) shifting.records = shifting.records.filter(leave)
      }
      const { distinct, drifts } = await readAll(shifting)
      expect(drifts).toBeGreaterThan(0)
      expect(shifting.records.filter(({ id }) => !distinct.has(id))).toEqual([])
    },
  )
})

describe('pages by times', () => {
  const form = { pages: 'since', order: 'oldest-first', ...byTime } as const

  test('lose none of equal times at the edge of a page', async () => {
    const sameMinute = await listing(
      { ...form, limit: 10 },
      records(35, (place) => at(Math.floor(place / 4))),
    )
    expect((await readAll(sameMinute)).distinct.size).toBe(35)
  })

  test('that more records share than fit on one are a fault that says so', async () => {
    const same = await listing(
      { ...form, limit: 10 },
      records(35, () => at(1)),
    )
    await expect(readAll(same)).rejects.toThrow('does not get past')
  })

  test('begin at the time that is asked for', async () => {
    expect((await readAll(await listing(form, records(35)), at(30))).distinct.size).toBe(5)
  })
})

test.each([
  ['iso', '2026-01-01T00%3A01%3A00.000Z'],
  ['s', '1767225660'],
  ['ms', '1767225660000'],
] as const)('a time is asked for as %s', async (as, text) => {
  const { client, asked } = await listing({ since: { parameter: 'from', of: 'updated', as } })
  await client.listDeposits({ mark: null, since: at(1) })
  expect(asked).toEqual([`/v1/proxies/deposits?limit=100&from=${text}`])
})

test('a mark that the service does not know any more is told as such, and a refused key is not', async () => {
  const refusing = await listing({})
  expect(await refusing.client.listDeposits({ mark: 'expired', since: null })).toBeNull()
  refusing.before = () => ({ status: 401, body: '{}' })
  await expect(refusing.client.listDeposits({ mark: 'expired', since: null })).rejects.toThrow('401')
})

test('a service that has nothing behind the only record says so by 404', async () => {
  const offsets = await listing({ pages: 'offset' }, records(1))
  offsets.before = ({ searchParams }) =>
    Number(searchParams.get('offset')) > 0 ? { status: 404, body: '{}' } : undefined
  expect((await readAll(offsets)).distinct.size).toBe(1)
  expect(await offsets.client.listDeposits({ mark: '1', since: null })).toEqual({ records: [], next: null })
})

test('a service that has no page behind the last says so by 404', async () => {
  const pages = await listing({ pages: 'page' }, records(20))
  pages.before = ({ searchParams }) =>
    Number(searchParams.get('page')) > 2 ? { status: 404, body: '{}' } : undefined
  expect((await readAll(pages)).distinct.size).toBe(20)
  expect(await pages.client.listDeposits({ mark: '3', since: null })).toEqual({ records: [], next: null })
})

const answering = async (form: ListForm, body: string) => {
  const raw = await listing(form)
  raw.before = () => ({ status: 200, body })
  return raw.client.listDeposits({ mark: null, since: null })
}

test.each<[string, string, string]>([
  ['no list', '{"next_cursor":null}', 'unexpected answer at data'],
  ['a list of nothing', 'null', 'unexpected answer at data'],
  ['a list elsewhere', '{"data":{"items":[]}}', 'unexpected answer at data'],
  ['a cursor that is an object', '{"data":[],"next_cursor":{}}', 'is neither text nor a number'],
])('%s is a fault that names the place', async (_what, body, problem) => {
  await expect(answering({}, body)).rejects.toMatchObject({
    code: 'remote_failed',
    details: { what: 'GET /v1/proxies/deposits', problem: expect.stringContaining(problem) },
  })
})

test.each<[string, ListForm, string]>([
  [
    'below another name',
    { items: 'result.list', next: 'meta.after' },
    '{"result":{"list":[{"id":"a"}]},"meta":{"after":7}}',
  ],
  ['as the answer itself', { items: null }, '[{"id":"a"}]'],
])('records and cursors are found %s', async (_what, form, body) => {
  const page = await answering(form, body)
  expect(page?.records).toEqual([{ id: 'a', time: null, text: '{"id":"a"}' }])
  expect(page?.next).toEqual(form.items === null ? null : { mark: '7', isDrift: false })
})

test('a cursor that leads to itself is a fault', async () => {
  const raw = await listing({})
  raw.before = () => ({ status: 200, body: '{"data":[],"next_cursor":"a"}' })
  await expect(raw.client.listDeposits({ mark: 'a', since: null })).rejects.toThrow('leads to itself')
})

test('numbers of any size are kept digit for digit, wherever they stand', async () => {
  const text = '{"id":"a","n":9007199254740993,"b":{"c":[1e400,0.10,-0,123456789012345678901234567890]}}'
  expect((await answering({}, `{"data":[${text}],"next_cursor":null}`))?.records[0]?.text).toBe(text)
})

test('a record without a usable id or time is kept whole beside its neighbours', async () => {
  const odd = ['{"x":1}', '{"id":"","created_at":"yesterday"}', '{"id":[7]}', '"word"', 'null']
  const page = await answering({}, `{"data":[{"id":9007199254740993},${odd.join(',')}],"next_cursor":null}`)
  expect(page?.records.map(({ id, time }) => [id, time])).toEqual([
    ['9007199254740993', null],
    ...odd.map(() => [null, null]),
  ])
  expect(page?.records.slice(1).map(({ text }) => text)).toEqual(odd)
})

describe('one record alone', () => {
  test('is asked for by its id, whatever that holds', async () => {
    const one = await listing({}, [{ id: 'a/b?c=$&', created_at: at(1).toISOString(), status: 'held' }])
    expect(await one.client.readDeposit('default/a/b?c=$&')).toMatchObject({
      id: 'default/a/b?c=$&',
      time: at(1),
    })
    expect(one.asked).toEqual(['/v1/proxies/deposits/a%2Fb%3Fc%3D%24%26'])
  })

  test('is found below another name', async () => {
    const one = await listing({ one: { path: '/v1/proxies/deposits/{id}', record: 'deposit' } })
    one.before = () => ({ status: 200, body: '{"deposit":{"id":"a"}}' })
    expect(await one.client.readDeposit('a')).toMatchObject({ text: '{"id":"a"}' })
  })

  test('is null where the service has none', async () => {
    expect(await (await listing({})).client.readDeposit('a')).toBeNull()
  })

  test.each(['.', '..'])('is never asked for by the id %j, which would be another path', async (id) => {
    const one = await listing({})
    expect(await one.client.readDeposit(id)).toBeNull()
    expect(one.asked).toEqual([])
  })

  test('that is another one is a fault', async () => {
    const one = await listing({})
    one.before = () => ({ status: 200, body: '{"id":"b"}' })
    await expect(one.client.readDeposit('a')).rejects.toThrow('the answer is the record b')
  })
})
