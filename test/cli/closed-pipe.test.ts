import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { PassThrough, Writable } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { outliveReader } from '../../src/cli/process.ts'
import { run } from '../../src/cli/run.ts'
import { type Books, openBooks } from '../support/books.ts'
import { bookPayments, seal } from '../support/sealed-books.ts'

const main = join(import.meta.dirname, '../../src/main.ts')

let books: Books
beforeAll(async () => {
  books = await openBooks()
})
afterAll(() => books[Symbol.asyncDispose]())

/** The reader is gone before the first line is printed. */
function unread(line: string) {
  const script = `"${process.execPath}" "${main}" ${line} | true; echo "status \${PIPESTATUS[0]}"`
  const environment = { PATH: process.env.PATH ?? '', DATABASE_URL: books.url, LOG_LEVEL: 'silent' }
  const ran = spawnSync('bash', ['--norc', '-c', script], {
    env: environment,
    encoding: 'utf8',
    timeout: 60_000,
  })
  return { out: ran.stdout, err: ran.stderr }
}

test.each([
  ['--help', 0],
  ['ledger verify', 0],
  ['deposits show 99 2>&1', 3],
])('"%s" whose output nobody reads ends quietly, with the status %i that it has', (line, status) => {
  expect(unread(line)).toEqual({ out: `status ${status}\n`, err: '' })
})

test('a list that waits for its reader ends, too, once there is none', async () => {
  await bookPayments(books, 100, 5)
  await seal(books)
  const gone = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })
  const stdout = new Writable({ highWaterMark: 1, write: (_text, _encoding, done) => done(gone) })
  const stderr = new PassThrough()
  outliveReader({ stdout, stderr })
  const words = ['ledger', 'checkpoints', 'export']
  expect(await run({ arguments: words, environment: { DATABASE_URL: books.url }, stdout, stderr })).toBe(0)
  expect(stderr.read()).toBeNull()
})
