import { sql } from 'kysely'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { HttpServer } from '../../src/http/server.ts'
import { sealBooks } from '../../src/jobs/books/seal-books.ts'
import { submitCheckpoint } from '../../src/jobs/books/submit-checkpoint.ts'
import {
  isSignedBy,
  makeSigningKey,
  readCheckpoint,
  readCheckpoints,
  writeCheckpoint,
  writeConsistency,
} from '../../src/ledger/checkpoint.ts'
import { afterSize, checkpointsAfter, newestCheckpoint } from '../../src/store/ledger/seals.ts'
import { newestConfirmed, serveWitness } from '../../src/witness/witness.ts'
import { type Books, openBooks } from '../support/books.ts'
import { temporaryFolder } from '../support/folder.ts'
import { openScriptedWork } from '../support/scripted-work.ts'
import { bookPayments } from '../support/sealed-books.ts'
import { tamper } from '../support/tamper.ts'

const { signer } = makeSigningKey('example.com/books', 'log')
const witness = makeSigningKey('witness.example/w1', 'witness').signer
let books: Books
let server: HttpServer
let folder: string
const lines: string[] = []

const serve = () =>
  serveWitness({
    logs: [signer],
    signer: witness,
    folder,
    host: '127.0.0.1',
    port: 0,
    log: pino({ level: 'info' }, { write: (line) => void lines.push(line) }),
    now: () => new Date('2026-01-01T00:00:00Z'),
  })

beforeEach(async () => {
  folder = await temporaryFolder()
  lines.length = 0
  ;[books, server] = await Promise.all([openBooks(), serve()])
  await grow(5)
})
afterEach(async () => {
  await Promise.all([books[Symbol.asyncDispose](), server.stop()])
})

let made = 0
async function grow(count: number): Promise<void> {
  await bookPayments(books, (made += 1000), count)
  await sealBooks(books.db, signer)
}

const submit = () => submitCheckpoint(books.db, { url: server.url, key: witness })
const confirmed = () => newestConfirmed(folder, signer.name)?.size

test('each checkpoint of a log that grows is confirmed, also after a restart of the witness', async () => {
  for (const count of [1, 300, 7]) {
    await grow(count)
    expect(await submit()).toBeNull()
    expect(await submit(), 'again').toBeNull()
    await server.stop()
    server = await serve()
  }
  const newest = await newestCheckpoint(books.db)
  expect(confirmed()).toBe(newest?.size)
  const exported = await checkpointsAfter(books.db, afterSize(0), { limit: 10 })
  const notes = exported.map(({ note }) => readCheckpoint(note))
  expect(notes.map((note) => note !== null && isSignedBy(note, witness))).toEqual([false, true, true, true])
  const kept = await (await fetch(`${server.url}/checkpoints`)).text()
  expect(readCheckpoints(kept)).toMatchObject([{ size: newest?.size, root: newest?.root }])
})

test('a database without the signatures of the witness learns from it how far the log was confirmed', async () => {
  await submit()
  await tamper(books, 'delete from cosignature')
  await grow(3)
  expect(await submit()).toBeNull()
})

const forget = ['seal', 'seal_node', 'checkpoint', 'cosignature'].map((table) => `delete from ${table}`)

test('a log that was made anew over other rows is refused, and stays refused as it grows', async () => {
  await submit()
  const before = confirmed()
  await tamper(books, `update ledger_journal set posting_key = 'x' where id = 2`, ...forget)
  await sealBooks(books.db, signer)
  expect(await submit()).toContain('it does not continue the one that it confirmed')
  await grow(2)
  expect(await submit()).toContain('it does not continue the one that it confirmed')
  expect(confirmed()).toBe(before)
  expect(lines.join('')).toContain('"event":"witness_refused"')
})

test('a log that was cut off is refused', async () => {
  await grow(4)
  await submit()
  await tamper(books, 'delete from ledger_journal where id > 5', ...forget)
  await sealBooks(books.db, signer)
  expect(await submit()).toMatch(
    /^witness\.example\/w1 confirmed \d+ rows, and the log has \d+: rows are missing$/,
  )
  expect(lines.join('')).toContain('"event":"witness_refused"')
})

test('the daemon reports a refusal as a broken seal until the log is the confirmed one again', async () => {
  await using own = await openScriptedWork()
  const { seal } = own.work({
    log: { signer, witnesses: [{ url: server.url, key: witness }], administratorKey: null },
  })
  await seal()
  await tamper(own.books, ...forget, `update owner set created_at = created_at - interval '1 day'`)
  await seal()
  expect(own.reported).toEqual(['seal_broken opened'])
  const { rows } = await sql<{ subject: string }>`select subject from open_mismatch`.execute(own.books.db)
  expect(rows).toEqual([{ subject: 'witness/witness.example/w1' }])
})

test('a witness that does not answer is reported, and delays no seal', async () => {
  await using own = await openScriptedWork()
  const witnesses = [{ url: 'http://127.0.0.1:1', key: witness }]
  await own.work({ log: { signer, witnesses, administratorKey: null } }).seal()
  expect(own.reported).toEqual(['failed seal witness.example/w1'])
  expect(await newestCheckpoint(own.books.db)).not.toBeNull()
})

test('a witness that does not answer, or does not know the log, is an error of its own', async () => {
  const other = makeSigningKey('example.com/other', 'log').signer
  await tamper(books, ...forget)
  await sealBooks(books.db, other)
  await expect(submit()).rejects.toMatchObject({
    code: 'remote_failed',
    details: { problem: expect.stringContaining('HTTP 404') },
  })
  await server.stop()
  await expect(submit()).rejects.toMatchObject({ code: 'remote_failed' })
  server = await serve()
})

test('a log without a key is not submitted', async () => {
  await tamper(books, ...forget)
  await sealBooks(books.db, null)
  expect(await submit()).toBeNull()
  expect(confirmed()).toBeUndefined()
})

const head = { origin: signer.name, size: 2, root: Buffer.alloc(32, 1) }

test.each([
  [400, 'no request', 'old 1\n'],
  [400, 'an old size above the new one', writeConsistency(3, [], writeCheckpoint(head, signer))],
  [
    404,
    'another log',
    writeConsistency(0, [], writeCheckpoint({ ...head, origin: 'example.com/else' }, signer)),
  ],
  [403, 'no signature', writeConsistency(0, [], writeCheckpoint(head, null))],
  [
    403,
    'another key',
    writeConsistency(0, [], writeCheckpoint(head, makeSigningKey(signer.name, 'log').signer)),
  ],
  [409, 'another old size', writeConsistency(1, [], writeCheckpoint(head, signer))],
  [422, 'a proof that is none', writeConsistency(0, [head.root], writeCheckpoint(head, signer))],
  [413, 'too much', 'x'.repeat(70_000)],
])('%i is the answer to %s', async (status, _what, body) => {
  const response = await fetch(`${server.url}/add-checkpoint`, { method: 'POST', body })
  expect(response.status).toBe(status)
  if (status === 409) {
    expect(response.headers.get('content-type')).toBe('text/x.tlog.size')
    expect(await response.text()).toBe('0\n')
  }
  expect(confirmed()).toBeUndefined()
})

test('of two different logs that come at the same moment one is confirmed', async () => {
  const requests = [1, 2].map((fill) =>
    fetch(`${server.url}/add-checkpoint`, {
      method: 'POST',
      body: writeConsistency(0, [], writeCheckpoint({ ...head, root: Buffer.alloc(32, fill) }, signer)),
    }),
  )
  const answers = await Promise.all(requests)
  expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([200, 409])
})
