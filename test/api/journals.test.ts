import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sealBooks } from '../../src/jobs/books/seal-books.ts'
import { hashOf } from '../../src/ledger/sealed-row.ts'
import { inTransaction } from '../../src/store/database.ts'
import { bookByHand } from '../../src/store/ledger/journals.ts'
import type { Books } from '../support/books.ts'
import { runCommand } from '../support/command.ts'
import { at, usdcOnBase } from '../support/evidence.ts'
import { temporaryFolder } from '../support/folder.ts'
import { openReadBooks, type ReadClient, serveReadApi } from '../support/read-api.ts'

const stack = new AsyncDisposableStack()
let books: Books
let api: ReadClient

beforeAll(async () => {
  books = stack.use(await openReadBooks())
  api = await serveReadApi(books, stack)
})
afterAll(() => stack.disposeAsync())

const [ofShop, ofSavings] = ['/v1/deposits/1', '/v1/deposits/4']
const journalsOf = async (deposit: string): Promise<string[]> =>
  (await api.get(deposit)).body.journals.map(({ id }: { id: string }) => id)
const statusOf = async (path: string, token?: string) => (await api.get(path, token)).status

test('a journal is shown with its transfers, its deposit and links', async () => {
  const { journals } = (await api.get(ofShop)).body
  const [{ id }] = journals
  expect((await api.get(`/v1/journals/${id}`)).body).toMatchObject({
    ...journals[0],
    kind: 'deposit',
    deposit_id: '1',
    period: '2026-01',
    reverses: null,
    reversed_by: null,
    links: { self: `/v1/journals/${id}`, proof: `/v1/journals/${id}/proof`, deposit: ofShop },
  })
  expect((await api.get('/v1/journals/999999')).body.code).toBe('not_found')
})

test('a proof is refused until a checkpoint covers the journal, and says when one does', async () => {
  const [id = ''] = await journalsOf(ofShop)
  const { body, headers } = await api.get(`/v1/journals/${id}/proof`)
  expect([body.status, body.code, headers.get('retry-after')]).toEqual([409, 'proof_pending', '20'])
  expect(body.detail).toMatch(/^no checkpoint covers journal \d+ yet.* within 20 s by default$/)
})

test('then it is what the command writes, for the leaf that was stated before', async () => {
  const folder = await temporaryFolder()
  const [id = ''] = await journalsOf(ofShop)
  const { leaf_hash: stated } = (await api.get(`/v1/journals/${id}`)).body
  await sealBooks(books.db, null)
  const { body } = await api.get(`/v1/journals/${id}/proof`)
  expect(body).toMatchObject({ journal_id: id, leaf_hash: stated })
  expect(hashOf('leaf', body.leaf).toString('hex')).toBe(stated)
  const file = join(folder, 'proof')
  const ran = await runCommand(`ledger prove ${id} --out ${file}`, { DATABASE_URL: books.url })
  expect([ran.status, readFileSync(file, 'utf8'), readFileSync(`${file}.leaf`, 'utf8')]).toEqual([
    0,
    body.proof,
    body.leaf,
  ])
})

test('a journal after the last checkpoint waits for the next one', async () => {
  const sealed = await sql<{ number: bigint }>`
    select max(number) as number from seal where sealed_table = 'ledger_journal'`.execute(books.db)
  expect(sealed.rows[0]?.number).not.toBeNull()
  const id = await manual('later')
  expect((await api.get(`/v1/journals/${id}/proof`)).body.code).toBe('proof_pending')
  await sealBooks(books.db, null)
  expect(await statusOf(`/v1/journals/${id}/proof`)).toBe(200)
})

test('rows that are sealed, and in no checkpoint yet, wait too', async () => {
  const id = await manual('between')
  await sealBooks(books.db, null)
  await sql`set session_replication_role = replica`.execute(books.owner)
  const newest = sql`(select max(size) from checkpoint)`
  await sql`delete from checkpoint where size = ${newest}`.execute(books.owner)
  expect((await api.get(`/v1/journals/${id}/proof`)).body.code).toBe('proof_pending')
  const { status, err } = await runCommand(`ledger prove ${id} --out x`, { DATABASE_URL: books.url })
  expect([status, err]).toEqual([2, expect.stringContaining(`${id} is not sealed yet`)])
  await sealBooks(books.db, null)
})

function manual(key: string): Promise<bigint> {
  const transfers = [
    { debit: 'expenses:fees', credit: 'liabilities:suspense', asset: usdcOnBase, amount: 1n },
  ]
  const journal = { key, kind: 'manual', depositId: null, reverses: null, eventAt: at(0), transfers } as const
  return inTransaction(books.owner, (tx) =>
    bookByHand(tx, journal as never, { reason: 'a test', by: 'erin', approvedBy: 'max' }),
  )
}

test('a token for deposits sees journals of deposits, and one for books all', async () => {
  const [id = ''] = await journalsOf(ofShop)
  const byHand = await manual('by hand')
  const deposits = await api.token({ scopes: ['read_deposits'] })
  const reader = await api.token({ scopes: ['read_books'] })
  const writer = await api.token({ scopes: ['write_cases'] })
  for (const rest of ['', '/proof'])
    for (const [token, own, other] of [
      [deposits, 200, 404],
      [reader, 200, rest === '' ? 200 : 409],
      [writer, 403, 403],
    ] as const)
      expect([
        await statusOf(`/v1/journals/${id}${rest}`, token),
        await statusOf(`/v1/journals/${byHand}${rest}`, token),
      ]).toEqual([own, other])
})

test('a limited token sees the journals of its deposits that name no other owner', async () => {
  const [[own = '', renamed = ''], [other = '']] = [await journalsOf(ofSavings), await journalsOf(ofShop)]
  const byHand = await manual('not theirs')
  for (const token of [await api.token({ owners: ['savings'] }), await api.token({ services: ['acme'] })]) {
    const isOfAcme = (await api.get('/v1/deposits', token)).body.data[0].service === 'acme'
    const expected = isOfAcme ? [404, 404, 404] : [200, 404, 404]
    for (const rest of ['', '/proof'])
      expect(
        await Promise.all([own, other, byHand].map((id) => statusOf(`/v1/journals/${id}${rest}`, token))),
      ).toEqual(expected)
  }
  await sql`set session_replication_role = replica`.execute(books.owner)
  await sql`
    update ledger_transfer set credit = 'liabilities:deposits:channel:shop' where journal_id = ${renamed}::bigint`.execute(
    books.owner,
  )
  const token = await api.token({ owners: ['savings'] })
  expect(await statusOf(`/v1/journals/${renamed}`, token)).toBe(404)
  expect(await statusOf(`/v1/journals/${renamed}/proof`, token)).toBe(404)
  const { body } = await api.get(`/v1/journals/${renamed}/proof`)
  expect(body).toMatchObject({ status: 409, code: 'seal_broken' })
})
