import { sql } from 'kysely'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { type ServiceId, type TransferDecision, transferRef } from '../../../src/core/evidence.ts'
import { decisionOn } from '../../../src/jobs/books/propose-matches.ts'
import { decisionsCheck } from '../../../src/jobs/people/check-decisions.ts'
import { approveDecision, decideUnsigned, requestDecision } from '../../../src/jobs/people/decide.ts'
import { recordDecisions } from '../../../src/store/books/proposals.ts'
import { inTransaction } from '../../../src/store/database.ts'
import { readGauges } from '../../../src/store/gauges.ts'
import { bookJournals } from '../../../src/store/ledger/journals.ts'
import { findTransfers, type StakedTransfer } from '../../../src/store/mismatches/cases.ts'
import { type Books, late, openBooks } from '../../support/books.ts'
import { at, claim, delivery, payment, txId, usdcOnBase, webhook } from '../../support/evidence.ts'
import { problemOf } from '../../support/manual-journals.ts'
import { addPeople, decideTogether, decisionDeps, signers } from '../../support/people.ts'

let books: Books

beforeEach(async () => {
  const own = await openBooks()
  onTestFinished(() => own[Symbol.asyncDispose]())
  books = own
  await addPeople(books.owner)
})

const unsettled = { status: 'confirmed', settlement: { tx: null, amount: null, fee: null } } as const
const reason = 'the service is bankrupt'
const payingRef = transferRef(payment())
const lost = { verdict: 'write_off', account: 'expenses:write_off' } as const
const withdrawn = { verdict: 'write_off_withdrawn', account: null } as const

/** A payment of 100 USDC whose delivery is overdue, and the number of the mismatch that says so. */
async function overdue(): Promise<bigint> {
  await books.receive(webhook(unsettled), claim(unsettled), payment())
  await books.settle()
  const [one] = await mismatches()
  expect(one).toMatchObject({ kind: 'settlement_missing', status: 'open' })
  return one?.id ?? 0n
}

async function mismatches() {
  const { rows } = await sql<{ id: bigint; kind: string; status: string; reason: string | null }>`
    select id, kind, status, reason from accounting.mismatches order by id`.execute(books.db)
  return rows
}

async function openKinds(): Promise<string[]> {
  return (await mismatches()).filter(({ status }) => status === 'open').map(({ kind }) => kind)
}

/** Of every account that holds something. */
async function balances(): Promise<Record<string, string>> {
  const { rows } = await sql<{ account: string; balance: string }>`
    select account || ' ' || split_part(asset, '/', 1) as account, balance_base::text as balance
    from accounting.balances where balance_base <> 0 order by 1`.execute(books.db)
  return Object.fromEntries(rows.map(({ account, balance }) => [account, balance]))
}

async function expectBalanced(): Promise<void> {
  const { rows } = await sql`
    select 1 from ledger_balance group by asset having sum(balance) <> 0`.execute(books.db)
  expect(rows).toEqual([])
}

let seconds = 0
/** Of two decisions, the later one applies. */
const now = () => new Date(late.getTime() + 1000 * seconds++)
const deps = (limits = new Map<string, string>()) => ({
  ...decisionDeps(books.owner, [], async () => ({ ...books.deps, secondPersonAbove: limits })),
  now,
})
const writeOffOf = (mismatchId: bigint, verdict: typeof lost | typeof withdrawn = lost) =>
  ({ kind: 'write_off', change: { mismatch: `${mismatchId}`, ...verdict, reason } }) as const
const writeOff = (mismatchId: bigint, verdict: typeof lost | typeof withdrawn = lost) =>
  decideTogether(deps(), writeOffOf(mismatchId, verdict))

const owed = { 'liabilities:deposits:channel:shop base': '-100000000' }

test('what is written off is out of transit at once, and its mismatch ends with the reason', async () => {
  const id = await overdue()
  expect(await readGauges(books.db)).toMatchObject({
    atRisk: [{ units: 100 }],
    stages: expect.arrayContaining([expect.objectContaining({ stage: 'settlement' })]),
  })
  await writeOff(id)
  expect(await balances()).toEqual({ ...owed, 'expenses:write_off base': '100000000' })
  await expectBalanced()
  expect(await mismatches()).toEqual([
    { id, kind: 'settlement_missing', status: 'cleared', reason: 'the service is bankrupt' },
  ])
  await books.settle()
  expect(await mismatches()).toHaveLength(1)
  const { rows } = await sql`
    select actor, action, text, approved_by from accounting.mismatch_history
    where mismatch_id = ${id} and action not in ('opened', 'cleared') order by at, action desc`.execute(
    books.db,
  )
  expect(rows).toEqual([
    { actor: 'erin', action: 'written_off', text: 'the service is bankrupt', approved_by: 'max' },
    { actor: 'erin', action: 'resolved', text: 'the service is bankrupt', approved_by: null },
  ])
  const { atRisk, stages } = await readGauges(books.db)
  expect(atRisk).toEqual([])
  expect(stages).toEqual([])
})

test('a delivery that is proved after all is booked, and the write-off taken back: nothing is in transit', async () => {
  await writeOff(await overdue())
  await books.receive(webhook(), claim(), delivery())
  await books.settle()
  expect(await balances()).toEqual({
    'liabilities:deposits:channel:shop arbitrum': '-100000000',
    'assets:forwarded:arbitrum:0x00000000000000000000000000000000000000ff arbitrum': '99900000',
    'expenses:fees:service arbitrum': '100000',
  })
  await expectBalanced()
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
  const id = await overdue()
  await writeOff(id)
  await writeOff(id, withdrawn)
  expect(await balances()).toEqual({ ...owed, 'assets:in_transit:base base': '100000000' })
  await expectBalanced()
  expect((await mismatches()).map(({ kind, status }) => `${kind} ${status}`)).toEqual([
    'settlement_missing cleared',
    'settlement_missing open',
  ])
  await expect(writeOff(id, withdrawn)).rejects.toThrow('is not written off')
  await writeOff((await mismatches())[1]?.id ?? 0n)
  expect(await balances()).toEqual({ ...owed, 'expenses:write_off base': '100000000' })
})

test('nothing is written before a second person signs, unless the amount is within the limit', async () => {
  const id = await overdue()
  const { id: decision } = await requestDecision(deps(), writeOffOf(id), signers.erin)
  expect((await mismatches())[0]?.status).toBe('open')
  const { rows } = await sql`select 1 from inbox where source = 'person'`.execute(books.db)
  expect(rows).toEqual([])
  expect(await problemOf(approveDecision(deps(), decision, signers.erin))).toContain('cannot approve')
  const limits = deps(new Map([['base/USDC', '100']]))
  expect(await requestDecision(limits, writeOffOf(id), signers.erin)).toMatchObject({
    result: { verdict: { kind: 'write_off' } },
  })
  expect(await balances()).toEqual({ ...owed, 'expenses:write_off base': '100000000' })
})

test('what people sign is exactly what is booked, and the journal names their decision', async () => {
  const id = await overdue()
  const { id: decision, content } = await requestDecision(deps(), writeOffOf(id), signers.erin)
  expect(content.grounds).toMatchObject({
    evidence: expect.stringMatching(/^[0-9a-f]{64}$/),
    books: [
      { verdict: { kind: 'write_off' } },
      { transfers: [{ debit: 'expenses:write_off', amount: '100000000' }] },
    ],
  })
  await approveDecision(deps(), decision, signers.max)
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
  const id = await overdue()
  const alone = decideUnsigned(deps(), writeOffOf(id), { by: 'erin', approvedBy: null })
  expect(await problemOf(alone)).toBe('this takes two people')
  await decideUnsigned(deps(), writeOffOf(id), { by: 'erin', approvedBy: 'max' })
  expect(await balances()).toEqual({ ...owed, 'expenses:write_off base': '100000000' })
  expect((await readGauges(books.db)).unsigned).toBe(1)
})

test('a write-off is outdated once the evidence of its deposit has changed', async () => {
  const id = await overdue()
  const { id: decision } = await requestDecision(deps(), writeOffOf(id), signers.erin)
  await books.receive(webhook({ ...unsettled, occurredAt: at(99) }))
  await books.settle()
  expect(await problemOf(approveDecision(deps(), decision, signers.max))).toBe(
    `what decision ${decision} rests on has changed since`,
  )
  expect(await balances()).toEqual({ ...owed, 'assets:in_transit:base base': '100000000' })
})

test('the login of the daemon stores no decision of a person, and books no write-off', async () => {
  const id = await overdue()
  const [stake] = await findTransfers(books.db, payingRef)
  const forged = { id: 'forged', by: 'erin', approvedBy: 'max', reason, receivedAt: at(99) }
  const decided = decisionOn(stake as StakedTransfer, {
    ...forged,
    verdict: { kind: 'write_off', account: 'expenses:write_off' },
  })
  const store = (one: TransferDecision) => inTransaction(books.db, (tx) => recordDecisions(tx, [one]))
  await expect(store(decided)).rejects.toThrow('a decision of erin needs signatures')
  await expect(store({ ...decided, by: 'policy' })).rejects.toThrow('a decision of policy needs signatures')
  const journal = {
    key: 'write_off/forged',
    kind: 'write_off',
    reverses: null,
    depositId: 1n,
    transfer: transferRef(decided),
    eventAt: at(99),
    transfers: [
      {
        debit: 'expenses:write_off',
        credit: 'assets:in_transit:base',
        asset: usdcOnBase,
        amount: 100_000_000n,
      },
    ],
  }
  const book = inTransaction(books.db, (tx) => bookJournals(tx, [journal as never]))
  await expect(book).rejects.toThrow('no person decided to write off')
  expect((await mismatches()).find((one) => one.id === id)?.status).toBe('open')
})

test('twenty write it off at once: it is written off once', async () => {
  const id = await overdue()
  const race = await Promise.allSettled(Array.from({ length: 20 }, () => writeOff(id)))
  expect(race.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  expect(await balances()).toEqual({ ...owed, 'expenses:write_off base': '100000000' })
})

test('what is not in transit is not written off', async () => {
  await books.receive(claim(), payment(), delivery())
  await books.settle()
  const [one] = await mismatches()
  expect(one?.kind).toBe('webhook_missing')
  await expect(writeOff(one?.id ?? 0n)).rejects.toThrow('deposit 1 has nothing to write off')
  await expect(writeOff(99n)).rejects.toThrow('mismatch 99 does not exist')
})

const strange = { tx: txId('unnamed') }
const reference = `base/${strange.tx}/0`

test('a transfer that a person puts to a deposit is its payment, and one that is kept apart is not', async () => {
  const unnamed = { serviceId: 'dep_9' as ServiceId, deposit: { tx: null, index: null } }
  await books.receive(claim({ ...unsettled, ...unnamed }), payment(strange))
  await books.settle()
  expect(await openKinds()).toEqual(expect.arrayContaining(['chain_missing', 'unreported']))
  const about = { deposit: 'dep_9', transfer: reference, role: null }
  await decideTogether(deps(), { kind: 'match', change: { ...about, verdict: 'together', reason } })
  expect(await openKinds()).not.toContain('unreported')
  expect(await openKinds()).not.toContain('chain_missing')
  expect(await balances()).toEqual({ ...owed, 'assets:in_transit:base base': '100000000' })
  const { rows } = await sql<{ actions: string }>`
    select string_agg(m.kind || ' ' || e.action, ', ' order by m.kind) as actions
    from mismatch_event e join mismatch m on m.id = e.mismatch_id where e.action = 'matched'`.execute(
    books.db,
  )
  expect(rows[0]?.actions).toMatch(/chain_missing matched.*unreported matched/)
  await decideTogether(deps(), { kind: 'match', change: { ...about, verdict: 'apart', reason } })
  expect(await openKinds()).toEqual(expect.arrayContaining(['chain_missing', 'unreported']))
  expect(await balances()).toEqual({
    'assets:in_transit:base base': '100000000',
    'liabilities:suspense base': '-100000000',
  })
  await expectBalanced()
})

test.each([
  [{ deposit: '77', transfer: reference }, 'there is no deposit 77'],
  [{ deposit: '1', transfer: 'base/0x0/0' }, 'no chain transfer base/0x0/0 to a watched address is known'],
])('a match that names what is not known is refused: %j', async (about, problem) => {
  await overdue()
  const change = { ...about, role: null, verdict: 'together', reason }
  await expect(decideTogether(deps(), { kind: 'match', change })).rejects.toThrow(problem)
})
