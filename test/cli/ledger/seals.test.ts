import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Seal } from '../../../src/ledger/seal.ts'
import { openDatabase } from '../../../src/store/database.ts'
import type { Tables } from '../../../src/store/tables.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { runCommand } from '../../support/command.ts'
import { temporaryFolderOfFile } from '../../support/folder.ts'
import { bookPayments } from '../../support/sealed-books.ts'
import { tamper } from '../../support/tamper.ts'

const folder = temporaryFolderOfFile()
const pathOf = (name: string) => join(folder, name)
let books: Books

/** Two seals, over the journals 1 to 500 and 501 to 520. */
beforeAll(async () => {
  books = await openBooks()
  expect(await depositd('ledger seals list')).toMatchObject({ status: 0, out: 'no seals yet\n' })
  await bookPayments(books, 1000, 500)
  expect(await depositd('ledger seal')).toMatchObject({
    status: 0,
    out: expect.stringMatching(/^500 journals sealed; seal 1 is [0-9a-f]{64}\n$/),
  })
  await bookPayments(books, 2000, 20)
})
afterAll(() => books[Symbol.asyncDispose]())

const depositd = (line: string) => runCommand(line, { DATABASE_URL: books.url })

/** What is wrong with the seals; the other checks of the books are not these tests'. */
async function findings(options = ''): Promise<{ status: number; found: string[] }> {
  const { status, out } = await depositd(`ledger verify --json${options}`)
  const { checks } = JSON.parse(out) as { checks: { check: string; findings: string[] }[] }
  return { status, found: checks.find(({ check }) => check === 'seals')?.findings ?? [] }
}

test('ledger seal tells what it sealed, and where there is nothing to seal', async () => {
  const { out } = await depositd('ledger seal --json')
  expect(JSON.parse(out)).toMatchObject({ journals: 20, seals: [{ number: '2', after: '500', last: '520' }] })
  expect((await depositd('ledger seal')).out).toBe('all journals are sealed already\n')
})

test('ledger seals list tells of the newest, and of no more than the limit', async () => {
  const { out } = await depositd('ledger seals list')
  const ageless = out.replaceAll(/\d{4}-\S+Z/g, 'TIME').replaceAll(/[0-9a-f]{64}/g, 'HASH')
  expect(ageless).toMatchInlineSnapshot(`
    "SEAL  JOURNALS  UP TO  SEALED                       HASH
       2        20    520  TIME  HASH
       1       500    500  TIME  HASH
    "
  `)
  const { items: newest } = JSON.parse((await depositd('ledger seals list --json --limit 1')).out) as {
    items: Seal[]
  }
  expect(newest.map(({ number }) => number)).toEqual(['2'])
})

test('ledger seals export prints a seal on each line', async () => {
  const { out } = await depositd('ledger seals export')
  writeFileSync(pathOf('anchors.jsonl'), out)
  const { rows } = await sql<{ hash: string }>`select hash from accounting.seals order by number`.execute(
    books.db,
  )
  const hashes = out
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as Seal).hash)
  expect(hashes).toEqual(rows.map(({ hash }) => hash))
})

test('ledger verify tells what it read and that nothing is wrong', async () => {
  const { status, out } = await depositd(`ledger verify --against ${pathOf('anchors.jsonl')}`)
  expect(out).toMatch(/^seals: 2 seals, 520 journals, 0 not sealed yet\n/)
  expect(out).toMatch(/the books are correct: \d+ checks passed\n$/)
  expect(status).toBe(0)
})

test.each([
  ['ledger verify --against /nowhere/anchors.jsonl', 'ENOENT'],
  ['ledger prove 1 --out /nowhere/proof.json', '--out cannot be written: ENOENT'],
])('%s is refused with one line', async (line, problem) => {
  const { status, out, err } = await depositd(line)
  expect({ status, out }).toEqual({ status: 2, out: '' })
  expect(err.trimEnd().split('\n')).toEqual([expect.stringContaining(problem)])
})

test.each(['9999', 'deposit/nothing'])('ledger prove %s is not found', async (journal) => {
  const { status, err } = await depositd(`ledger prove ${journal} --out proof.json`)
  expect({ status, err }).toMatchObject({
    status: 3,
    err: expect.stringContaining(`journal ${journal} not found`),
  })
})

test('anchors that are none are refused, and the line is named', async () => {
  const anchors = readFileSync(pathOf('anchors.jsonl'), 'utf8')
  const bad = [
    ['', 'is empty'],
    ['no seal\n', 'line 1'],
    [`${anchors}{"number":"3"}\n`, 'line 3'],
    [anchors.replace('"journals":"20"', '"journals":"19"'), 'line 2'],
  ] as const
  for (const [text, problem] of bad) {
    writeFileSync(pathOf('bad.jsonl'), text)
    const { status, err } = await depositd(`ledger verify --against ${pathOf('bad.jsonl')}`)
    expect(status).toBe(2)
    expect(err).toContain(problem)
  }
})

test('ledger prove takes the posting key, too, and waits for the seal', async () => {
  const { status, out } = await depositd(`ledger prove deposit/base/0x1003/0#1 --out ${pathOf('proof.json')}`)
  expect(status).toBe(0)
  expect(out).toMatch(/proof\.json: proof that seal 1 includes the journal, [0-9a-f]{64}\n$/)
  expect(JSON.parse(readFileSync(pathOf('proof.json'), 'utf8'))).toMatchObject({
    index: 3,
    seal: { number: '1' },
  })
  await bookPayments(books, 3000, 1)
  const { err } = await depositd('ledger prove 521 --out proof.json')
  expect(err).toContain('journal 521 is not sealed yet')
})

test('while a booking does not end, ledger seal gives up and says so', async () => {
  const writer = openDatabase<Tables>({ url: books.url, poolMax: 1, applicationName: 'test writer' })
  await writer.transaction().execute(async (tx) => {
    await sql`lock table ledger_journal in row exclusive mode`.execute(tx)
    const { status, err } = await depositd('ledger seal')
    const said = 'sealing the books: other processes were writing to the books'
    expect({ status, err }).toMatchObject({ status: 4, err: expect.stringContaining(said) })
  })
  await writer.destroy()
})

test('an altered row and the last hundred that were cut off are found; nothing is proved by a broken seal', async () => {
  await tamper(books, 'update ledger_transfer set amount = amount + 1 where journal_id = 17')
  expect(await findings()).toEqual({ status: 1, found: ['seal 1: journal 17 is altered'] })
  expect(await depositd(`ledger prove 17 --out ${pathOf('none.json')}`)).toMatchObject({
    status: 1,
    out: expect.stringContaining('NOT PROVED: seal 1 is broken'),
  })
  await tamper(books, 'update ledger_transfer set amount = amount - 1 where journal_id = 17')
  expect(await findings()).toMatchObject({ found: [] })
  await tamper(
    books,
    'delete from ledger_transfer where journal_id > 420',
    'delete from ledger_journal where id > 420',
  )
  expect(await findings()).toEqual({
    status: 1,
    found: ['seal 1: journals 421 to 500 are missing', 'seal 2: journals 501 to 520 are missing'],
  })
  await tamper(books, 'delete from ledger_seal where number = 2')
  const { status, out } = await depositd(`ledger verify --against ${pathOf('anchors.jsonl')}`)
  expect(status).toBe(1)
  expect(out).toContain('  seal 2: missing; it covered 20 journals from 501 to 520 and was published as ')
  expect(out).toMatch(/THE BOOKS ARE NOT CORRECT: \d+ findings\n$/)
})
