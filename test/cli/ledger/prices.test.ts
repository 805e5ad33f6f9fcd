import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Books, openBooks } from '../../support/books.ts'
import { runCommand } from '../../support/command.ts'
import { temporaryFolderOfFile } from '../../support/folder.ts'

let books: Books
const folder = temporaryFolderOfFile()

beforeAll(async () => {
  books = await openBooks()
})
afterAll(() => books[Symbol.asyncDispose]())

const depositd = (line: string) => runCommand(line, { DATABASE_URL: books.url })

async function file(name: string, ...lines: string[]): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, `${['asset,currency,at,price,source', ...lines].join('\r\n')}\r\n`)
  return path
}

test('a file of prices is taken once, and listed with the newest first', async () => {
  const path = await file(
    'good.csv',
    'base/USDC,EUR,2026-01-01,0.92,ECB',
    'base/USDT,EUR,2026-01-02,0.91,"a, b"',
  )
  expect((await depositd('ledger prices list')).out).toBe('no prices yet\n')
  expect((await depositd(`ledger prices import ${path} --dry-run`)).out).toBe(
    '2 prices; 2 would be added, 0 already stored\n',
  )
  expect((await depositd(`ledger prices import ${path}`)).out).toBe('2 prices; 2 added, 0 already stored\n')
  const again = await depositd(`ledger prices import ${path} --json`)
  expect(JSON.parse(again.out)).toEqual({ prices: 2, added: 0, dry_run: false })
  const listed = JSON.parse((await depositd('ledger prices list --limit 1 --json')).out)
  expect(listed.items).toMatchObject([{ asset_symbol: 'USDT', price: '0.91', source: 'a, b' }])
  expect((await depositd('ledger prices list')).out).toMatch(/^AT +PRICE +CURRENCY +SYMBOL +ASSET +SOURCE\n/)
})

test('what is wrong is told in one line, with the lines of the file', async () => {
  const path = await file('bad.csv', 'base/USDC,EUR,2026-01-01,-1,ECB', 'base/USDX,EUR,2026-01-01,1,ECB')
  const { status, err } = await depositd(`ledger prices import ${path}`)
  expect(status).toBe(2)
  expect(err).toContain('bad.csv line 2: price is not an amount above zero')
  expect(err).toContain('bad.csv line 3: there is no asset "base/USDX"')
})

test.each(['nowhere.csv', '.'])('what is no file is refused: %s', async (path) => {
  const { status, err } = await depositd(`ledger prices import ${path}`)
  expect({ status, lines: err.trimEnd().split('\n').length }).toEqual({ status: 2, lines: 1 })
  expect(err).toContain('give the path of a .csv file')
})
