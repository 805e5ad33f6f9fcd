import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { formatNames } from '../../../src/ledger/export/formats.ts'
import { beancountAccount, commodityOf, hledgerAccount } from '../../../src/ledger/export/plain-text.ts'
import type { Books } from '../../support/books.ts'
import { runCommand } from '../../support/command.ts'
import { exportOf } from '../../support/exported.ts'
import { temporaryFolder } from '../../support/folder.ts'
import {
  beancountBalances,
  beancountInstalled,
  hledgerBalances,
  hledgerInstalled,
  runProgram,
  shortest,
} from '../../support/plain-text-accounting.ts'
import { givePrices, openValuedBooks } from '../../support/valued-books.ts'

let books: Books

beforeAll(async () => {
  books = await openValuedBooks()
})
afterAll(() => books[Symbol.asyncDispose]())

const depositd = (line: string) => runCommand(line, { DATABASE_URL: books.url })

const exported = (options: string) => exportOf(books.url, options)

type Line = { account: string; asset: string; symbol: string; balance: string }

/** What the database makes of the same journals, as a program that reads them would show it. */
async function booked(nameOf: (account: string) => string, beforeDay = 'infinity') {
  const { rows } = await sql<Line>`
    select account, asset, asset_symbol as symbol, sum(amount)::text as balance from accounting.entries
    where event_at < ${beforeDay}::timestamptz
    group by account, asset, asset_symbol having sum(amount) <> 0`.execute(books.db)
  return new Map(
    rows.map(({ account, asset, symbol, balance }) => [
      `${nameOf(account)} ${commodityOf({ key: asset, symbol })}`,
      shortest(balance),
    ]),
  )
}

describe.skipIf(!hledgerInstalled())('hledger', () => {
  test('checks the export, and its balances are the books to the unit, at every day', async () => {
    const { file } = await exported('--format hledger')
    expect(runProgram('hledger', '-f', file, 'check', '--strict')).toEqual({ status: 0, said: '' })
    const all = hledgerBalances(file)
    expect(all.size).toBeGreaterThan(8)
    expect(all).toEqual(await booked(hledgerAccount))
    for (const day of ['2026-01-02', '2026-01-03'])
      expect(hledgerBalances(file, day)).toEqual(await booked(hledgerAccount, `${day}T00:00:00Z`))
  })

  test('a part by time has the balances of that time', async () => {
    const { file } = await exported('--format hledger --as-of 2026-01-02')
    expect(hledgerBalances(file)).toEqual(await booked(hledgerAccount, '2026-01-03T00:00:00Z'))
  })
})

describe.skipIf(!beancountInstalled())('Beancount', () => {
  test('checks the export, and its balances are the books to the unit', async () => {
    const { file } = await exported('--format beancount')
    expect(runProgram('bean-check', file)).toEqual({ status: 0, said: '' })
    expect(beancountBalances(file)).toEqual(await booked(beancountAccount))
  })
})

test.each(formatNames)(
  '%s: exported twice, the same bytes, and the manifest tells of them',
  async (format) => {
    const [one, other] = [await exported(`--format ${format}`), await exported(`--format ${format}`)]
    const names = [one.manifest.files[0]?.name ?? '', 'manifest.json']
    expect(readdirSync(one.folder).toSorted()).toEqual(names.toSorted())
    for (const name of names)
      expect(readFileSync(join(one.folder, name), 'utf8')).toBe(
        readFileSync(join(other.folder, name), 'utf8'),
      )
    const sha256 = createHash('sha256').update(one.text).digest('hex')
    expect(one.manifest.files).toEqual([{ name: names[0], bytes: Buffer.byteLength(one.text), sha256 }])
    expect(JSON.parse(readFileSync(join(one.folder, 'manifest.json'), 'utf8'))).toEqual(one.manifest)
  },
)

test('the manifest counts journals and transfers, and sums each asset by itself', async () => {
  const { manifest, text } = await exported('--format jsonl')
  const { rows } = await sql<{ asset: string; transfers: string; base: string }>`
    select asset, count(*)::text as transfers, sum(amount)::text as base from ledger_transfer
    group by asset order by asset collate "C"`.execute(books.db)
  expect(
    manifest.totals.map(({ asset, transfers, amount_base: base }) => ({ asset, transfers, base })),
  ).toEqual(rows)
  expect(manifest.journals).toBe(`${text.trimEnd().split('\n').length}`)
  expect(manifest.transfers).toBe(`${rows.reduce((sum, { transfers }) => sum + Number(transfers), 0)}`)
})

test('the lines of the CSV file are the entries of the books', async () => {
  const { text } = await exported('--format csv')
  const { rows } = await sql<{ line: string }>`
    select concat_ws(',', journal_id, leg, account, asset, amount, amount_base) as line from accounting.entries
    order by journal_id, leg, amount_base desc`.execute(books.db)
  const lines = text.trimEnd().split('\n').slice(1)
  const cells = lines.map((line) => line.split(','))
  expect(cells.map((cell) => [0, 1, 10, 12, 13, 14].map((place) => cell[place]).join(','))).toEqual(
    rows.map(({ line }) => line),
  )
})

const days = async (options: string) => {
  const { text } = await exported(`--format jsonl ${options}`)
  const lines = text.split('\n').filter((line) => line !== '')
  return lines.map((line) => (JSON.parse(line) as { event_at: string }).event_at).toSorted()
}

test('a day that ends something is meant whole; a time of --to is left out, and of --as-of is not', async () => {
  const all = await days('--from 2026-01-01')
  expect(await days('--from 2026-01-02 --to 2026-01-02')).toEqual(
    all.filter((at) => at.startsWith('2026-01-02')),
  )
  expect(await days('--to 2026-01-01T10:00:00Z')).toEqual([])
  expect(await days('--as-of 2026-01-01T10:00:00Z')).toEqual(['2026-01-01T10:00:00.000000Z'])
  expect(await days('--from 2026-01-01T10:00:00.000001Z --to 2026-01-01T10:03:00Z')).toEqual([])
})

test('an account, with all below it, gives the transfers that have it on either side', async () => {
  const { text, manifest } = await exported('--format jsonl --account assets:in_transit')
  const lines = text.trimEnd().split('\n')
  const transfers = lines.flatMap((line) => (JSON.parse(line) as { transfers: Side[] }).transfers)
  expect(transfers.length).toBeGreaterThan(8)
  for (const { debit, credit } of transfers) expect(`${debit} ${credit}`).toContain('assets:in_transit:base')
  expect(manifest.transfers).toBe(`${transfers.length}`)
})

type Side = { debit: string; credit: string }

test('an owner gives the journals of its deposits', async () => {
  const { text } = await exported('--format jsonl --owner savings')
  const lines = text.trimEnd().split('\n')
  expect(lines.map((line) => (JSON.parse(line) as { kind: string }).kind)).toEqual([
    'deposit',
    'settlement',
    'conversion',
  ])
})

test('a month gives what stands in its books', async () => {
  expect((await exported('--format csv --period 2026-01')).text).toBe((await exported('--format csv')).text)
  expect((await exported('--format csv --period 2026-02')).manifest.journals).toBe('0')
})

test('people are told what was written', async () => {
  const folder = join(await temporaryFolder(), 'export')
  const { status, out } = await depositd(
    `ledger export --format csv --account expenses:fees:service --out ${folder}`,
  )
  expect(status).toBe(0)
  expect(out.replace(folder, 'FOLDER').replace(/[0-9a-f]{64}/, 'DIGEST')).toMatchInlineSnapshot(`
    "3 journals, 3 transfers
    FOLDER/entries.csv: SHA-256 DIGEST
    ASSET                                                COMMODITY              TRANSFERS    AMOUNT
    arbitrum/0x00000000000000000000000000000000000000a1  USDC.ARBITRUM.9C5D345          3  0.549875
    "
  `)
})

/** A second booking of the first deposit, of January. */
async function bookAnother(key: string): Promise<void> {
  await sql`
    with journal as (
      insert into ledger_journal (posting_key, kind, deposit_id, transfer, event_at, period)
      select ${key}, kind, deposit_id, transfer, event_at, ledger_period_for(event_at) from ledger_journal
      order by id limit 1
      returning *
    )
    insert into ledger_transfer (journal_id, leg, debit, credit, asset, amount, event_at, recorded_at, period)
    select journal.id, 1, t.debit, t.credit, t.asset, 1000000, journal.event_at, journal.recorded_at, journal.period
    from journal, (select * from ledger_transfer order by journal_id limit 1) t`.execute(books.db)
}

test('what is booked later is not in an export as of what was recorded before', async () => {
  const before = await exported('--format csv')
  const asOf = before.manifest.selection.recordedAsOf ?? ''
  expect(asOf).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
  await bookAnother('deposit/later#1')
  expect((await exported('--format csv')).text).not.toBe(before.text)
  const again = await exported(`--format csv --recorded-as-of ${asOf}`)
  expect(again.text).toBe(before.text)
  expect({ ...again.manifest, selection: null }).toEqual({ ...before.manifest, selection: null })
})

test('what comes after its month was closed is exported with the month that has it, and dated in it', async () => {
  const january = await exported('--format quickbooks --period 2026-01')
  await givePrices(
    books,
    ['base/USDC', 'base/USDT', 'arbitrum/USDC', 'stable-wallet/USDC'].map(
      (asset) => `${asset},2026-01-31,0.92`,
    ),
  )
  const closed = await depositd('ledger close 2026-01 --break-glass erin,max --force --reason test')
  expect(closed).toMatchObject({ status: 0, err: '' })
  await bookAnother('deposit/late#1')
  const again = (await exported('--format quickbooks --period 2026-01')).text
  expect(again.startsWith(january.text)).toBe(true)
  expect(again.slice(january.text.length)).toMatch(/^(R\d+,2026-01-31,.*,revaluation of 2026-01: .*\n)+$/)
  const { rows } = await sql<{ period: string }>`
    select to_char(period, 'YYYY-MM') as period from ledger_journal where posting_key = 'deposit/late#1'`.execute(
    books.db,
  )
  const { text } = await exported(`--format quickbooks --period ${rows[0]?.period}`)
  const lines = text
    .trimEnd()
    .split('\n')
    .slice(1)
    .filter((line) => !line.startsWith('R'))
  expect(lines).toHaveLength(2)
  const [year, month] = (rows[0]?.period ?? '').split('-')
  for (const line of lines)
    expect(line).toMatch(new RegExp(`^\\d+,${year}-${month}-01,.*"deposit/late#1, belongs to 2026-01: `))
})
