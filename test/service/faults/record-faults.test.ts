import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { inTransaction } from '../../../src/store/database.ts'
import { type Book, openBook } from '../book.ts'
import { type Answer, call, readKey } from '../fixtures.ts'

const count = 23
let book: Book
let honest: Awaited<ReturnType<Book['list']>>['data']

/** Deposits of every second block are final. */
beforeAll(async () => {
  book = await openBook()
  const numbers = Array.from({ length: count }, (_, place) => place + 1)
  await book.record(
    numbers.map((number) => book.payment(number, number % 2 === 0)),
    0n,
  )
  honest = (await book.list('')).data
})
afterEach(() =>
  book.faults.set({
    hideRecordRate: 0,
    editRecordRate: 0,
    removeRecordRate: 0,
    dropTransactionRate: 0,
    renameOwnerRate: 0,
    renameNetworkRate: 0,
    claimAgainRate: 0,
    reorderRecordsRate: 0,
    driftPageRate: 0,
  }),
)
afterAll(() => book.close())

/** Follows the pages to the end, once. */
async function readAll(limit: number): Promise<string[]> {
  const ids: string[] = []
  for (let query = `limit=${limit}`; ; ) {
    const { data, next_cursor: next } = await book.list(query)
    ids.push(...data.map(({ id }) => id))
    if (next === null) return ids
    query = `limit=${limit}&cursor=${next}`
  }
}

function retrieve(id: string): Promise<Answer> {
  return call(`${book.url}/v1/proxies/deposits/${id}`, readKey)
}

/** One that is confirmed yet; returns its id. */
async function creditOne(): Promise<string> {
  const confirmed = (await book.list('status=confirmed')).data.at(0)
  if (confirmed === undefined) throw new Error('every second deposit is confirmed')
  const credit = { to_at: new Date(0), to_amount: '1', fee: '0', rate: '1' }
  const change = { id: confirmed.id, status: 'credited', ...credit } as const
  await inTransaction(book.db, (tx) => book.deposits.change(tx, ['confirmed'], [change]))
  return confirmed.id
}

const transactionOf = (id: string) => honest.find((one) => one.id === id)?.source.transaction
const idsOf = (records: typeof honest) => records.map(({ id }) => id)

test('hidden deposits are never listed, the others are, on every page', async () => {
  book.faults.set({ hideRecordRate: 0.5 })
  const shown = await readAll(4)
  expect(shown.length).toBeGreaterThan(0)
  expect(shown.length).toBeLessThan(count)
  expect(idsOf(honest).filter((id) => shown.includes(id))).toEqual(shown)
  expect(await readAll(7)).toEqual(shown)
  for (const { id } of honest) expect((await retrieve(id)).status).toBe(shown.includes(id) ? 200 : 404)
})

test('an edited deposit states another amount and is the same in all else', async () => {
  book.faults.set({ editRecordRate: 1 })
  const edited = (await book.list('')).data
  expect(edited).toHaveLength(count)
  expect((await retrieve(edited[0]?.id ?? '')).body).toEqual(edited[0])
  expect(edited.some(({ source }, place) => source.amount === honest[place]?.source.amount)).toBe(false)
  expect(edited.map(({ source, ...record }) => ({ ...record, source: { ...source, amount: '' } }))).toEqual(
    honest.map(({ source, ...record }) => ({ ...record, source: { ...source, amount: '' } })),
  )
})

test('a deposit without its transaction names none, against the published document, and is the same in all else', async () => {
  book.faults.set({ dropTransactionRate: 1 })
  const response = await fetch(`${book.url}/v1/proxies/deposits?limit=100`, {
    headers: { 'X-API-KEY': readKey },
  })
  const { data } = (await response.json()) as { data: unknown[] }
  expect(data).toEqual(
    honest.map(({ source, ...record }) => ({ ...record, source: { ...source, transaction: null } })),
  )
})

test('a deposit under another owner is the same in all else', async () => {
  book.faults.set({ renameOwnerRate: 1 })
  const renamed = (await book.list('')).data
  expect(renamed).toEqual(
    honest.map(({ owner, ...record }) => ({ ...record, owner: { ...owner, id: `${owner.id}-of-nobody` } })),
  )
})

test('a deposit on another network is the same in all else', async () => {
  book.faults.set({ renameNetworkRate: 1 })
  const moved = (await book.list('')).data
  expect(moved).toEqual(
    honest.map(({ source, ...record }) => ({ ...record, source: { ...source, network: 'base' } })),
  )
})

test('a removed deposit is listed until it is confirmed, and gone after that', async () => {
  book.faults.set({ removeRecordRate: 1 })
  expect(idsOf((await book.list('')).data)).toEqual(idsOf(honest))
  const credited = await creditOne()
  expect(idsOf((await book.list('')).data)).toEqual(idsOf(honest).filter((id) => id !== credited))
})

test('a payment is claimed again once its deposit is credited, by one that is the same but for its id', async () => {
  book.faults.set({ claimAgainRate: 1 })
  const credited = await creditOne()
  const { data } = await book.list('')
  const claiming = Map.groupBy(data, ({ source }) => source.transaction)
  expect(
    [...claiming.values()].every(({ length, 0: one }) => length === (one?.status === 'credited' ? 2 : 1)),
  ).toBe(true)
  const [first, second] = claiming.get(transactionOf(credited) ?? '') ?? []
  expect(first?.id).toBe(credited)
  expect(second).toEqual({ ...first, id: expect.stringMatching(/^dep_[0-9a-f]{24}$/) })
  expect(second?.id).not.toBe(credited)
  for (const record of [first, second])
    expect(await retrieve(record?.id ?? '')).toMatchObject({ status: 200, body: record })
  book.faults.set({ claimAgainRate: 0 })
  expect((await retrieve(second?.id ?? '')).status).toBe(404)
})

test('a reordered page holds the same deposits in another order, and the next one goes on after it', async () => {
  book.faults.set({ reorderRecordsRate: 1 })
  const first = await book.list('limit=5')
  expect(idsOf(first.data)).not.toEqual(idsOf(honest).slice(0, 5))
  expect(idsOf(first.data).toSorted()).toEqual(idsOf(honest).slice(0, 5).toSorted())
  expect((await readAll(5)).toSorted()).toEqual(idsOf(honest).toSorted())
})

test('between pages that drift a deposit comes twice or not at all, and reading them again finds every one', async () => {
  book.faults.set({ seed: 'drift', driftPageRate: 1 })
  const readings = await Promise.all([1, 2, 3, 4, 5, 6].map(() => readAll(100)))
  expect(readings.some((ids) => new Set(ids).size < ids.length)).toBe(true)
  expect(readings.some((ids) => new Set(ids).size < count)).toBe(true)
  expect(new Set(readings.flat())).toEqual(new Set(idsOf(honest)))
})
