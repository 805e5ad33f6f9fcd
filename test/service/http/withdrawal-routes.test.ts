import { afterAll, beforeAll, expect, test } from 'vitest'
import { inTransaction } from '../../../src/store/database.ts'
import { type Book, openBook } from '../book.ts'
import { call, readKey, writeKey } from '../fixtures.ts'

let book: Book

beforeAll(async () => {
  book = await openBook()
  await book.record([book.payment(1, true)], 1n)
  const [deposit] = (await book.list('')).data
  const credit = {
    id: deposit?.id ?? '',
    status: 'credited',
    to_amount: '5000000',
    fee: '0',
    rate: '1',
  } as const
  await inTransaction(book.db, (tx) =>
    book.deposits.change(tx, ['confirmed'], [{ ...credit, to_at: new Date() }]),
  )
})

afterAll(() => book.close())

const recipient = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
const wanted = { id: 'first', network: 'base', recipient, amount: '2000000' }
const withdrawals = (wallet = 'savings') => `${book.url}/v1/stable-wallets/${wallet}/withdrawals`

async function balance(): Promise<unknown> {
  const { body } = await call(`${book.url}/v1/stable-wallets/savings`, readKey)
  return (body['stable_wallet'] as { balance: { amount: string } }).balance.amount
}

test('a withdrawal takes from the balance once, however often it is asked for', async () => {
  expect(await balance()).toBe('5000000')
  const first = await call(withdrawals(), writeKey, wanted)
  expect(first).toMatchObject({
    status: 201,
    body: { ...wanted, status: 'requested', asset: 'USDC', decimals: 6, transaction: null },
  })
  const again = { ...wanted, recipient: recipient.toLowerCase() }
  expect(await call(withdrawals(), writeKey, again)).toEqual(first)
  expect(await balance()).toBe('3000000')
  expect((await call(`${withdrawals()}/first`, readKey)).body).toEqual(first.body)
})

test('of twenty that race for one balance as many are accepted as it holds', async () => {
  const before = Number(await balance())
  const racing = Array.from({ length: 20 }, (_, number) =>
    call(withdrawals(), writeKey, { ...wanted, id: `race-${number}`, amount: '700000' }),
  )
  const statuses = (await Promise.all(racing)).map(({ status }) => status)
  expect(statuses.filter((status) => status === 201)).toHaveLength(Math.floor(before / 700_000))
  expect(await balance()).toBe(String(before % 700_000))
})

test('withdrawals are listed newest first, page by page', async () => {
  const page = await call(`${withdrawals()}?limit=2`, readKey)
  const ids = [...(page.body['data'] as { id: string }[])]
  const rest = await call(`${withdrawals()}?limit=100&cursor=${String(page.body['next_cursor'])}`, readKey)
  ids.push(...(rest.body['data'] as { id: string }[]))
  expect(ids.at(-1)?.id).toBe('first')
  expect(new Set(ids.map(({ id }) => id)).size).toBe(ids.length)
  expect(rest.body['next_cursor']).toBeNull()
})

test.each([
  ['another of the same id', { ...wanted, amount: '1' }, 409, 'id_conflict', '/id'],
  ['more than there is', { ...wanted, id: 'more', amount: '5000001' }, 409, 'balance_short', '/amount'],
  ['nothing', { ...wanted, id: 'nothing', amount: '0' }, 400, 'request_invalid', '/amount'],
  ['a number', { ...wanted, id: 'number', amount: 1 }, 400, 'request_invalid', '/amount'],
  ['a network that there is not', { ...wanted, id: 'x', network: 'x' }, 400, 'network_unknown', '/network'],
  [
    'to nobody',
    { ...wanted, id: 'x', recipient: `0x${'0'.repeat(40)}` },
    400,
    'address_invalid',
    '/recipient',
  ],
  [
    'to where the service pays from',
    { ...wanted, id: 'x', recipient: '0x9858EfFD232B4033E47d90003D41EC34EcaEda94' },
    400,
    'address_invalid',
    '/recipient',
  ],
])('a withdrawal of %s is refused and named', async (...[, body, status, code, pointer]) => {
  expect(await call(withdrawals(), writeKey, body)).toMatchObject({
    status,
    body: { code, errors: [{ pointer }] },
  })
})

test('a withdrawal needs its StableWallet and the write scope', async () => {
  const missing = { status: 404, body: { code: 'not_found' } }
  expect(await call(withdrawals('nobody'), writeKey, wanted)).toMatchObject(missing)
  expect(await call(withdrawals('nobody'), readKey)).toMatchObject(missing)
  expect(await call(`${withdrawals()}/nothing`, readKey)).toMatchObject(missing)
  expect(await call(withdrawals(), readKey, wanted)).toMatchObject({ status: 403 })
})
