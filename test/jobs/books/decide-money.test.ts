import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import type { ServiceId } from '../../../src/core/evidence.ts'
import { decisionsCheck } from '../../../src/jobs/people/check-decisions.ts'
import { approveDecision, decideUnsigned, requestDecision } from '../../../src/jobs/people/decide.ts'
import { readGauges } from '../../../src/store/gauges.ts'
import { type Books } from '../../support/books.ts'
import { at, claim, delivery, payment, txId, webhook } from '../../support/evidence.ts'
import { problemOf } from '../../support/manual-journals.ts'
import { decideTogether, signers } from '../../support/people.ts'
import {
  balances,
  booksWithPeople,
  expectBalanced,
  mismatches,
  moneyDeps,
  openKinds,
  overdue,
  reason,
  unsettled,
  withdrawn,
  writeOff,
  writeOffRequest,
} from '../../support/write-offs.ts'

let books: Books

beforeEach(async () => {
  books = await booksWithPeople()
})

const owed = { 'liabilities:deposits:channel:shop base': '-100000000' }

test('what is written off is out of transit at once, and its mismatch ends with the reason', async () => {
  const id = await overdue(books)
  expect(await readGauges(books.db)).toMatchObject({
    atRisk: [{ units: 100 }],
    stages: expect.arrayContaining([expect.objectContaining({ stage: 'settlement' })]),
  })
  await writeOff(books, id)
  expect(await balances(books)).toEqual({ ...owed, 'expenses:write_off base': '100000000' })
  await expectBalanced(books)
  expect(await mismatches(books)).toEqual([
    { id, kind: 'settlement_missing', status: 'cleared', reason: 'the service is bankrupt' },
  ])
  await books.settle()
  expect(await mismatches(books)).toHaveLength(1)
  const { rows } = await sql`
    select actor, action, text, approved_by from accounting.mismatch_history
    where mismatch_id = ${id} and action not in ('opened', 'cleared') order by at, action desc`.execute(
    books.db,
  )
  expect(rows).toEqual([
    { actor: 'erin', action: 'written_off', text: 'the service is bankrupt', approved_by: 'max' },
    { actor: 'erin', action: 'resolved', text: 'the service is bankrupt', approved_by: 'max' },
  ])
  const { atRisk, stages } = await readGauges(books.db)
  expect(atRisk).toEqual([])
  expect(stages).toEqual([])
})

test('at the expense of the owner it withdraws the credit; after a delivery, the owner may be credited again', async () => {
  const id = await overdue(books)
  const credits = async () => {
    const { rows } = await sql`
      select number, action, kind, reason from credit_safety c join ledger_journal j on j.id = journal_id order by c.id`.execute(
      books.db,
    )
    return rows
  }
  const safe = { action: 'safe', kind: 'deposit' }
  expect(await credits()).toMatchObject([safe])
  await writeOff(books, id, { verdict: 'write_off', account: 'owner' })
  const written = {
    action: 'withdrawn',
    kind: 'write_off',
    reason: expect.stringContaining('expense of its owner'),
  }
  expect(await credits()).toMatchObject([safe, written])
  await books.receive(webhook(), claim(), delivery())
  await books.settle()
  expect(await credits()).toMatchObject([safe, written, { ...safe, number: 3 }])
})

test('a delivery that is proved after all is booked, and the write-off taken back: nothing is in transit', async () => {
  await writeOff(books, await overdue(books))
  await books.receive(webhook(), claim(), delivery())
  await books.settle()
  expect(await balances(books)).toEqual({
    'liabilities:deposits:channel:shop arbitrum': '-100000000',
    'assets:forwarded:arbitrum:0x00000000000000000000000000000000000000ff arbitrum': '99900000',
    'expenses:fees:service arbitrum': '100000',
  })
  await expectBalanced(books)
  const { rows } = await sql<{ kind: string }>`select kind from ledger_journal order by id`.execute(books.db)
  expect(rows.map(({ kind }) => kind)).toEqual([
    'deposit',
    'write_off',
    'reversal',
    'settlement',
    'conversion',
  ])
  const { rows: states } = await sql`select state from deposit`.execute(books.db)
  expect(states).toEqual([{ state: 'reconciled' }])
})

test('a write-off that is withdrawn puts it back in transit, and its delivery is missed again', async () => {
  const id = await overdue(books)
  await writeOff(books, id)
  await writeOff(books, id, withdrawn)
  expect(await balances(books)).toEqual({ ...owed, 'assets:in_transit:base base': '100000000' })
  await expectBalanced(books)
  expect((await mismatches(books)).map(({ kind, status }) => `${kind} ${status}`)).toEqual([
    'settlement_missing cleared',
    'settlement_missing open',
  ])
  await expect(writeOff(books, id, withdrawn)).rejects.toThrow('is not written off')
  await writeOff(books, (await mismatches(books))[1]?.id ?? 0n)
  expect(await balances(books)).toEqual({ ...owed, 'expenses:write_off base': '100000000' })
})

test('nothing is written before a second person signs, unless the amount is within the limit', async () => {
  const id = await overdue(books)
  const { id: decision } = await requestDecision(moneyDeps(books), writeOffRequest(id), signers.erin)
  expect((await mismatches(books))[0]?.status).toBe('open')
  const { rows } = await sql`select 1 from inbox where source = 'person'`.execute(books.db)
  expect(rows).toEqual([])
  expect(await problemOf(approveDecision(moneyDeps(books), decision, signers.erin))).toContain(
    'cannot approve',
  )
  const limits = moneyDeps(books, new Map([['base/USDC', '100']]))
  expect(await requestDecision(limits, writeOffRequest(id), signers.erin)).toMatchObject({
    result: { verdict: { kind: 'write_off' } },
  })
  expect(await balances(books)).toEqual({ ...owed, 'expenses:write_off base': '100000000' })
})

test('what people sign is exactly what is booked, and the journal names their decision', async () => {
  const id = await overdue(books)
  const { id: decision, content } = await requestDecision(moneyDeps(books), writeOffRequest(id), signers.erin)
  expect(content.grounds).toMatchObject({
    evidence: expect.stringMatching(/^[0-9a-f]{64}$/),
    books: [
      { verdict: { kind: 'write_off' } },
      { transfers: [{ debit: 'expenses:write_off', amount: '100000000' }] },
    ],
  })
  await approveDecision(moneyDeps(books), decision, signers.max)
  const { rows } =
    await sql`select kind, made_by, approved_by, decision_id from accounting.manual_journals`.execute(
      books.db,
    )
  expect(rows).toEqual([{ kind: 'write_off', made_by: 'erin', approved_by: 'max', decision_id: decision }])
  expect(await decisionsCheck(signers.erin.key).run(books.db, () => undefined)).toMatchObject({
    findings: [],
    counted: { unsigned: 0 },
  })
})

test('without signatures, the owner of the database writes off once, and it is counted as one', async () => {
  const id = await overdue(books)
  const alone = decideUnsigned(moneyDeps(books), writeOffRequest(id), { by: 'erin', approvedBy: null })
  expect(await problemOf(alone)).toBe('this takes two people')
  await decideUnsigned(moneyDeps(books), writeOffRequest(id), { by: 'erin', approvedBy: 'max' })
  expect(await balances(books)).toEqual({ ...owed, 'expenses:write_off base': '100000000' })
  expect((await readGauges(books.db)).unsigned).toBe(1)
})

test('a write-off is outdated once the evidence of its deposit has changed', async () => {
  const id = await overdue(books)
  const { id: decision } = await requestDecision(moneyDeps(books), writeOffRequest(id), signers.erin)
  await books.receive(webhook({ ...unsettled, occurredAt: at(99) }))
  await books.settle()
  expect(await problemOf(approveDecision(moneyDeps(books), decision, signers.max))).toBe(
    `what decision ${decision} rests on has changed since`,
  )
  expect(await balances(books)).toEqual({ ...owed, 'assets:in_transit:base base': '100000000' })
})

test('twenty write it off at once: it is written off once', async () => {
  const id = await overdue(books)
  const race = await Promise.allSettled(Array.from({ length: 20 }, () => writeOff(books, id)))
  expect(race.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  expect(await balances(books)).toEqual({ ...owed, 'expenses:write_off base': '100000000' })
})

test('what is not in transit is not written off', async () => {
  await books.receive(claim(), payment(), delivery())
  await books.settle()
  const [one] = await mismatches(books)
  expect(one?.kind).toBe('webhook_missing')
  await expect(writeOff(books, one?.id ?? 0n)).rejects.toThrow('deposit 1 has nothing to write off')
  await expect(writeOff(books, 99n)).rejects.toThrow('mismatch 99 does not exist')
})

const strange = { tx: txId('unnamed') }
const reference = `base/${strange.tx}/0`

test('a transfer that a person puts to a deposit is its payment, and one that is kept apart is not', async () => {
  const unnamed = { serviceId: 'dep_9' as ServiceId, deposit: { tx: null, index: null } }
  await books.receive(claim({ ...unsettled, ...unnamed }), payment(strange))
  await books.settle()
  expect(await openKinds(books)).toEqual(expect.arrayContaining(['chain_missing', 'unreported']))
  const about = { deposit: 'dep_9', transfer: reference, role: null }
  await decideTogether(moneyDeps(books), { kind: 'match', change: { ...about, verdict: 'together', reason } })
  expect(await openKinds(books)).not.toContain('unreported')
  expect(await openKinds(books)).not.toContain('chain_missing')
  expect(await balances(books)).toEqual({ ...owed, 'assets:in_transit:base base': '100000000' })
  const { rows } = await sql<{ actions: string }>`
    select string_agg(m.kind || ' ' || e.action, ', ' order by m.kind) as actions
    from mismatch_event e join mismatch m on m.id = e.mismatch_id where e.action = 'matched'`.execute(
    books.db,
  )
  expect(rows[0]?.actions).toMatch(/chain_missing matched.*unreported matched/)
  await decideTogether(moneyDeps(books), { kind: 'match', change: { ...about, verdict: 'apart', reason } })
  expect(await openKinds(books)).toEqual(expect.arrayContaining(['chain_missing', 'unreported']))
  expect(await balances(books)).toEqual({
    'assets:in_transit:base base': '100000000',
    'liabilities:suspense base': '-100000000',
  })
  await expectBalanced(books)
})

test.each([
  [{ deposit: '77', transfer: reference }, 'there is no deposit 77'],
  [{ deposit: '1', transfer: 'base/0x0/0' }, 'no chain transfer base/0x0/0 to a watched address is known'],
])('a match that names what is not known is refused: %j', async (about, problem) => {
  await overdue(books)
  const change = { ...about, role: null, verdict: 'together', reason }
  await expect(decideTogether(moneyDeps(books), { kind: 'match', change })).rejects.toThrow(problem)
})
