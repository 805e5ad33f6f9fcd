import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Anchors, sealsCheck } from '../../../src/jobs/books/check-seals.ts'
import type { Seal } from '../../../src/ledger/seal.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { bookPayments, seal } from '../../support/sealed-books.ts'
import { tamper } from '../../support/tamper.ts'

let books: Books
let seals: Seal[]

/** Three seals: over the journals 1 to 5, 6 to 10, and 11 to 15. */
beforeEach(async () => {
  books = await openBooks()
  seals = []
  for (const first of [100, 200, 300]) {
    await bookPayments(books, first, 5)
    seals.push(...(await seal(books)))
  }
})
afterEach(() => books[Symbol.asyncDispose]())

const none: Anchors = new Map()
const check = async (anchors = none) => {
  const { findings } = await sealsCheck(anchors).run(books.db, () => undefined)
  return findings
}
const published = () => new Map(seals.map((one) => [one.number, one]))

test('books that nobody touched are as they were sealed, and what came since is not sealed yet', async () => {
  await bookPayments(books, 400, 2)
  const reported: string[] = []
  const outcome = await sealsCheck(published()).run(books.db, (line) => reported.push(line))
  expect(outcome).toEqual({ findings: [], counted: { seals: 3, journals: 15, 'not sealed yet': 2 } })
  expect(reported.at(-1)).toBe('seals: 15 journals of 3 seals checked')
})

const free = 'alter table ledger_journal alter column id drop identity'
const swap = (table: string, key: string, [one, other]: [number, number]) => [
  `update ${table} set ${key} = -${one} where ${key} = ${one}`,
  `update ${table} set ${key} = ${one} where ${key} = ${other}`,
  `update ${table} set ${key} = ${other} where ${key} = -${one}`,
]
const insert = (id: number) =>
  `insert into ledger_journal overriding system value select ${id}, 'new', kind, deposit_id, transfer, reverses, event_at, recorded_at, period from ledger_journal where id = 7`
const copyLeg = (leg: number, journal: number) =>
  `insert into ledger_transfer select ${journal}, ${leg}, debit, credit, asset, amount, event_at, recorded_at, period from ledger_transfer where journal_id = 7`

describe('as superuser, with all guards out of the way', () => {
  test.each<[what: string, statements: string[], finding: string]>([
    [
      'an amount',
      ['update ledger_transfer set amount = amount + 1 where journal_id = 7'],
      'seal 2: journal 7 is altered',
    ],
    [
      'an account',
      ["update ledger_transfer set credit = 'equity:own_funds' where journal_id = 7"],
      'seal 2: journal 7 is altered',
    ],
    [
      'a posting key',
      ["update ledger_journal set posting_key = 'x' where id = 7"],
      'seal 2: journal 7 is altered',
    ],
    [
      'a reason of people',
      ["insert into manual_journal values (7, 'a gift', 'ana', 'erin')"],
      'seal 2: journal 7 is altered',
    ],
    [
      'a time by a microsecond',
      ["update ledger_journal set recorded_at = recorded_at + interval '1 microsecond' where id = 7"],
      'seal 2: journal 7 is altered',
    ],
    [
      'a time of a transfer alone',
      ["update ledger_transfer set event_at = event_at - interval '1 day' where journal_id = 7"],
      'seal 2: journal 7 is altered',
    ],
    [
      'two numbers swapped',
      [free, ...swap('ledger_journal', 'id', [7, 9]), ...swap('ledger_transfer', 'journal_id', [7, 9])],
      'seal 2: journals 7 and 9 are altered',
    ],
    [
      'the amounts of two swapped',
      swap('ledger_transfer', 'journal_id', [7, 9]),
      'seal 2: journals 7 and 9 are altered',
    ],
    [
      'two swapped between seals',
      swap('ledger_transfer', 'journal_id', [5, 6]),
      'seal 1: journal 5 is altered\nseal 2: journal 6 is altered',
    ],
    ['a leg more', [copyLeg(2, 7)], 'seal 2: journal 7 is altered'],
    ['a leg less', ['delete from ledger_transfer where journal_id = 7'], 'seal 2: journal 7 is altered'],
    [
      'a journal removed',
      ['delete from ledger_transfer where journal_id = 7', 'delete from ledger_journal where id = 7'],
      'seal 2: journal 7 is missing',
    ],
    [
      'the last ones cut off',
      ['delete from ledger_transfer where journal_id > 12', 'delete from ledger_journal where id > 12'],
      'seal 3: journals 13 to 15 are missing',
    ],
    [
      'all of a seal removed',
      [
        'delete from ledger_transfer where journal_id between 6 and 10',
        'delete from ledger_journal where id between 6 and 10',
      ],
      'seal 2: journals 6 to 10 are missing',
    ],
    ['a journal before the first', [insert(-5)], 'seal 1: journal -5 was added later'],
    [
      'transfers of no journal',
      ['delete from ledger_journal where id = 7'],
      'seal 2: journal 7 is missing\nseal 2: transfers refer to missing journals: 7',
    ],
    [
      'a journal that is there twice',
      [
        'alter table ledger_journal drop constraint ledger_journal_pkey cascade, drop constraint ledger_journal_posting_key_key',
        insert(7).replace("'new'", 'posting_key'),
      ],
      'seal 2: several journals have the number 7',
    ],
    [
      'a count of journals',
      [
        'alter table ledger_seal drop constraint ledger_seal_leaf_per_journal',
        'update ledger_seal set journals = 4 where number = 2',
      ],
      'seal 2: the seal itself is altered\nseal 2: its 4 journals, from 6 to 10, differ from the sealed ones; 5 are stored, each as it was sealed',
    ],
  ])('%s is found, and where it is', async (_what, statements, finding) => {
    await tamper(books, ...statements)
    expect((await check()).join('\n')).toBe(finding)
  })

  test('a journal put into a gap of a sealed stretch is found', async () => {
    await tamper(books, "select nextval('ledger_journal_id_seq')")
    await bookPayments(books, 500, 1)
    await seal(books)
    expect(await check()).toEqual([])
    await tamper(books, insert(16), copyLeg(1, 16))
    expect(await check()).toEqual(['seal 4: journal 16 was added later'])
  })

  test('a seal that was altered to fit is found, and so is every one behind it that does not follow', async () => {
    await tamper(books, "update ledger_seal set root = repeat('0', 64) where number = 2")
    expect(await check()).toEqual([
      'seal 2: the seal itself is altered',
      expect.stringMatching(/^seal 2: its 5 journals, from 6 to 10, differ from the sealed ones/),
    ])
    await tamper(books, 'delete from ledger_seal where number = 2')
    expect(await check()).toEqual(['seal 3: it follows seal 1: the seals between are missing'])
    await tamper(books, 'delete from ledger_seal where number = 1')
    expect(await check()).toEqual(['seal 3: it follows seal 0: the seals between are missing'])
  })
})

describe('against what was published', () => {
  const cutOff = [
    'delete from ledger_transfer where journal_id > 10',
    'delete from ledger_journal where id > 10',
    'delete from ledger_seal where number = 3',
  ]
  const parting = expect.stringMatching(
    /^the books match the published seals up to seal 2 \(journal 10\) and differ after it/,
  )

  test('the tail that was cut off with its seal is found, which the seals alone do not tell', async () => {
    const anchors = published()
    await tamper(books, ...cutOff)
    expect(await check()).toEqual([])
    expect(await check(anchors)).toEqual([
      `seal 3: missing; it covered 5 journals from 11 to 15 and was published as ${seals[2]?.hash}`,
      parting,
    ])
  })

  test('books that were sealed anew after a change are not those that were published', async () => {
    const anchors = published()
    await tamper(books, ...cutOff)
    await bookPayments(books, 900, 5)
    await seal(books)
    expect(await check()).toEqual([])
    expect(await check(anchors)).toEqual([
      `seal 3: differs from the published seal, whose hash is ${seals[2]?.hash}`,
      parting,
    ])
  })

  test('where something is altered before, nothing is said to be whole up to a seal', async () => {
    const anchors = published()
    await tamper(books, ...cutOff, 'update ledger_transfer set amount = amount + 1 where journal_id = 7')
    expect(await check(anchors)).toEqual([
      'seal 2: journal 7 is altered',
      expect.stringMatching(/^seal 3: missing/),
    ])
  })
})
