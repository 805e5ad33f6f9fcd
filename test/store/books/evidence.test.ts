import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type LinkedObservation, loadGroups, saveEvidence } from '../../../src/store/books/evidence.ts'
import { inTransaction } from '../../../src/store/database.ts'
import { type Books, openBooks } from '../../support/books.ts'
import {
  base,
  channelAddress,
  claim,
  delivery,
  payment,
  txId,
  usdcOnBase,
  webhook,
  withdrawal,
} from '../../support/evidence.ts'
import { run } from '../../support/postgres.ts'

let books: Books

beforeAll(async () => {
  books = await openBooks()
  await books.receive(webhook(), payment())
  await books.settle()
})
afterAll(() => books[Symbol.asyncDispose]())

const changes = [
  `update evidence set observation = jsonb_set(observation, '{amount}', '"1"')`,
  'update evidence set inbox_id = inbox_id + 1000',
  `update chain_transfer set address = '0xother'`,
]

test.each(changes)('what was observed stands, for the daemon and for the owner: %s', async (change) => {
  await expect(sql.raw(change).execute(books.db)).rejects.toThrow(/is append-only|permission denied/)
  await expect(run(books.url, change)).rejects.toThrow('is append-only: update is refused')
})

test('applying a row again changes its group alone, be what it is read as another', async () => {
  const rows = () =>
    sql<{ group_id: bigint; observation: unknown }>`
    select group_id, observation from evidence order by inbox_id limit 1`.execute(books.db)
  const {
    rows: [before],
  } = await rows()
  await run(books.url, 'insert into evidence_group default values')
  const again: LinkedObservation = {
    inboxId: 1n,
    groupId: (before?.group_id ?? 0n) + 1n,
    observation: payment(),
  }
  await inTransaction(books.db, (tx) => saveEvidence(tx, [again]))
  expect((await rows()).rows).toEqual([{ ...before, group_id: again.groupId }])
})

test('the journal of a withdrawal to a deposit address is of its own group, and of no deposit that it pays', async () => {
  await using own = await openBooks()
  const paid = payment()
  const out = withdrawal({
    network: base,
    to: channelAddress,
    tx: paid.tx,
    amount: paid.amount,
    asset: usdcOnBase,
  })
  await own.receive(out, payment({ role: 'recipient' }), paid)
  // The group of the deposit has a withdrawal, too.
  await own.receive(claim(), delivery(), withdrawal({ withdrawalId: 'w-2', tx: txId('forward') }))
  await own.settle()
  const { rows } = await sql<{ id: bigint }>`select id from evidence_group order by id`.execute(own.db)
  const ids = rows.map(({ id }) => id)
  for (const order of [ids, ids.toReversed()]) {
    const groups = await inTransaction(own.db, (tx) => loadGroups(tx, order))
    const kinds = groups.map(({ journals }) => journals.map(({ kind }) => kind).join(' '))
    expect(kinds.toSorted()).toEqual(['deposit settlement conversion', 'withdrawal'])
  }
})

test('a program of before applies a row again, by a statement that names what it says', async () => {
  const again = sql`
    insert into evidence (inbox_id, group_id, observation) select * from evidence
    on conflict (inbox_id) do update set group_id = excluded.group_id, observation = excluded.observation`
  const { rows } = await sql<{ stored: bigint }>`select count(*) as stored from evidence`.execute(books.db)
  expect((await again.execute(books.db)).numAffectedRows).toBe(rows[0]?.stored)
})
