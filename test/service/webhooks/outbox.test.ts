import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { inTransaction } from '../../../src/store/database.ts'
import { type Book, openBook } from '../book.ts'

let book: Book

beforeAll(async () => {
  book = await openBook()
})

afterAll(() => book.close())

test('a payment seen, then final, is listed as confirmed and told of twice', async () => {
  await book.record([book.payment(1, false)], 0n)
  await book.record([book.payment(1, true)], 1n)
  const { data } = await book.list('')
  expect(data[0]).toEqual({
    id: expect.stringMatching(/^dep_[0-9a-f]{24}$/),
    owner: { type: 'stable_wallet', id: 'savings' },
    status: 'confirmed',
    reason: null,
    source: {
      network: 'mainnet',
      address: expect.stringMatching(/^0x[0-9a-fA-F]{40}$/),
      asset: 'ETH',
      contract: null,
      decimals: 18,
      amount: '1000000000000000001',
      transaction: book.payment(1, true).transaction,
      index: 'native',
      sender: '0x1111111111111111111111111111111111111111',
      block: '1',
      time: '2026-11-20T12:00:00.000Z',
    },
    destination: {
      network: null,
      address: 'savings',
      asset: 'USDC',
      contract: null,
      decimals: 6,
      amount: null,
      transaction: null,
      time: null,
    },
    fee: null,
    rate: null,
    refund: null,
    created_at: expect.stringMatching(/Z$/),
    updated_at: expect.stringMatching(/Z$/),
  })
  const { rows } = await sql<{ type: string }>`select type from service.event order by sequence`.execute(
    book.db,
  )
  expect(rows.map(({ type }) => type)).toEqual(['deposit.detected', 'deposit.confirmed'])
})

test('a deposit that is gone when its block is final has failed, and may come back as another', async () => {
  await book.record([book.payment(2, false)], 1n)
  await book.record([], 2n)
  const [gone] = (await book.list('limit=1')).data
  expect(gone).toMatchObject({ status: 'failed', source: { block: '2' } })
  await book.record([{ ...book.payment(2, false), block: 4n }], 2n)
  const [back] = (await book.list('limit=1')).data
  expect(back).toMatchObject({
    status: 'detected',
    source: { block: '4', transaction: gone?.source.transaction },
  })
  expect(back?.id).not.toBe(gone?.id)
})

test('the same scan recorded by twenty at once makes one deposit', async () => {
  await Promise.all(Array.from({ length: 20 }, () => book.record([book.payment(5, true)], 5n)))
  const { data } = await book.list(`transaction=${book.payment(5, true).transaction}`)
  expect(data).toHaveLength(1)
})

test('filters narrow the list', async () => {
  const all = (await book.list('limit=500')).data
  const count = async (query: string) => (await book.list(`limit=500&${query}`)).data.length
  expect(await count('owner=savings&network=mainnet')).toBe(all.length)
  expect(await count('owner=nobody')).toBe(0)
  expect(await count('network=base')).toBe(0)
  expect(await count('status=failed')).toBe(all.filter(({ status }) => status === 'failed').length)
  const [newest] = all
  expect(await count(`updated_since=${newest?.updated_at}`)).toBeGreaterThanOrEqual(1)
  expect(await count('updated_since=2100-01-01T00:00:00Z')).toBe(0)
})

test('Postgres refuses a change of state without its event, and an event without its change of state', async () => {
  await book.record([book.payment(6, false)], 5n)
  const [newest] = (await book.list('limit=1')).data
  const id = newest?.id ?? ''
  const change = inTransaction(book.db, (tx) =>
    sql`
    update service.deposit set status = 'confirmed' where id = ${id}`.execute(tx),
  )
  await expect(change).rejects.toThrow('deposit_has_event')
  const event = sql`
    insert into service.event (id, type, deposit_id, revision, body, created_at)
    values ('evt_1', 'deposit.confirmed', ${id}, 2, '{}', now())`.execute(book.db)
  await expect(event).rejects.toThrow('which is not its current one')
})

test('what has left a state is not changed again', async () => {
  const [newest] = (await book.list('status=confirmed')).data
  const change = { id: newest?.id ?? '', status: 'failed', reason: 'vanished' } as const
  const changed = await inTransaction(book.db, (tx) => book.deposits.change(tx, ['detected'], [change]))
  expect(changed).toEqual([])
})
