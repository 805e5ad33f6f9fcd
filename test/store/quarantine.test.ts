import { afterEach, beforeEach, expect, test } from 'vitest'
import { defaultService, type ServiceName } from '../../src/core/evidence.ts'
import {
  dropQuarantined,
  keepQuarantined,
  listQuarantine,
  newestQuarantined,
  type QuarantineRow,
  readQuarantine,
} from '../../src/store/quarantine.ts'
import { type Books, openBooks } from '../support/books.ts'
import { at } from '../support/evidence.ts'

let books: Books
beforeEach(async () => {
  books = await openBooks()
})
afterEach(() => books[Symbol.asyncDispose]())

function delivery(source: string, body = '{}', changes: Partial<QuarantineRow> = {}): QuarantineRow {
  return {
    service: defaultService,
    receivedAt: at(1),
    source,
    reason: 'signature_wrong',
    headers: {},
    body: Buffer.from(body),
    ...changes,
  }
}

const wide = { rowsMax: 1000, bytesMax: 1_000_000 }
const keep = (rows: readonly QuarantineRow[], bounds = {}) =>
  keepQuarantined(books.db, rows, { ...wide, ...bounds })

async function kept(): Promise<string[]> {
  const rows = await readQuarantine(books.db, { ids: null, after: 0n, limit: 1000 })
  return rows.map(({ source, body }) => `${source} ${body.toString().slice(0, 4)}`)
}

const numbered = (source: string, from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, place) => delivery(source, `${from + place}`))

test('a delivery comes back byte for byte, with its headers, time, client and reason', async () => {
  const headers = { 'webhook-id': 'msg_1' }
  const body = Buffer.from([0, 255, 0x7b, 0xd8, 0x0a])
  await keep([delivery('192.0.2.1', '', { service: 'acme' as ServiceName, headers, body })])
  expect(await readQuarantine(books.db, { ids: null, after: 0n, limit: 10 })).toEqual([
    {
      id: 1n,
      service: 'acme',
      receivedAt: at(1),
      source: '192.0.2.1',
      reason: 'signature_wrong',
      headers,
      body,
    },
  ])
})

test('over the bound of rows the oldest go', async () => {
  await keep(numbered('a', 1, 3), { rowsMax: 3 })
  await keep(numbered('a', 4, 5), { rowsMax: 3 })
  expect(await kept()).toEqual(['a 3', 'a 4', 'a 5'])
})

test('a flood pushes out its own and not what others sent before it', async () => {
  await keep(numbered('quiet', 1, 3), { rowsMax: 10 })
  await keep(numbered('flood', 1, 50), { rowsMax: 10 })
  expect(await kept()).toEqual([
    'quiet 1',
    'quiet 2',
    'quiet 3',
    ...[44, 45, 46, 47, 48, 49, 50].map((number) => `flood ${number}`),
  ])
})

test('many floods at once leave each client the same share', async () => {
  const clients = ['a', 'b', 'c', 'd', 'e']
  await Promise.all(clients.map((client) => keep(numbered(client, 1, 40), { rowsMax: 20 })))
  const sources = (await kept()).map((line) => line.slice(0, 1))
  expect(clients.map((client) => sources.filter((one) => one === client).length)).toEqual([4, 4, 4, 4, 4])
})

test('large bodies take the share of bytes, and small ones of others stay', async () => {
  await keep(numbered('quiet', 1, 20), { bytesMax: 20_000 })
  const large = Array.from({ length: 5 }, () => delivery('large', 'x'.repeat(5000)))
  await keep(large, { bytesMax: 20_000 })
  const lines = await kept()
  expect(lines.filter((line) => line.startsWith('quiet'))).toHaveLength(20)
  expect(lines.filter((line) => line.startsWith('large'))).toHaveLength(3)
})

test('one that is larger than all there may be is not kept', async () => {
  await keep([delivery('a', 'x'.repeat(5000))], { bytesMax: 5000 })
  expect(await kept()).toEqual([])
})

test('the list is the newest first, with what tells one from another', async () => {
  await keep([delivery('a'), delivery('b', '{"b":1}', { headers: { 'user-agent': 'sender/1' } })])
  expect(await listQuarantine(books.db, { limit: 1 })).toEqual([
    {
      id: '2',
      service: 'default',
      received_at: at(1),
      source: 'b',
      reason: 'signature_wrong',
      bytes: 7,
      user_agent: 'sender/1',
    },
  ])
})

test('pages are read by number, and only what is asked for is dropped', async () => {
  await keep(numbered('a', 1, 5))
  const page = await readQuarantine(books.db, { ids: [2n, 4n, 99n], after: 2n, limit: 10 })
  expect(page.map(({ id }) => id)).toEqual([4n])
  expect(await dropQuarantined(books.db, [2n, 4n, 99n])).toHaveLength(2)
  expect(await kept()).toEqual(['a 1', 'a 3', 'a 5'])
  expect(await dropQuarantined(books.db, null)).toHaveLength(3)
})

test('samples are of each client in turn, so that a flood hides none, oldest first', async () => {
  await keep([...numbered('quiet', 1, 2), ...numbered('flood', 1, 50)], { rowsMax: 100 })
  const samples = await newestQuarantined(books.db, 5)
  expect(samples.map(({ source, body }) => `${source} ${body.toString()}`)).toEqual([
    'quiet 1',
    'quiet 2',
    'flood 48',
    'flood 49',
    'flood 50',
  ])
})
