import { sql } from 'kysely'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { listDeposits } from '../../../src/store/books/list-deposits.ts'
import { readGauges, summarise } from '../../../src/store/gauges.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { claim, payment, txId, usdcOnBase } from '../../support/evidence.ts'

let books: Books

beforeEach(async () => {
  const own = await openBooks()
  onTestFinished(() => own[Symbol.asyncDispose]())
  books = own
})

type Opened = {
  kind?: string
  severity?: string
  subject: string
  age?: string
  value?: number
  loss?: number | null
  depositId?: bigint
}

async function open(...all: Opened[]): Promise<void> {
  for (const {
    kind = 'unreported',
    severity = 'severe',
    subject,
    age = '0',
    value = 5,
    loss = value,
    depositId = null,
  } of all) {
    await sql`
      insert into mismatch (subject, kind, severity, deposit_id, network, asset, value, opened_at,
        loss_asset, loss_amount, loss_whole)
      values (${subject}, ${kind}, ${severity}, ${depositId}, 'base', ${usdcOnBase}, ${value}, now() - ${age}::interval,
        ${loss === null ? null : usdcOnBase}, ${loss}, ${loss === null ? null : value})`.execute(books.db)
  }
}

const resolveAll = () =>
  sql`update mismatch set resolved_at = now(), resolved_by = 'erin', resolved_reason = 'ours'`.execute(
    books.owner,
  )

async function ageing() {
  const { rows } = await sql<{ line: string }>`
    select concat_ws(' ', kind, bucket, mismatches, amount, amount_base) as line
    from accounting.mismatch_ageing order by kind, from_age`.execute(books.db)
  return rows.map(({ line }) => line)
}

async function atRisk() {
  const { rows } = await sql<{ line: string }>`
    select concat_ws(' ', asset_symbol, severity, transfers, amount, amount_base) as line
    from accounting.value_at_risk order by severity`.execute(books.db)
  return rows.map(({ line }) => line)
}

test.each([
  ['0', '< 1 h'],
  ['59 minutes', '< 1 h'],
  ['61 minutes', '< 24 h'],
  ['25 hours', '< 3 d'],
  ['73 hours', '< 7 d'],
  ['8 days', '< 30 d'],
  ['31 days', 'older'],
  ['-5 minutes', '< 1 h'],
])('what was opened %s ago is in the bucket %s', async (age, bucket) => {
  await open({ subject: 'transfer/one', age })
  expect(await ageing()).toEqual([`unreported ${bucket} 1 0.000005 5`])
})

test('each kind and bucket is added up; what is resolved is in none, what is snoozed is', async () => {
  await open({ subject: 'transfer/one' }, { subject: 'transfer/two', value: 7 })
  await open({ subject: 'transfer/one', kind: 'amount_mismatch', age: '2 hours' })
  await sql`update mismatch set snoozed_until = now() + interval '1 day'`.execute(books.db)
  expect(await ageing()).toEqual(['amount_mismatch < 24 h 1 0.000005 5', 'unreported < 1 h 2 0.000012 12'])
  await resolveAll()
  expect(await ageing()).toEqual([])
})

test('a transfer that several mismatches are about is at risk once, under the gravest', async () => {
  await books.receive(payment())
  await books.settle()
  const { id, transfer } = await books.db
    .selectFrom('deposit')
    .select(['id', 'transfer'])
    .executeTakeFirstOrThrow()
  await sql`update mismatch set cleared_at = now(), cleared_how = 'evidence'`.execute(books.db)
  await open(
    { subject: `deposit/${id}`, depositId: id, value: 100 },
    { subject: `deposit/${id}`, depositId: id, value: 100, kind: 'stuck', severity: 'warning' },
    { subject: `transfer/${transfer}`, value: 100, kind: 'settlement_unreported', severity: 'warning' },
    { subject: 'transfer/other', value: 7, kind: 'settlement_unreported', severity: 'warning' },
  )
  expect(await atRisk()).toEqual(['USDC severe 1 0.000100 100', 'USDC warning 1 0.000007 7'])
  expect((await readGauges(books.db)).atRisk).toEqual([
    { service: '', asset: usdcOnBase, severity: 'severe', units: 0.0001 },
    { service: '', asset: usdcOnBase, severity: 'warning', units: 0.000007 },
  ])
})

test('a claim of a transfer that another deposit has is no further money at risk', async () => {
  const unsettled = { status: 'confirmed', settlement: { tx: null, amount: null, fee: null } } as const
  await books.receive(claim(unsettled), claim({ ...unsettled, serviceId: 'dep_2' as never }), payment())
  await books.settle()
  const { rows } = await sql<{ deposits: number }>`
    select count(distinct deposit_id)::int as deposits from open_mismatch`.execute(books.db)
  expect(rows[0]?.deposits).toBe(2)
  expect(await atRisk()).toEqual(['USDC severe 1 100.000000 100000000'])
})

test('what is resolved is counted nowhere as open', async () => {
  await books.receive(payment({ tx: txId('one') }))
  await books.settle()
  expect((await summarise(books.db)).mismatches).toEqual([{ kind: 'unreported', count: 1 }])
  expect((await listDeposits(books.db, { limit: 9 }))[0]?.mismatches).toBe('unreported')
  await resolveAll()
  expect((await summarise(books.db)).mismatches).toEqual([])
  expect((await listDeposits(books.db, { limit: 9 }))[0]?.mismatches).toBe('')
  expect(await readGauges(books.db)).toMatchObject({ mismatches: [], atRisk: [] })
})
