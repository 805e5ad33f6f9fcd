import { sql, type Transaction } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { loadGroups } from '../../../src/store/books/evidence.ts'
import { linkGroups } from '../../../src/store/books/groups.ts'
import { inTransaction } from '../../../src/store/database.ts'
import type { Tables } from '../../../src/store/tables.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { usdcOnBase } from '../../support/evidence.ts'
import { explainStatements } from '../../support/explain-statements.ts'

let books: Books

beforeEach(async () => {
  books = await openBooks()
})
afterEach(() => books[Symbol.asyncDispose]())

const groups = 10_000
const atOnce = 100

/** A deposit of each group, booked once, of which four observations speak, found by two keys. */
async function fill(tx: Transaction<Tables>): Promise<void> {
  const numbers = sql`generate_series(1, ${groups}) as one (id)`
  await sql`insert into evidence_group (recheck_at) select null from ${numbers}`.execute(tx)
  await sql`
    insert into link_key (key, group_id)
    select place || '/' || id, id from ${numbers}, generate_series(1, 2) as place`.execute(tx)
  await sql`
    insert into inbox (source, source_key, body, headers, received_at)
    select 'api', id || '/' || place, '', '{}', now() from ${numbers}, generate_series(1, 4) as place`.execute(
    tx,
  )
  await sql`
    insert into evidence (inbox_id, group_id, observation) select id, (id + 3) / 4, '{}' from inbox`.execute(
    tx,
  )
  await sql`
    insert into deposit (group_id, service_id, state, matrix)
    select id, id::text, 'observed', '{}' from evidence_group`.execute(tx)
  await sql`insert into asset (key, network, symbol, decimals) values (${usdcOnBase}, 'base', 'USDC', 6)
    on conflict do nothing`.execute(tx)
  await sql`insert into ledger_account (id, asset) values ('assets:a', ${usdcOnBase}), ('equity:b', ${usdcOnBase})`.execute(
    tx,
  )
  await sql`
    with journal as (
      insert into ledger_journal (posting_key, kind, transfer, deposit_id, event_at, period)
      select id::text, 'deposit', id::text, id, now(), ledger_month(now()) from deposit returning *
    ) insert into ledger_transfer
      select id, 1, 'assets:a', 'equity:b', ${usdcOnBase}, 1, event_at, recorded_at, period from journal`.execute(
    tx,
  )
}

/** Rows that this transaction has read by reading tables from their beginning. */
async function rowsRead(tx: Transaction<Tables>): Promise<Map<string, string>> {
  const { rows } = await sql<{ table: string; read: string }>`
    select relname as table, seq_tup_read::text as read from pg_stat_xact_user_tables
    where relname in ('link_key', 'evidence', 'deposit')`.execute(tx)
  return new Map(rows.map(({ table, read }) => [table, read]))
}

/** What a transaction has not committed is not analyzed. */
describe('before tables were analyzed for the first time', () => {
  test('the groups of a batch are found by indexes', async () => {
    const plans = await inTransaction(books.db, async (tx) => {
      await fill(tx)
      const explained = explainStatements(tx)
      await loadGroups(
        explained.tx,
        Array.from({ length: atOnce }, (_, place) => BigInt(place + 1)),
      )
      return explained.plans
    })
    const [evidence, deposits, journals] = plans
    expect(evidence).toContain('evidence_group_id')
    expect(deposits).toContain('deposit_group_id')
    expect(journals).toContain('deposit_group_id')
    expect(journals).toContain('ledger_journal_deposit_id')
  })

  test('groups that turn out to be one are joined by indexes', async () => {
    await inTransaction(books.db, async (tx) => {
      await fill(tx)
      const before = await rowsRead(tx)
      const pairs = Array.from({ length: atOnce }, (_, place) => [`1/${place + 1}`, `2/${place + 5001}`])
      expect(await linkGroups(tx, pairs)).toHaveLength(atOnce)
      expect(await rowsRead(tx)).toEqual(before)
      const { rows } = await sql`select from evidence where group_id = 1`.execute(tx)
      expect(rows).toHaveLength(8)
    })
  })
})
