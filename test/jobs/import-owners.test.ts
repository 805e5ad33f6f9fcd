import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { byProgram } from '../../src/core/address-book.ts'
import type { Address } from '../../src/core/asset.ts'
import type { Owner } from '../../src/core/evidence.ts'
import { checkImport } from '../../src/jobs/import-owners.ts'
import type { OwnerFileRow } from '../../src/provider/owners-file.ts'
import { readWatchList } from '../../src/store/chain/chain-watch.ts'
import { inTransaction } from '../../src/store/database.ts'
import { keepOwners, readOwners, saveOwner } from '../../src/store/owners.ts'
import { type Books, openBooks } from '../support/books.ts'
import { arbitrum, at, base, recipient } from '../support/evidence.ts'
import { evmNetwork } from '../support/made-up-networks.ts'

let books: Books
beforeAll(async () => {
  books = await openBooks()
  await saveOwner(books.db, {
    owner: { kind: 'channel', id: 'till' },
    deposits: [{ network: base, address: address('aa') }],
    forward: { network: arbitrum, asset: 'USDC', recipient },
  })
})
afterAll(() => books[Symbol.asyncDispose]())

const networks = [evmNetwork('base'), evmNetwork('arbitrum')]
const address = (last: string) => `0x${last.padStart(40, '0')}` as Address
const forward = { network: 'arbitrum', asset: 'USDC', recipient: address('beef') }

function row(id: string, line: number, changes: Partial<OwnerFileRow> = {}): OwnerFileRow {
  return { line, id, network: 'base', address: address(`c${line}`), forward, ...changes }
}

const check = (rows: readonly OwnerFileRow[], kind: Owner['kind'] = 'channel') =>
  checkImport({ db: books.db, networks }, { kind, rows })

/** Checks a file, and adds what it has. */
async function run(rows: readonly OwnerFileRow[], kind: Owner['kind'] = 'channel') {
  const checked = await check(rows, kind)
  if (checked.kind === 'refused') return checked
  const { entries, isNew: _isNew, ...counts } = checked
  const { added } = await inTransaction(books.db, (tx) => keepOwners(tx, entries, byProgram))
  return { ...counts, added }
}

async function everything(): Promise<object[]> {
  const { rows } = await sql<object>`
    select o.*, b.* from owner o full join address_book b on b.owner_id = o.id order by 1, 2, network, address, role`.execute(
    books.db,
  )
  return rows
}

test('channels are taken in with their addresses and recipients, and once', async () => {
  const rows = [row('a', 2), row('a', 3, { network: 'arbitrum' }), row('b', 4, { address: address('c4') })]
  const imported = { kind: 'valid', owners: 2, addresses: 3 }
  expect(await run(rows)).toEqual({ ...imported, added: 2 })
  expect(await readOwners(books.db, 'channel', ['a'])).toEqual([
    {
      owner: { kind: 'channel', id: 'a' },
      deposits: [
        { network: 'arbitrum', address: address('c3') },
        { network: 'base', address: address('c2') },
      ],
      forward,
    },
  ])
  const before = await everything()
  expect(await run(rows)).toEqual({ ...imported, added: 0 })
  expect(await everything()).toEqual(before)
})

test('what is older than its place in the book is watched from where it was made, recipients too', async () => {
  const old = address('01d')
  const rows = [
    row('old', 5, { createdAt: at(2), forward: { ...forward, recipient: old } }),
    row('old', 6, { network: 'arbitrum', createdAt: at(1), forward: { ...forward, recipient: old } }),
    row('new', 7, { createdAt: new Date('2999-01-01') }),
  ]
  expect(await run(rows)).toMatchObject({ kind: 'valid', added: 2 })
  const createdAt = async (network: typeof base, place: string) =>
    (await readWatchList(books.db, network)).find((entry) => entry.address === place)?.createdAt
  expect(await createdAt(base, address('c5'))).toEqual(at(1))
  expect(await createdAt(arbitrum, old)).toEqual(at(1))
  const { rows: clock } = await sql<{ now: Date }>`select now()`.execute(books.db)
  expect(await createdAt(base, address('c7'))).toSatisfy((time: Date) => time <= (clock[0]?.now ?? time))
})

test('a check keeps nothing', async () => {
  const before = await everything()
  const counts = { owners: 1, added: 1, addresses: 1, isNew: true }
  expect(await check([row('dry', 20)])).toMatchObject({ kind: 'valid', ...counts })
  expect(await check([row('dry', 20), row('till', 21)])).toMatchObject({ kind: 'refused' })
  expect(await everything()).toEqual(before)
})

test.each<[string, OwnerFileRow[], [number, RegExp][]]>([
  [
    'an unknown network',
    [row('x', 30, { network: 'moon' })],
    [[30, /^unknown network moon; known networks: base, arbitrum$/]],
  ],
  [
    'a recipient that cannot be paid, and an address that is none: both',
    [row('x', 30, { address: 'abc', forward: { ...forward, recipient: address('0') } })],
    [
      [30, /^abc is not/],
      [30, /is the zero address$/],
    ],
  ],
  [
    'two rules of one channel',
    [row('x', 30), row('x', 31, { network: 'arbitrum', forward: { ...forward, asset: 'USDT' } })],
    [[31, /^x forwards to another address on an earlier line$/]],
  ],
  [
    'two addresses of one channel on one network',
    [row('x', 30), row('x', 31)],
    [[31, /^x has another address on base on an earlier line$/]],
  ],
  [
    'one address of two channels',
    [row('x', 30), row('y', 31, { address: address('c30') })],
    [[31, /^0x0*c30 on base belongs to channel x$/]],
  ],
  [
    'a channel that forwards elsewhere',
    [row('till', 30, { address: address('aa') })],
    [[30, /^channel till forwards USDC to .*ff on arbitrum, not USDC to .*beef on arbitrum$/]],
  ],
  ["somebody else's address", [row('x', 30, { address: address('aa') })], [[30, /belongs to channel till$/]]],
  [
    'a recipient that is a deposit address',
    [row('x', 30), row('y', 31, { forward: { ...forward, network: 'base', recipient: address('aa') } })],
    [[31, /is a deposit address of channel\/till: forwarded amounts would arrive there as new deposits$/]],
  ],
  [
    'a recipient that is a deposit address of the same file',
    [row('x', 30), row('y', 31, { forward: { ...forward, recipient: address('c30') } })],
    [[31, /is a deposit address of channel\/x/]],
  ],
])('nothing is taken in with %s', async (_what, rows, faults) => {
  const before = await everything()
  const found = await run([row('good', 29), ...rows])
  if (found.kind !== 'refused') throw new Error('it was taken in')
  expect(found.faults.map(({ line }) => line)).toEqual(faults.map(([line]) => line))
  for (const [place, [, problem]] of faults.entries()) expect(found.faults[place]?.problem).toMatch(problem)
  expect(await everything()).toEqual(before)
})

test('of twenty imports of one file at once, one adds', async () => {
  const rows = Array.from({ length: 30 }, (_, place) => row(`racer ${place}`, 100 + place))
  const results = await Promise.all(Array.from({ length: 20 }, () => run(rows)))
  const added = results.map((one) => (one.kind === 'valid' ? one.added : -1))
  expect(added.toSorted((left, right) => left - right)).toEqual([...Array.from({ length: 19 }, () => 0), 30])
})

test('a wallet is taken in without a recipient', async () => {
  const rows = [row('jar', 50, { forward: null })]
  await run(rows, 'stable_wallet')
  await saveOwner(books.db, {
    owner: { kind: 'stable_wallet', id: 'jar' },
    deposits: [{ network: base, address: address('c50') }],
    forward: null,
  })
  expect(await readOwners(books.db, 'stable_wallet', ['jar'])).toMatchObject([{ forward: null }])
})
