import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { DepositRecord } from '../../../src/service/deposits/record.ts'
import { inTransaction } from '../../../src/store/database.ts'
import { type Book, openBook } from '../book.ts'
import { call, readKey, send, writeKey } from '../fixtures.ts'

let book: Book
let number = 0

beforeAll(async () => {
  book = await openBook()
})

afterAll(() => book.close())

let deposit: DepositRecord

/** Each test begins with a final payment of its own. */
beforeEach(async () => {
  deposit = await pay()
})

async function pay(): Promise<DepositRecord> {
  number += 1
  await book.record([book.payment(number, true)], BigInt(number))
  const [newest] = (await book.list('limit=1')).data
  if (newest === undefined) throw new Error('a payment was recorded')
  return newest
}

const url = (path: string) => `${book.url}/v1/proxies/deposits/${path}`
const hold = (id: string) =>
  inTransaction(book.db, (tx) =>
    book.deposits.change(tx, ['confirmed'], [{ id, status: 'held', reason: 'policy_hold' }]),
  )
const ids = async (query: string) => (await book.list(query)).data.map(({ id }) => id)

test('a deposit is retrieved as it is listed', async () => {
  expect(await call(url(deposit.id), readKey)).toMatchObject({ status: 200, body: deposit })
})

test('since takes in its own instant and until leaves it out', async () => {
  const other = await pay()
  // What is shown has no more than milliseconds, and what is stored has more.
  await sql`update service.deposit set created_at = date_trunc('milliseconds', created_at)`.execute(book.db)
  const [first, second] = [deposit, other].map(({ created_at: time }) => encodeURIComponent(time))
  expect(await ids(`since=${first}`)).toEqual([other.id, deposit.id])
  expect(await ids(`since=${second}`)).toEqual([other.id])
  expect(await ids(`since=${first}&until=${second}`)).toEqual([deposit.id])
  const offset = deposit.created_at.replace('Z', '+00:00')
  expect(await ids(`since=${encodeURIComponent(offset)}`)).toEqual([other.id, deposit.id])
})

test.each(['yesterday', '2026-11-20', '2026-11-20T12:00:00', '0001-01-01T00:00:00Z', '2026-13-01T00:00:00Z'])(
  'the time %s is refused',
  async (time) => {
    for (const name of ['since', 'until', 'updated_since']) {
      expect(await call(`${book.url}/v1/proxies/deposits?${name}=${time}`, readKey)).toMatchObject({
        status: 400,
        body: { code: 'request_invalid', errors: [{ parameter: name }] },
      })
    }
  },
)

test('a deposit is found by its transaction, in any case of its digits', async () => {
  number = Math.max(number, 0xabc)
  deposit = await pay()
  const { transaction } = deposit.source
  expect(transaction).toMatch(/[a-f]/)
  expect(await ids(`transaction=${transaction}`)).toEqual([deposit.id])
  expect(await ids(`transaction=0x${transaction.slice(2).toUpperCase()}`)).toEqual([deposit.id])
})

test('pages that were begun are not moved by deposits that come meanwhile, from many at once', async () => {
  for (let count = 0; count < 6; count++) await pay()
  const before = await ids('limit=500')
  const walked: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const coming = Array.from({ length: 4 }, () => {
      number += 1
      return book.record([book.payment(number, true)], BigInt(number)).catch(() => undefined)
    })
    const page = await book.list(`limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`)
    await Promise.all(coming)
    walked.push(...page.data.map(({ id }) => id))
    cursor = page.next_cursor
  }
  expect(walked.filter((id) => before.includes(id))).toEqual(before)
  expect(new Set(walked).size).toBe(walked.length)
})

test('what is held is released, and nothing else is', async () => {
  const release = () => send('POST', url(`${deposit.id}/release`), { key: writeKey })
  expect(await release()).toMatchObject({ status: 409, body: { code: 'state_conflict' } })
  await hold(deposit.id)
  expect(await release()).toMatchObject({
    status: 200,
    body: { id: deposit.id, status: 'confirmed', reason: null },
  })
  expect(await release()).toMatchObject({ status: 409 })
})

test('a deposit goes back to its sender, or to the address that is named', async () => {
  const back = await send('POST', url(`${deposit.id}/refund`), { key: writeKey })
  expect(back).toMatchObject({
    status: 200,
    body: { status: 'refunding', reason: 'requested', refund: { address: deposit.source.sender } },
  })
  expect(await call(url(`${deposit.id}/refund`), writeKey, {})).toMatchObject({
    status: 409,
    body: { code: 'state_conflict' },
  })
  const other = await pay()
  await hold(other.id)
  const address = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
  expect(await call(url(`${other.id}/refund`), writeKey, { address })).toMatchObject({
    status: 200,
    body: { refund: { address, amount: other.source.amount } },
  })
})

test('what the chain does not say from whom it came goes back only to an address that is named', async () => {
  number += 1
  await book.record([{ ...book.payment(number, true), sender: null }], BigInt(number))
  const [id] = await ids('limit=1')
  expect(await call(url(`${id}/refund`), writeKey, {})).toMatchObject({
    status: 409,
    body: { code: 'sender_unknown' },
  })
})

test.each([
  ['no address of that network', 'vines1vzrYbzLMRdu58ou5XTby4qAqVRLmqo36NKPTg'],
  ['an address of the service', '0x9858EfFD232B4033E47d90003D41EC34EcaEda94'],
])('a refund to %s is refused', async (_, address) => {
  expect(await call(url(`${deposit.id}/refund`), writeKey, { address })).toMatchObject({
    status: 400,
    body: { code: 'address_invalid', errors: [{ pointer: '/address' }] },
  })
})

test('a channel cannot forward to an address of the service, whoever has it', async () => {
  const rule = { id: 'loop', forward_network: 'base', forward_asset: 'USDC' }
  for (const forward_address of [deposit.source.address, deposit.source.address.toLowerCase()]) {
    expect(await call(`${book.url}/v1/channels`, writeKey, { ...rule, forward_address })).toMatchObject({
      status: 400,
      body: { code: 'address_invalid', errors: [{ pointer: '/forward_address' }] },
    })
  }
})

test.each(['release', 'refund'])(
  'to %s takes a deposit that is there, and the write scope',
  async (action) => {
    expect(await send('POST', url(`dep_0/${action}`), { key: writeKey })).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    })
    expect(await send('POST', url(`${deposit.id}/${action}`), { key: readKey })).toMatchObject({
      status: 403,
    })
  },
)
