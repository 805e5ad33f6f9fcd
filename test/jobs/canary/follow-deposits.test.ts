import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Fault } from '../../../src/core/errors.ts'
import type { Amount } from '../../../src/core/money.ts'
import {
  type DepositResult,
  type FollowDepositsDeps,
  followDeposits,
} from '../../../src/jobs/canary/follow-deposits.ts'
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

test('an owner without an address is told, and nothing is paid', async () => {
  let paid = 0
  const pay = () => Promise.resolve(void paid++)
  await follow(pay, { owner: { kind: 'channel', id: 'nobody' } })
  expect(results).toMatchObject([
    { outcome: 'unpaid', problem: 'channel nobody has no deposit address on base in the address book' },
  ])
  expect(paid).toBe(0)
})
