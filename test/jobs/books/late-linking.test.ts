import { type Kysely, sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Observation, ServiceId, TransferDecision } from '../../../src/core/evidence.ts'
import type { Amount } from '../../../src/core/money.ts'
import { recordDecisions } from '../../../src/store/books/proposals.ts'
import { inTransaction } from '../../../src/store/database.ts'
import type { Tables } from '../../../src/store/tables.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { decision } from '../../support/decision.ts'
import { depositEvents } from '../../support/deposit-events.ts'
import { at, claim, delivery, payment, txId, webhook } from '../../support/evidence.ts'

let books: Books
let db: Kysely<Tables>

beforeEach(async () => {
  books = await openBooks()
  ;({ db } = books)
})
afterEach(() => books[Symbol.asyncDispose]())

async function take(...observations: Observation[]): Promise<void> {
  await books.receive(...observations)
  await books.settle()
}

async function rule(...decisions: TransferDecision[]): Promise<void> {
  await inTransaction(books.owner, (tx) => recordDecisions(tx, decisions))
  await books.settle()
}

/** Each deposit that stands, and what it was merged into, as `number service id: state`. */
async function deposits(): Promise<string[]> {
  const rows = await db.selectFrom('deposit').selectAll().orderBy('id').execute()
  return rows.map(({ id, service_id: serviceId, state, merged_into: into }) =>
    into === null ? `${id} ${serviceId ?? '-'}: ${state}` : `${id} into ${into}`,
  )
}

/** What stands of each deposit on each account, without what is back at zero. */
async function holdings(): Promise<string[]> {
  const { rows } = await sql<{ text: string }>`
    select concat_ws(' ', j.deposit_id, e.account, sum(e.amount)) as text
    from ledger_entry e join ledger_journal j on j.id = e.journal_id
    group by j.deposit_id, e.account, e.asset having sum(e.amount) <> 0
    order by j.deposit_id, e.account collate "C", e.asset`.execute(db)
  return rows.map(({ text }) => text.replace(/:arbitrum:0x0+/, ':0x'))
}

/** The kinds of all journals, in the order in which they were booked, with their deposits. */
async function journals(): Promise<string[]> {
  const rows = await db.selectFrom('ledger_journal').selectAll().orderBy('id').execute()
  return rows.map(({ kind, deposit_id: id }) => `${kind} ${id}`)
}

async function openKinds(): Promise<string[]> {
  const rows = await db
    .selectFrom('mismatch')
    .selectAll()
    .where('cleared_at', 'is', null)
    .orderBy('kind')
    .execute()
  return rows.map(({ kind, deposit_id: id }) => `${kind} ${id}`)
}

const unnamed = { deposit: { tx: null, index: null }, settlement: { tx: null } }
const suspended = ['assets:in_transit:base 100000000', 'liabilities:suspense -100000000']
const settled = [
  'assets:forwarded:0xff 99900000',
  'expenses:fees:service 100000',
  'liabilities:deposits:channel:shop -100000000',
]
const of = (id: number, lines: readonly string[]) => lines.map((line) => `${id} ${line}`)

test('what was booked in suspense under its transfer is reversed there, and booked of the deposit that it turns out to be', async () => {
  await take(webhook(unnamed))
  await take(payment())
  expect(await deposits()).toEqual(['1 dep_1: observed', '2 -: confirmed'])
  expect(await holdings()).toEqual(of(2, suspended))
  await take(webhook(), claim(), delivery())
  expect(await deposits()).toEqual(['1 dep_1: reconciled', '2 into 1'])
  expect(await holdings()).toEqual(of(1, settled))
  expect(await journals()).toEqual(['deposit 2', 'reversal 2', 'deposit 1', 'settlement 1', 'conversion 1'])
  expect(await openKinds()).toEqual([])
  expect(await depositEvents(books, 2n)).toEqual(['deposit.observed', 'deposit.final', 'deposit.merged 1'])
})

test('a ruling joins what no key links, a second parts it, a third joins it again, and the books follow', async () => {
  await take(webhook(unnamed), claim(unnamed), payment(), delivery())
  const delivered = decision('together', delivery(), { id: 'delivered' })
  await rule(decision('together', payment()), delivered)
  expect(await deposits()).toEqual(['1 dep_1: reconciled', '2 into 1'])
  expect(await holdings()).toEqual(of(1, settled))
  await rule(decision('apart', payment(), { id: 'ruling 2', receivedAt: at(61) }))
  expect(await deposits()).toEqual(['1 dep_1: observed', '2 into 1', '3 -: confirmed'])
  expect(await holdings()).toEqual(of(3, suspended))
  expect(await openKinds()).toEqual(expect.arrayContaining(['chain_missing 1', 'unreported 3']))
  await rule(decision('together', payment(), { id: 'ruling 3', receivedAt: at(62) }))
  expect(await deposits()).toEqual(['1 dep_1: reconciled', '2 into 1', '3 into 1'])
  expect(await holdings()).toEqual(of(1, settled))
  expect(await openKinds()).toEqual([])
})

test('a ruling that gives a payment to another deposit of the same owner moves what is booked of it', async () => {
  const second = 'dep_2' as ServiceId
  const confirmed = { status: 'confirmed', settlement: { tx: null, amount: null, fee: null } } as const
  await take(claim(confirmed), webhook(confirmed), payment(), claim({ ...confirmed, serviceId: second }))
  const owed = ['assets:in_transit:base 100000000', 'liabilities:deposits:channel:shop -100000000']
  expect(await holdings()).toEqual(of(1, owed))
  expect(await openKinds()).toContain('tx_reused 2')
  await rule(decision('together', payment(), { serviceId: second }))
  expect(await holdings()).toEqual(of(2, owed))
  expect(await openKinds()).toEqual(expect.arrayContaining(['tx_reused 1']))
  expect(await openKinds()).not.toContain('tx_reused 2')
})

test('later evidence does not undo what a person decided', async () => {
  await take(claim(), webhook(), payment(), delivery())
  await rule(decision('apart', payment()))
  await take(webhook({ receivedAt: at(90) }), claim({ receivedAt: at(91) }), payment({ epoch: 1 }))
  expect(await deposits()).toEqual(['1 dep_1: observed', '2 -: confirmed'])
})

function paid(name: string) {
  return payment({ tx: txId(`pay ${name}`) })
}

function reported(name: string, amount: bigint) {
  const serviceId = name as ServiceId
  const settlement = { amount: amount as Amount, fee: null }
  return claim({ serviceId, deposit: { tx: txId(`pay ${name}`) }, settlement })
}

test('a delivery of one deposit that turns out to be of two is taken back and divided', async () => {
  await take(paid('a'), reported('a', 40_000_000n), delivery())
  expect(await openKinds()).toContain('settlement_over 1')
  await take(paid('b'), reported('b', 59_900_000n))
  const rows = await db.selectFrom('deposit').selectAll().orderBy('id').execute()
  expect(rows.map(({ state, settlement_amount: amount }) => [state, amount])).toEqual([
    ['reconciled', '40000000'],
    ['reconciled', '59900000'],
  ])
  expect((await holdings()).filter((line) => line.includes('forwarded'))).toEqual([
    '1 assets:forwarded:0xff 40000000',
    '2 assets:forwarded:0xff 59900000',
  ])
  await take(reported('c', 1n))
  expect((await holdings()).filter((line) => line.includes('forwarded'))).toEqual([])
  const { rows: ambiguous } =
    await sql`select detail from mismatch where kind = 'ambiguous_match' and cleared_at is null`.execute(db)
  expect(ambiguous).toHaveLength(3)
})

test('a payment that the service places on another network is found, and booked where its chain has it', async () => {
  const arbitrum = { network: 'arbitrum' as never }
  await take(webhook({ deposit: arbitrum }), claim({ deposit: arbitrum }), payment(), delivery())
  expect(await deposits()).toEqual(['1 dep_1: settled'])
  expect(await holdings()).toEqual(of(1, settled))
  expect(await openKinds()).toEqual(['network_mismatch 1'])
})
