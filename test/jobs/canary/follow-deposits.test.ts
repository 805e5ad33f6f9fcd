import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { depositCanary } from '../../../src/core/canary.ts'
import { Fault } from '../../../src/core/errors.ts'
import type { Amount } from '../../../src/core/money.ts'
import {
  type DepositResult,
  type FollowDepositsDeps,
  followDeposits,
} from '../../../src/jobs/canary/follow-deposits.ts'
import { switchCanaries } from '../../../src/store/canary.ts'
import { saveOwner } from '../../../src/store/owners.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { base, channelAddress, txId, usdcOnBase } from '../../support/evidence.ts'

let books: Books
let results: DepositResult[]
beforeEach(async () => {
  books = await openBooks()
  results = []
})
afterEach(() => books[Symbol.asyncDispose]())

const asset = { key: usdcOnBase, network: base, symbol: 'USDC', decimals: 6 }
const amount = 10_000n as Amount
const owner = { kind: 'channel', id: 'shop' } as const

const observe = (result: DepositResult) => void results.push(result)

function follow(pay: FollowDepositsDeps['pay'], changes: Partial<FollowDepositsDeps['place']> = {}) {
  const place = { network: base, asset, amount, owner, ...changes }
  return followDeposits({ db: books.db, place, everyMs: 3_600_000, withinMs: 3_600_000, pay, observe })
}

const payments = () =>
  sql`select tx, outcome from canary_deposit order by id`.execute(books.db).then(({ rows }) => rows)

test('the amount is paid to the address of the owner, once for each span however many ask', async () => {
  const orders: unknown[] = []
  const pay: FollowDepositsDeps['pay'] = async (order, onSigned) => {
    orders.push(order)
    await onSigned(txId('canary'))
  }
  await Promise.all(Array.from({ length: 5 }, () => follow(pay)))
  expect(orders).toEqual([{ asset, to: channelAddress, amount }])
  expect(await payments()).toEqual([{ tx: txId('canary'), outcome: null }])
  expect(results).toEqual([])
})

test('what could not be paid is told with its reason', async () => {
  const problem = 'the wallet is empty'
  await follow(() => Promise.reject(new Fault('remote_failed', { what: 'base node', problem })))
  expect(results).toEqual([
    { network: base, outcome: 'unpaid', seconds: null, problem: `base node: ${problem}` },
  ])
  expect(await payments()).toEqual([{ tx: null, outcome: 'unpaid' }])
})

const breakOff: FollowDepositsDeps['pay'] = async (_order, onSigned) => {
  await onSigned(txId('canary'))
  throw new Error('no answer')
}

test('what was signed is waited for, whatever came of sending it, and is not paid again', async () => {
  await expect(follow(breakOff)).rejects.toThrow('no answer')
  await follow(breakOff)
  expect(await payments()).toEqual([{ tx: txId('canary'), outcome: null }])
  expect(results).toEqual([])
})

test('what could not be sent and is signed again to the byte is sent again', async () => {
  await expect(follow(breakOff)).rejects.toThrow('no answer')
  await sql`update canary set started_at = null`.execute(books.db)
  let sent = 0
  await follow(async (_order, onSigned) => {
    await onSigned(txId('canary'))
    sent++
  })
  expect(sent).toBe(1)
  expect(await payments()).toEqual([
    { tx: null, outcome: null },
    { tx: txId('canary'), outcome: null },
  ])
  expect(results).toEqual([])
})

test('a payment that could not be noted is due again at once', async () => {
  const unknown = { key: 'base/none' as never, network: base, symbol: 'NONE', decimals: 6 }
  await expect(follow(() => Promise.resolve(), { asset: unknown })).rejects.toThrow('foreign key')
  let paid = 0
  await follow(() => Promise.resolve(void paid++))
  expect(paid).toBe(1)
})

test('an owner is kept as a canary once the address book knows it', async () => {
  const kept = async () => (await sql`select id from canary_owner`.execute(books.db)).rows
  const aviary = { kind: 'stable_wallet', id: 'aviary' } as const
  await switchCanaries(books.db, [{ name: depositCanary(base), owner: aviary }])
  await follow(null, { owner: aviary })
  expect(await kept()).toEqual([])
  await saveOwner(books.db, { owner: aviary, deposits: [], forward: null })
  await follow(null, { owner: aviary })
  expect(await kept()).toEqual([{ id: 'aviary' }])
})

test('an owner without an address is told, and nothing is paid', async () => {
  let paid = 0
  const pay = () => Promise.resolve(void paid++)
  await follow(pay, { owner: { kind: 'channel', id: 'nobody' } })
  expect(results).toMatchObject([
    { outcome: 'unpaid', problem: 'channel nobody has no deposit address on base in the address book' },
  ])
  expect(paid).toBe(0)
})
