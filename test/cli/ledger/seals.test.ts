import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readCheckpoints } from '../../../src/ledger/checkpoint.ts'
import { openDatabase } from '../../../src/store/database.ts'
import type { Tables } from '../../../src/store/tables.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { runCommand } from '../../support/command.ts'
import { temporaryFolderOfFile } from '../../support/folder.ts'
import { bookPayments, bookWithin } from '../../support/sealed-books.ts'
import { tamper } from '../../support/tamper.ts'

const folder = temporaryFolderOfFile()
const pathOf = (name: string) => join(folder, name)
const keyFile = pathOf('ledger-key')
let books: Books

/** Two checkpoints: over 5 rows of the address book and 500 journals, and over 20 journals more. */
beforeAll(async () => {
  books = await openBooks()
  expect(await depositd('ledger checkpoints list', {})).toMatchObject({
    status: 0,
    out: 'no checkpoints yet\n',
  })
  expect(await depositd(`ledger key create example.com/books --out ${keyFile}`, {})).toMatchObject({
    status: 0,
  })
  await bookPayments(books, 1000, 500)
  expect(await depositd('ledger seal')).toMatchObject({
    status: 0,
    out: expect.stringMatching(/^505 rows sealed\ncheckpoint 505: [0-9a-f]{64}\n$/),
  })
  await bookPayments(books, 2000, 20)
})
afterAll(() => books[Symbol.asyncDispose]())

const signed = { LEDGER_KEY_FILE: keyFile }
const depositd = (line: string, environment: Record<string, string> = signed) =>
  runCommand(line, { DATABASE_URL: books.url, ...environment })

/** What is wrong with the seals; the other checks of the books are not these tests'. */
async function findings(options = ''): Promise<{ status: number; found: string[] }> {
  const { status, out } = await depositd(`ledger verify --json${options}`)
  const { checks } = JSON.parse(out) as { checks: { check: string; findings: string[] }[] }
  return { status, found: checks.find(({ check }) => check === 'seals')?.findings ?? [] }
}

test('a key is readable by its owner alone, replaces no other, and only its public part is shown', async () => {
  expect(statSync(keyFile).mode & 0o777).toBe(0o600)
  const again = await depositd(`ledger key create example.com/books --out ${keyFile}`)
  expect(again).toMatchObject({ status: 2, err: expect.stringContaining('EEXIST') })
  const { out } = await depositd('ledger key show')
  expect(out).toMatch(/^example\.com\/books\+[0-9a-f]{8}\+\S+\n$/)
  expect(readFileSync(keyFile, 'utf8')).toMatch(/^PRIVATE\+KEY\+example\.com\/books\+[0-9a-f]{8}\+\S+\n$/)
})

test('ledger seal prints what it sealed, and what it needs to sign', async () => {
  const { out } = await depositd('ledger seal --json')
  expect(JSON.parse(out)).toMatchObject({ rows: 20, busy: [], checkpoint: { size: 525 } })
  expect((await depositd('ledger seal', {})).out).toMatch(
    /^all rows are sealed already\ncheckpoint 525: [0-9a-f]{64}\nnot signed: no LEDGER_KEY is set/,
  )
})

test('ledger checkpoints list prints the newest, and no more than the limit', async () => {
  const { out } = await depositd('ledger checkpoints list')
  const ageless = out
    .replaceAll(/\d{4}-\S+Z/g, 'TIME')
    .replaceAll(/[0-9a-f]{64}/g, 'ROOT')
    .replaceAll(/\+[0-9a-f]{8}$/gm, '+ID')
  expect(ageless).toMatchInlineSnapshot(`
    "ROWS  MADE                      ROOT                                                              SIGNED BY
     525  TIME  ROOT  example.com/books+ID
     505  TIME  ROOT  example.com/books+ID
    "
  `)
  const one = JSON.parse((await depositd('ledger checkpoints list --json --limit 1')).out) as {
    items: { size: number }[]
  }
  expect(one.items.map(({ size }) => size)).toEqual([525])
})

test('ledger verify accepts what was exported, and says which keys it needs', async () => {
  const exported = (await depositd('ledger checkpoints export')).out
  writeFileSync(pathOf('published'), exported)
  expect(readCheckpoints(exported)?.map(({ size }) => size)).toEqual([505, 525])
  const { status, out } = await depositd(`ledger verify --against ${pathOf('published')}`)
  expect(out).toMatch(/^seals: \d seals, 525 rows, 0 not sealed yet\n/)
  expect(out).toMatch(/the books are correct: \d+ checks passed\n$/)
  expect(status).toBe(0)
  expect((await depositd('ledger verify', {})).out).toMatch(/^signatures: not checked; give --key/)
  const key = (await depositd('ledger key show')).out.trim()
  expect(await depositd(`ledger verify --key ${key}`, {})).toMatchObject({ status: 0 })
})

test('ledger verify requires the signatures of the key that is given', async () => {
  await depositd(`ledger key create example.com/books --out ${pathOf('other-key')}`)
  const other = { LEDGER_KEY_FILE: pathOf('other-key') }
  const { status, out } = await depositd('ledger verify', other)
  expect(status).toBe(1)
  expect(out).toContain('checkpoint 505 is not signed by example.com/books')
})

test.each([
  ['ledger verify --against /nowhere/published', '--against cannot be read: ENOENT'],
  ['ledger verify --key none', '--key is no key of a log'],
  ['ledger prove 1 --out /nowhere/proof', '--out cannot be written: ENOENT'],
  ['ledger checkpoints prove 9999 --out proof', 'the log has 525 rows, not 9999'],
  ['ledger checkpoints prove 0 --out proof', '0 is no size'],
  ['ledger key create a+b --out key', 'a+b is no name of a log'],
])('%s is refused with one line', async (line, problem) => {
  const { status, out, err } = await depositd(line)
  expect({ status, out }).toEqual({ status: 2, out: '' })
  expect(err.trimEnd().split('\n')).toEqual([expect.stringContaining(problem)])
})

test('a key that is none is refused, and not repeated', async () => {
  const { status, err } = await depositd('ledger seal', { LEDGER_KEY: 'PRIVATE+KEY+secret' })
  expect(status).toBe(2)
  expect(err).toContain('LEDGER_KEY must be a key made by "bin/depositd ledger key create"')
  expect(err).not.toContain('secret')
})

test.each(['9999', 'deposit/nothing', 'inbox/77'])('ledger prove %s finds nothing', async (row) => {
  const { status, err } = await depositd(`ledger prove ${row} --out ${pathOf('none')}`)
  expect([2, 3]).toContain(status)
  expect(err).toMatch(/not found|is not sealed yet/)
})

test('a file that holds no checkpoints is refused', async () => {
  for (const text of ['', 'no checkpoint\n', readFileSync(pathOf('published'), 'utf8').slice(1, -2)]) {
    writeFileSync(pathOf('bad'), text)
    const { status, err } = await depositd(`ledger verify --against ${pathOf('bad')}`)
    expect(status).toBe(2)
    expect(err).toContain('bad holds no checkpoints')
  }
})

test('ledger prove takes the posting key, and a row of another table, once it is sealed', async () => {
  for (const row of ['deposit/base/0x1003/0#1', 'address_book/2']) {
    const { status, out } = await depositd(`ledger prove ${row} --out ${pathOf('proof')}`)
    expect(status).toBe(0)
    expect(out).toContain(`proof that the log of 525 rows includes ${row}`)
  }
  await bookPayments(books, 3000, 1)
  const { err } = await depositd('ledger prove 521 --out proof')
  expect(err).toContain('521 is not sealed yet')
})

test('while a booking does not end, ledger seal says so, and is to be run again', async () => {
  const writer = openDatabase<Tables>({ url: books.url, poolMax: 1, applicationName: 'test writer' })
  await writer.transaction().execute(async (tx) => {
    await bookWithin(tx, 4000, 1)
    const { status, out } = await depositd('ledger seal')
    const said =
      'ledger_journal: another process is writing to it; its new rows are not sealed yet: try again'
    expect({ status, out }).toMatchObject({ status: 1, out: expect.stringContaining(said) })
  })
  await writer.destroy()
}, 20_000)

test('an altered row and the last hundred that were cut off are found; nothing is proved of an altered row', async () => {
  await tamper(books, 'update ledger_transfer set amount = amount + 1 where journal_id = 17')
  expect(await findings()).toEqual({
    status: 1,
    found: [expect.stringContaining('journal 17 is altered: line 1 amount is')],
  })
  expect(await depositd(`ledger prove 17 --out ${pathOf('none')}`)).toMatchObject({
    status: 1,
    out: expect.stringContaining('NOT PROVED: 17 differs from what was sealed'),
  })
  await tamper(books, 'update ledger_transfer set amount = amount - 1 where journal_id = 17')
  expect(await findings()).toMatchObject({ found: [] })
  await tamper(
    books,
    'delete from ledger_transfer where journal_id > 500',
    'delete from ledger_journal where id > 500',
    'delete from seal where first_leaf >= 505',
    'delete from checkpoint where size > 505',
  )
  const { status, out } = await depositd(`ledger verify --against ${pathOf('published')}`)
  expect(status).toBe(1)
  expect(out).toContain('  checkpoint 525 was published, and the log ends at row 505')
  expect(out).toMatch(/THE BOOKS ARE NOT CORRECT: \d+ findings\n$/)
})
