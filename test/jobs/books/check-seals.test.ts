import { sql } from 'kysely'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type LogTrust, sealsCheck } from '../../../src/jobs/books/check-seals.ts'
import { sealBooks } from '../../../src/jobs/books/seal-books.ts'
import { makeSigningKey } from '../../../src/ledger/checkpoint.ts'
import { type SealedTableName, sealedTable, sealedTableNames } from '../../../src/ledger/sealed-tables.ts'
import { openDatabase } from '../../../src/store/database.ts'
import type { Tables } from '../../../src/store/tables.ts'
import { type Books, openBooks, openBooksIn } from '../../support/books.ts'
import { copyOf } from '../../support/postgres.ts'
import { bookPayments, checkLog, publishedOf } from '../../support/sealed-books.ts'
import { tamper } from '../../support/tamper.ts'

const { signer } = makeSigningKey('example.com/books', 'log')
let made: Books
let books: Books
let trust: LogTrust

/** Rows of each sealed table, sealed in two parts, and published; each test has a copy. */
beforeAll(async () => {
  made = await openBooks()
  books = made
  await bookPayments(books, 100, 3)
  await fill()
  await sealBooks(books.db, signer)
  await bookPayments(books, 200, 3)
  await fill()
  await sealBooks(books.db, signer)
  trust = { keys: [signer], published: await publishedOf(books) }
  await Promise.all([books.db.destroy(), books.owner.destroy()])
  return () => made[Symbol.asyncDispose]()
})
beforeEach(async () => {
  books = openBooksIn(await copyOf(made.url))
  return () => books[Symbol.asyncDispose]()
})

/** Three rows of each table but those that `bookPayments` and `openBooks` fill. */
async function fill(): Promise<void> {
  const statements = [
    `insert into mismatch (kind, subject, severity, detail, opened_at)
      select 'seal_broken', 'test/' || gen_random_uuid(), 'severe', '{}', now()`,
    `insert into inbox (source, source_key, body, received_at)
      select 'chain', gen_random_uuid()::text, 'a body', now() from generate_series(1, 3)`,
    `insert into credit_safety (deposit_id, number, action, journal_id, account, asset, amount, height, block_hash, final_at, reason) select last + n, 1, 'safe', last + n, 'liabilities:deposits:channel:shop', asset, 100, 1, '0xb10c', now(), 'final'
      from (select coalesce(max(id), 0) as last from credit_safety), (select min(key) as asset from asset), generate_series(1, 3) as n`,
    `insert into mismatch_event (mismatch_id, actor, action, text, approved_by)
      select (select max(id) from mismatch), 'ana', 'resolved', 'refunded', name from unnest(array['erin', 'max', 'kim']) as name`,
    `insert into mismatch_attachment (mismatch_id, name, content, sha256, added_by)
      select (select max(id) from mismatch), name, 'a file', encode(sha256('a file'), 'hex'), 'ana' from unnest(array['a', 'b', 'c']) as name`,
    `insert into ledger_period_event (period, action, actor) select '2026-01-01', 'soft_closed', name
      from unnest(array['ana', 'erin', 'max']) as name`,
    `insert into decision (uuid, kind, people, text) select gen_random_uuid(), 'close', 1, 'a text' from generate_series(1, 3)`,
    `insert into decision_event (decision_id, action, person, signature) select max(id), 'signed', name, 'a line'
      from decision, unnest(array['ana', 'erin', 'max']) as name group by name order by name`,
    `insert into access_event (person, action) select name, 'signed_in' from unnest(array['ana', 'erin', 'max']) as name`,
    `insert into owner (kind, id, added_by) select 'stable_wallet', gen_random_uuid()::text, 'ana' from generate_series(1, 3)`,
    `insert into address_book (network, address, role, added_by, approved_by) select 'base', gen_random_uuid()::text, 'recipient', 'ana', 'max' from generate_series(1, 3)`,
    `insert into address_end (address_id, valid_until, reason, ended_by) select 1, now(), 'moved', name from unnest(array['ana', 'erin', 'max']) as name`,
    `insert into price (asset, currency, at, price, source)
      select min(key), 'EUR', now() + n * interval '1 s', 0.9, gen_random_uuid()::text from asset, generate_series(1, 3) as n group by n order by n`,
    `insert into rule_set (rules) select '{"n":' || n || '}' from generate_series(1, 3) as n`,
    `insert into opening_lot (journal_id, account, asset, acquired_at, units, cost, currency)
      select 1, 'assets:own', min(key), now() + n * interval '1 s', n, 100, 'EUR' from asset, generate_series(1, 3) as n group by n order by n`,
    `insert into valuation_rule (currency, max_age) select 'EUR', n * interval '1 hour' from generate_series(1, 3) as n`,
  ]
  await sql`set session_replication_role = replica`.execute(books.owner)
  for (const statement of statements) await sql.raw(statement).execute(books.owner)
}

test('a log that was left alone is as it was sealed; new rows are not sealed yet', async () => {
  await bookPayments(books, 400, 2)
  const reported: string[] = []
  const outcome = await sealsCheck(trust).run(books.db, (line) => reported.push(line))
  const rows = Math.max(...trust.published.keys())
  expect(outcome).toEqual({ findings: [], counted: { seals: 32, rows, 'not sealed yet': 2 } })
  expect(reported.at(-1)).toBe(`seals: ${rows} rows of 32 seals checked`)
})

type Tampering = { table: SealedTableName; id: string; one: string; several: string }

/** An update, as it is found. */
const updates: Record<SealedTableName, [change: string, found: string]> = {
  inbox: [`body = 'another'`, 'body is "'],
  ledger_journal: [`posting_key = 'other'`, 'posting_key is "other"'],
  credit_safety: ['amount = 99', 'amount is "99", was "100"'],
  mismatch_event: [`approved_by = 'kim'`, 'approved_by is "kim", was "max"'],
  mismatch_attachment: [`added_by = 'kim'`, 'added_by is "kim", was "ana"'],
  ledger_period_event: [`actor = 'max'`, 'actor is "max", was "erin"'],
  decision: [`text = 'another'`, 'text is "another", was "a text"'],
  decision_event: [`person = 'kim'`, 'person is "kim", was "erin"'],
  access_event: [`person = 'kim'`, 'person is "kim", was "erin"'],
  owner: [`created_at = '2020-01-01Z'`, 'created_at is "2020-01-01T00:00:00.000000Z"'],
  address_book: [`approved_by = 'kim'`, 'approved_by is "kim", was empty'],
  address_end: [`ended_by = 'kim'`, 'ended_by is "kim", was "erin"'],
  price: ['price = 0.8', 'price is "0.8", was "0.9"'],
  rule_set: [`rules = '{}'`, 'rules is "{}"'],
  opening_lot: ['cost = 99', 'cost is "99", was "100"'],
  valuation_rule: [`max_age = '3 hours'`, 'max_age is "10800.000000", was "7200.000000"'],
}

describe.each(
  sealedTableNames.map((table): Tampering => {
    const { id, names } = sealedTable(table)
    return { table, id, one: names[0], several: names[1] }
  }),
)('as superuser, in $table', ({ table, id, one, several }) => {
  const [change, found] = updates[table]
  // The tables have their own guards against two rows with one key.
  const unguarded = `alter table ${table} alter column ${id} drop identity`

  test('an update, and a delete', async () => {
    await tamper(books, `update ${table} set ${change} where ${id} = 2`)
    expect(await checkLog(books, trust)).toEqual([expect.stringContaining(`: ${one} 2 is altered: ${found}`)])
    await tamper(books, `delete from ${table} where ${id} = 2`)
    expect((await checkLog(books, trust)).join('\n')).toContain(`: ${one} 2 is missing`)
  })

  test('an insert before the first, and in place of a deleted row', async () => {
    const copy = (to: number) =>
      `insert into ${table} overriding system value
        select copy.* from ${table} as own, jsonb_populate_record(own, '{"${id}": ${to}}') as copy where own.${id} = 3`
    const { rows } = await keysBeside(table)
    await tamper(books, ...rows.map(({ drop }) => drop), copy(-5))
    expect(await checkLog(books, trust)).toEqual([expect.stringContaining(`: ${one} -5 was added later`)])
    await tamper(books, `delete from ${table} where ${id} in (2, -5)`, copy(2))
    expect(await checkLog(books, trust)).toEqual([expect.stringContaining(`: ${one} 2 is altered`)])
  })

  test('two rows that change places', async () => {
    const swap = [
      [2, -2],
      [3, 2],
      [-2, 3],
    ].map(([from, to]) => `update ${table} set ${id} = ${to} where ${id} = ${from}`)
    await tamper(books, unguarded, ...swap)
    const findings = (await checkLog(books, trust)).join('\n')
    expect(findings).toContain(`: ${one} 2 is altered`)
    expect(findings).toContain(`: ${one} 3 is altered`)
  })

  test('the tail cut off, with all later seals', async () => {
    const { rows } = await sql<{ number: bigint; after: bigint; leaf: number }>`
      select max(number) as number, max(after_id) as after, max(first_leaf)::float8 as leaf from seal
      where sealed_table = ${table}`.execute(books.db)
    const [{ number, after, leaf } = { number: 0n, after: 0n, leaf: 0 }] = rows
    await tamper(books, `delete from ${table} where ${id} > ${after}`)
    expect((await checkLog(books, trust)).join('\n')).toMatch(
      new RegExp(`: (?:${one} \\d+ is|${several} .* are) missing`),
    )
    await tamper(books, `delete from seal where number >= ${number}`)
    expect((await checkLog(books, trust)).join('\n')).toContain(
      `: the log ends at row ${leaf}; its last seals are missing`,
    )
    await tamper(books, `delete from checkpoint where size > ${leaf}`)
    expect(await checkLog(books, { ...trust, published: new Map() })).toEqual([])
    expect(await checkLog(books, trust)).toEqual([
      expect.stringContaining(`was published, and the log ends at row ${leaf}`),
      expect.stringContaining('the log matches the published checkpoints up to row'),
    ])
  })
})

/** Statements that drop all unique keys of a table. */
async function keysBeside(table: string) {
  return sql<{ drop: string }>`
    select format('alter table %I drop constraint %I cascade', ${table}::text, conname) as drop from pg_constraint
    where conrelid = ${table}::regclass and contype in ('u', 'p')`.execute(books.db)
}

const copyLine = (leg: number, journal: number) =>
  `insert into ledger_transfer select ${journal}, ${leg}, debit, credit, asset, amount, event_at, recorded_at, period from ledger_transfer where journal_id = 2`

describe('as superuser, in parts of a row', () => {
  test.each<[what: string, statements: string[], finding: string]>([
    [
      'an amount',
      ['update ledger_transfer set amount = amount + 1 where journal_id = 2'],
      'journal 2 is altered: line 1 amount is "1102"',
    ],
    [
      'an account that no other line has',
      [`update ledger_transfer set credit = 'equity:own_funds' where journal_id = 2`],
      'journal 2 is altered: line 1 credit is "equity:own_funds", was "liabilities:suspense"',
    ],
    [
      'a reason of people',
      [
        `insert into manual_journal (journal_id, reason, made_by, approved_by) values (2, 'a gift', 'ana', 'erin')`,
      ],
      'journal 2 is altered: reason is "a gift", was empty; made_by is "ana", was empty; approved_by is "erin", was empty',
    ],
    [
      'a time by a microsecond',
      [`update ledger_journal set recorded_at = recorded_at + interval '1 microsecond' where id = 2`],
      'journal 2 is altered: recorded_at is ',
    ],
    ['a line more', [copyLine(2, 2)], 'journal 2 is altered: its number of lines'],
    [
      'a line less',
      ['delete from ledger_transfer where journal_id = 2'],
      'journal 2 is altered: its number of lines',
    ],
    ['lines of no journal', [copyLine(1, -9)], 'ledger_transfer refers to missing journals: -9'],
    [
      'a trial balance',
      [`insert into ledger_period_balance values (2, 'assets:x', 'base/y', 1, 1)`],
      'period event 2 is altered: its number of lines',
    ],
  ])('%s', async (_what, statements, finding) => {
    await tamper(books, ...statements)
    expect(await checkLog(books, trust)).toEqual([expect.stringContaining(`: ${finding}`)])
  })

  test('more rows than are named', async () => {
    await bookPayments(books, 500, 30)
    await sealBooks(books.db, signer)
    await tamper(books, 'update ledger_transfer set amount = amount + 1 where journal_id > 6')
    const findings = await checkLog(books, trust)
    expect(findings).toHaveLength(21)
    expect(findings.at(-1)).toMatch(/: journals 27 to 36 are altered$/)
  })
})

describe('as superuser, in the log itself', () => {
  test.each<[what: string, statements: string[], finding: RegExp]>([
    [
      'a leaf with its row',
      [
        `update ledger_journal set posting_key = 'x' where id = 2`,
        `update seal set hashes = set_byte(hashes, 0, (get_byte(hashes, 0) + 1) % 256) where number = 2`,
      ],
      /^seal 2: checkpoint \d+ is over other rows|^seal \d+: checkpoint \d+ is over other rows/m,
    ],
    [
      'a root',
      [`update checkpoint set root = decode(repeat('00', 32), 'hex')`],
      /checkpoint \d+ is over other rows/,
    ],
    [
      'a note',
      [`update checkpoint set note = replace(note, 'example', 'exemple')`],
      /checkpoint \d+ is not signed by example/,
    ],
    [
      'a size in a note',
      [`update checkpoint set note = replace(note, format(E'\\n%s\\n', size), format(E'\\n%s\\n', 7))`],
      /checkpoint \d+: its note is altered/,
    ],
    [
      'a seal left out',
      ['delete from seal where number = 3'],
      /^seal 4: it follows seal 2: the seals between are missing/m,
    ],
    [
      'the range of a seal',
      ['update seal set after_id = after_id - 1 where number = 17'],
      /^seal 17: it does not continue the seals before it/m,
    ],
    ['marks alone', [`update seal set marks = ''`], /^$/],
  ])('%s', async (_what, statements, finding) => {
    await tamper(books, ...statements)
    expect((await checkLog(books, trust)).join('\n')).toMatch(finding)
  })
})

test('as superuser, a change with a whole new log over it', async () => {
  await tamper(
    books,
    `update ledger_journal set posting_key = 'other' where id = 2`,
    'delete from seal',
    'delete from seal_node',
    'delete from checkpoint',
  )
  await sealBooks(books.db, null)
  expect(await checkLog(books, { ...trust, published: new Map() })).toEqual([
    expect.stringContaining('is not signed by example.com/books'),
  ])
  await tamper(books, 'delete from seal', 'delete from seal_node', 'delete from checkpoint')
  await sealBooks(books.db, makeSigningKey('example.com/books', 'log').signer)
  expect((await checkLog(books, { ...trust, published: new Map() })).join('\n')).toContain('is not signed by')
  await tamper(books, 'delete from seal', 'delete from seal_node', 'delete from checkpoint')
  await sealBooks(books.db, signer)
  expect((await checkLog(books, trust)).join('\n')).toMatch(
    /the log ends at row|differs from the published one/,
  )
})

test('without a key, signatures are not checked; without a published checkpoint, a log that was cut off is whole', async () => {
  await tamper(books, `update checkpoint set note = replace(note, 'example', 'exemple')`)
  expect(await checkLog(books)).toEqual([])
})

test('a login that may not read a table checks the others, and says so', async () => {
  const login = { url: books.url, poolMax: 1, applicationName: 'test', role: 'depositd_accountant' }
  await using reader = openDatabase<Tables>(login)
  const { findings, counted } = await sealsCheck(trust).run(reader, () => undefined)
  expect(findings).toEqual([])
  expect(counted['tables that this login may not read']).toBeGreaterThan(0)
})
