import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { applyPending } from '../../../src/jobs/books/apply.ts'
import { verifyBooks } from '../../../src/jobs/books/verify-books.ts'
import { recordDecisions } from '../../../src/store/books/proposals.ts'
import { showNumberedDeposit } from '../../../src/store/books/show-deposits.ts'
import { inTransaction } from '../../../src/store/database.ts'
import { eventsAfter, numberEvents } from '../../../src/store/events.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { decision } from '../../support/decision.ts'
import { depositEvents } from '../../support/deposit-events.ts'
import { at, claim, delivery, elsewhere, payment, txId, webhook } from '../../support/evidence.ts'

let books: Books
let clock: Date

beforeEach(async () => {
  clock = at(6)
  books = await openBooks({ now: () => clock })
})
afterEach(() => books[Symbol.asyncDispose]())

async function apply(...all: Parameters<Books['receive']>): Promise<void> {
  await books.receive(...all)
  await applyPending(books.deps)
}

async function facts(): Promise<unknown[]> {
  const { rows } = await sql`
    select c.deposit_id, number, action, amount::text as amount, posting_key, c.reason
    from credit_safety c join ledger_journal j on j.id = journal_id order by c.id`.execute(books.db)
  return rows
}

async function standing(): Promise<unknown[]> {
  const { rows } = await sql`
    select service_id, is_safe, asset_symbol, amount::text as amount, reason from accounting.credit_safety`.execute(
    books.db,
  )
  return rows
}

async function types(): Promise<string[]> {
  await numberEvents(books.db)
  return (await eventsAfter(books.db, 0n, { limit: 100 })).map(({ type }) => type)
}

const ref = `base/${payment().tx}/0`
const key = (number: number) => `deposit/${ref}#${number}`
const reason = (...sources: string[]) =>
  `final on base at height 10; these agree: ${sources.join(', ')}, chain`
const safe = { action: 'safe', amount: '100000000', deposit_id: 1n }

test('it is recorded in the transaction that books the payment, once', async () => {
  await apply(webhook({ status: 'observed' }))
  expect(await facts()).toEqual([])
  await apply(payment())
  const first = { ...safe, number: 1, posting_key: key(1), reason: reason('webhook') }
  expect(await facts()).toEqual([first])
  await apply(webhook(), claim(), delivery())
  expect(await facts()).toEqual([first])
  expect(await standing()).toEqual([
    {
      service_id: 'dep_1',
      is_safe: true,
      asset_symbol: 'USDC',
      amount: '100.000000',
      reason: reason('webhook'),
    },
  ])
  expect(await types()).toEqual([
    'deposit.observed',
    'deposit.final',
    'deposit.credit_safe',
    'deposit.settled',
    'deposit.reconciled',
  ])
})

test('a later mismatch does not change it, and is an event', async () => {
  await apply(payment(), webhook({ status: 'observed' }))
  await apply(claim({ status: 'settling', settlement: { address: elsewhere } }))
  expect(await standing()).toMatchObject([{ is_safe: true }])
  expect(await facts()).toHaveLength(1)
  expect((await types()).slice(3)).toEqual(['mismatch.opened'])
  const { credits } = await verifyBooks(books.deps, { subjectsMax: 10, onProgress: () => undefined })
  const difference = { subject: 'deposit dep_1', live: expect.stringContaining('100000000'), rebuilt: null }
  expect(credits).toEqual({ differing: 1, differences: [difference] })
})

test('a payment that is no longer on its chain withdraws it; when it is back, it is safe again', async () => {
  await apply(payment(), webhook({ status: 'observed' }))
  await apply(payment({ stage: 'orphaned', epoch: 1 }))
  const gone = {
    ...safe,
    action: 'withdrawn',
    number: 2,
    posting_key: `reversal/${key(1)}`,
    reason: 'the payment is no longer on its chain',
  }
  expect((await facts()).slice(1)).toEqual([gone])
  expect(await standing()).toMatchObject([{ is_safe: false, reason: gone.reason }])
  await apply(payment({ epoch: 2, blockHash: '0xb10d', height: 11n }))
  expect((await facts()).slice(2)).toMatchObject([{ ...safe, number: 3, posting_key: key(2) }])
  expect((await types()).filter((type) => /safe|reversed/.test(type))).toEqual([
    'deposit.credit_safe',
    'deposit.reversed',
    'deposit.credit_safe',
  ])
})

test('a refund withdraws it, once', async () => {
  await apply(payment(), webhook({ status: 'observed' }))
  await apply(claim({ status: 'refunded' }))
  const refunded = {
    action: 'withdrawn',
    posting_key: `refund/${ref}#1`,
    reason: 'the payment went back to the payer',
  }
  expect((await facts()).slice(1)).toMatchObject([refunded])
  expect(await standing()).toMatchObject([{ is_safe: false, reason: refunded.reason }])
  expect((await types()).filter((type) => /safe|reversed/.test(type))).toEqual([
    'deposit.credit_safe',
    'deposit.reversed',
  ])
  await apply(payment({ stage: 'orphaned', epoch: 1 }))
  expect(await facts()).toHaveLength(2)
})

test('a decision that the payment is of another deposit withdraws it, too', async () => {
  await apply(payment(), webhook({ status: 'observed', deposit: { tx: null } }))
  await decide('together', 7)
  expect(await facts()).toMatchObject([safe])
  await decide('apart', 8)
  expect((await facts()).slice(1)).toMatchObject([
    { action: 'withdrawn', reason: 'the journal that proved it was reversed' },
  ])
  expect((await types()).filter((type) => type === 'deposit.reversed')).toHaveLength(1)
})

async function decide(verdict: 'together' | 'apart', minute: number, transfer = payment()): Promise<void> {
  const one = decision(verdict, transfer, { id: `${verdict} ${minute}`, receivedAt: at(minute) })
  await inTransaction(books.owner, (tx) => recordDecisions(tx, [one]))
  await applyPending(books.deps)
}

test('a deposit that merges into another takes its credit back, and the other one has it', async () => {
  const first = payment({ tx: txId('first') })
  await apply(first)
  await apply(payment(), webhook({ status: 'observed', deposit: { tx: null } }))
  await decide('together', 7)
  const moved = ['deposit.observed', 'deposit.merged 2']
  expect(await depositEvents(books, 3n)).toEqual(moved)
  await decide('apart', 8)
  await decide('together', 9, first)
  const credited = ['deposit.observed', 'deposit.final', 'deposit.credit_safe']
  expect(await depositEvents(books, 1n)).toEqual(credited)
  const withdrawn = ['deposit.observed', 'deposit.final', 'deposit.credit_safe', 'deposit.reversed']
  expect(await depositEvents(books, 2n)).toEqual([...withdrawn, 'deposit.merged 1'])
  expect(await depositEvents(books, 3n)).toEqual([...moved, 'deposit.merged 1'])
  expect(await showNumberedDeposit(books.db, 3n, 0)).toMatchObject({ id: 1n })
})

test('twenty workers at once record it once', async () => {
  await books.receive(webhook(), claim(), payment(), delivery())
  await Promise.all(
    Array.from({ length: 20 }, () => applyPending(books.deps, { rowsMax: 1, bytesMax: 1_000_000 })),
  )
  await books.settle()
  expect(await facts()).toHaveLength(1)
})

test('Postgres refuses that a deposit is safe twice without a withdrawal, and every change', async () => {
  await apply(payment(), webhook({ status: 'observed' }))
  const again = (number: number) =>
    sql`
    insert into credit_safety (deposit_id, number, action, journal_id, account, asset, amount, height, block_hash, final_at, reason)
    select deposit_id, ${number}, 'safe', ${number}, account, asset, amount, height, block_hash, final_at, reason
    from credit_safety`.execute(books.db)
  await expect(again(2)).rejects.toThrow('credit_safety_in_turn')
  await expect(again(1)).rejects.toThrow('credit_safety_deposit_id_number_key')
  await expect(sql`update credit_safety set amount = 1`.execute(books.owner)).rejects.toThrow('append-only')
  await expect(sql`delete from credit_safety`.execute(books.db)).rejects.toThrow('permission denied')
})
