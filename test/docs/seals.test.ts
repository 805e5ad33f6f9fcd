import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sealBooks } from '../../src/jobs/books/seal-books.ts'
import {
  makeSigningKey,
  readCheckpoints,
  verifierKeyText,
  writeCheckpoint,
} from '../../src/ledger/checkpoint.ts'
import { fieldNames } from '../../src/ledger/sealed-row.ts'
import { sealedTable, sealedTableNames } from '../../src/ledger/sealed-tables.ts'
import { type Books, openBooks } from '../support/books.ts'
import { runCommand } from '../support/command.ts'
import { temporaryFolderOfFile } from '../support/folder.ts'
import { bookPayments } from '../support/sealed-books.ts'
import { readText } from './pages.ts'

let books: Books
const folder = temporaryFolderOfFile()
const page = readText('docs/seals.md')
const [, script = ''] = /```python\n([^]*?)```/.exec(page) ?? []
const { text, signer } = makeSigningKey('example.com/books', 'log')
const key = verifierKeyText(signer)

beforeAll(async () => {
  books = await openBooks()
  for (const [first, count] of [
    [100, 5],
    [200, 7],
    [300, 1],
  ] as const) {
    await bookPayments(books, first, count)
    await sealBooks(books.db, signer)
  }
  writeFileSync(pathOf('check-log.py'), script)
})
afterAll(() => books[Symbol.asyncDispose]())

const pathOf = (name: string) => join(folder, name)
const depositd = (line: string) => runCommand(line, { DATABASE_URL: books.url, LEDGER_KEY: text })
const read = (name: string) => readFileSync(pathOf(name), 'utf8')

/** As the page says it is run. */
function runScript(...words: readonly string[]) {
  const ran = spawnSync('python3', ['check-log.py', ...words], { cwd: folder, encoding: 'utf8' })
  return { status: ran.status, said: (ran.stdout + ran.stderr).trim() }
}

test('the script is short', () => {
  expect(script.trimEnd().split('\n').length).toBeLessThanOrEqual(100)
})

test('the page lists the columns of each sealed table, in hashing order', () => {
  for (const table of sealedTableNames) {
    const { joined, lines } = sealedTable(table)
    const own = fieldNames(table).filter((name) => !(name in (joined?.columns ?? {})))
    for (const columns of [own, Object.keys(lines?.columns ?? {})])
      expect(page).toContain(columns.map((name) => `\`${name}\``).join(', '))
  }
})

test('every row is proved by the script, and none that differs in a byte', async () => {
  const size = readCheckpoints((await depositd('ledger checkpoints export')).out)?.at(-1)?.size ?? 0
  for (const row of [
    ...Array.from({ length: 13 }, (_none, place) => `${place + 1}`),
    'address_book/1',
    'owner/2',
  ]) {
    await depositd(`ledger prove ${row} --out ${pathOf('proof')}`)
    expect(runScript(key, 'proof', 'proof.leaf')).toEqual({
      status: 0,
      said: `the row is in the log of ${size} rows`,
    })
  }
  writeFileSync(pathOf('other.leaf'), `${read('proof.leaf')} `)
  expect(runScript(key, 'proof', 'other.leaf').said).toBe(
    'NOT PROVED: the row is not in the log of this checkpoint',
  )
  writeFileSync(pathOf('other'), read('proof').replace(/^index .*$/m, 'index 0'))
  expect(runScript(key, 'other', 'proof.leaf').said).toMatch(/^NOT PROVED: /)
  writeFileSync(pathOf('other'), read('proof').replace(`\n${size}\n`, `\n${size + 1}\n`))
  expect(runScript(key, 'other', 'proof.leaf').said).toBe(
    'NOT PROVED: the checkpoint is not signed by this key',
  )
  const foreign = verifierKeyText(makeSigningKey('example.com/books', 'log').signer)
  expect(runScript(foreign, 'proof', 'proof.leaf').said).toBe(
    'NOT PROVED: the checkpoint is not signed by this key',
  )
})

test('the script sees that the log only grew, and that it is another one', async () => {
  const checkpoints = readCheckpoints((await depositd('ledger checkpoints export')).out) ?? []
  expect(checkpoints.length).toBe(3)
  for (const { size, origin, root } of checkpoints) {
    await depositd(`ledger checkpoints prove ${size} --out ${pathOf('growth')}`)
    writeFileSync(pathOf('old-checkpoint'), writeCheckpoint({ origin, size, root }, signer))
    const said = `the log of ${checkpoints.at(-1)?.size} rows begins with that of ${size}`
    expect(runScript(key, 'growth', 'old-checkpoint')).toEqual({ status: 0, said })
    writeFileSync(pathOf('old-checkpoint'), writeCheckpoint({ origin, size, root: Buffer.alloc(32) }, signer))
    expect(runScript(key, 'growth', 'old-checkpoint').said).toBe('NOT PROVED: the log is another one')
  }
})

test('without its files, the script says what it takes', () => {
  expect(runScript(key)).toEqual({
    status: 1,
    said: expect.stringMatching(/^NOT PROVED: python3 check-log\.py KEY/),
  })
})
