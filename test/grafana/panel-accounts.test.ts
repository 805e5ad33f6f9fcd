import { Client } from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Books, openBooks } from '../support/books.ts'
import { claim, delivery, payment, usdcOnBase } from '../support/evidence.ts'
import { expandSql } from '../support/grafana-macros.ts'
import { tamper } from '../support/tamper.ts'
import { committed, statementsOf } from './dashboard-files.ts'

let books: Books
let accountant: Client
beforeEach(async () => {
  books = await openBooks()
  accountant = new Client({ connectionString: books.url, options: '-c role=depositd_accountant' })
  await accountant.connect()
})
afterEach(async () => {
  await accountant.end()
  await books[Symbol.asyncDispose]()
})

const all = { values: [], all: "''" }
const macros = {
  variables: new Map([
    ['network', all],
    ['owner', all],
    ['asset', all],
  ]),
  from: new Date('2020-01-01T00:00:00Z'),
  to: new Date('2100-01-01T00:00:00Z'),
}

/** What a panel of the accountant's dashboard shows of all there is. */
async function shownBy(title: string): Promise<Record<string, unknown>[]> {
  const sql = committed
    .filter(({ name }) => name === 'accountant')
    .flatMap(({ dashboard }) => statementsOf(dashboard))
    .find((one) => one.title === title)?.sql
  const { rows } = await accountant.query<Record<string, unknown>>(
    expandSql(sql ?? expect.fail(title), macros),
  )
  return rows
}

test('the books are balanced until a snapshot says of one side what no entry does', async () => {
  await books.receive(claim(), payment(), delivery())
  await books.settle()
  expect(await shownBy('Books')).toEqual([{ assets: '0' }])
  await tamper(
    books,
    `insert into ledger_snapshot_day (recorded, cut_at) values ('2020-01-31', '2020-02-02')`,
    `insert into ledger_snapshot (span, recorded, event, account, asset, debit, credit)
     values ('month', '2019-12-01', '2019-12-01', 'liabilities:suspense', '${usdcOnBase}', 1, 0)`,
  )
  expect(await shownBy('Books')).toEqual([{ assets: '1' }])
})

test('what takes the sum of all transfers of every address is asked only once somebody wants to know', () => {
  const panels = committed.flatMap(({ dashboard }) => dashboard.panels)
  const asking = panels.filter(
    ({ type, targets }) => type !== 'row' && JSON.stringify(targets).includes('tie_out'),
  )
  expect(asking.flatMap(({ title }) => title)).toEqual([])
})

test('what came in unclaimed stands in suspense until people book it elsewhere', async () => {
  expect(await shownBy('Assets in suspense')).toEqual([{ assets: '0' }])
  await books.receive(payment())
  await books.settle()
  expect(await shownBy('Assets in suspense')).toEqual([{ assets: '1' }])
  await tamper(
    books,
    `insert into ledger_account (id, asset) values ('income:unclaimed', '${usdcOnBase}')`,
    `with journal as (
      insert into ledger_journal (posting_key, kind, event_at, recorded_at, period)
      select 'by hand', 'manual', now(), now(), ledger_month(now()) returning *
    ) insert into ledger_transfer
      select journal.id, 1, 'liabilities:suspense', 'income:unclaimed', asset, amount, journal.event_at, journal.recorded_at,
        journal.period
      from journal, ledger_transfer where credit = 'liabilities:suspense'`,
  )
  expect(await shownBy('Assets in suspense')).toEqual([{ assets: '0' }])
})
