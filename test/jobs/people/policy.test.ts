import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import type { Amount } from '../../../src/core/money.ts'
import { type RuleSet, ruleSetOf, writeRuleSet } from '../../../src/core/rule-set.ts'
import { activateRules, digestOf } from '../../../src/jobs/books/activate-rules.ts'
import { decisionsCheck } from '../../../src/jobs/people/check-decisions.ts'
import { approveDecision, decideUnsigned, requestDecision } from '../../../src/jobs/people/decide.ts'
import { policyChangeOf } from '../../../src/jobs/people/policy-procedure.ts'
import { countUnsigned } from '../../../src/store/decisions.ts'
import { activeRules, hasPeople, saveActiveRules, waitingRules } from '../../../src/store/streams.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { claim, delivery, liquidity, payment, policy, webhook } from '../../support/evidence.ts'
import { addPeople, signers } from '../../support/people.ts'
import { booksWithPeople, moneyDeps } from '../../support/write-offs.ts'

let books: Books

beforeEach(async () => {
  books = await booksWithPeople()
})

const rules = (amount: bigint, more: Partial<RuleSet> = {}) =>
  ruleSetOf({
    policy: { ...policy, tolerance: { amount: amount as Amount, bps: 0 } },
    routes: [],
    senders: new Set([`arbitrum/${liquidity}`]),
    ...more,
  })
const strict = rules(0n)
const lenient = rules(10_000n)

/** Under which a deposit that lacks a hundredth of a dollar is reconciled. */
const start = (set: RuleSet, isEmbedded = false) =>
  activateRules({ db: books.db, rules: set, now: () => new Date(), withoutApproval: isEmbedded })

const request = (set: RuleSet) =>
  requestDecision(moneyDeps(books), { kind: 'policy', change: policyChangeOf(set) }, signers.erin)

async function approve(set: RuleSet): Promise<void> {
  await approveDecision(moneyDeps(books), (await request(set)).id, signers.max)
}

const shortDeposit = () => [webhook(), claim(), payment(), delivery({ amount: 99_890_000n as Amount })]

async function states(): Promise<string[]> {
  const { rows } = await sql<{ state: string }>`select state from deposit`.execute(books.db)
  return rows.map(({ state }) => state)
}

const check = () => decisionsCheck(signers.erin.key).run(books.db, () => undefined)

test('no deposit is decided until the first policy is approved, and then all of them are', async () => {
  expect(await start(strict)).toBe('waiting')
  await books.receive(...shortDeposit())
  await expect(books.settle()).rejects.toMatchObject({
    details: { faults: [expect.stringContaining('no policy is active')] },
  })
  expect(await states()).toEqual([])
  await approve(strict)
  expect(await activeRules(books.db)).toEqual({ digest: digestOf(strict), isApplied: true })
  await books.settle()
  expect(await states()).toEqual(['settled'])
})

test('the approved policy stays active until two people sign another', async () => {
  await start(strict)
  await approve(strict)
  await books.receive(...shortDeposit())
  await books.settle()
  expect(await start(lenient)).toBe('waiting')
  expect(await waitingRules(books.db)).toBe(digestOf(lenient))
  expect((await books.settle(), await states())).toEqual(['settled'])

  const { id, content } = await request(lenient)
  expect(content.people).toBe(2)
  expect(content.grounds.books).toEqual([
    { rules: digestOf(lenient), replaces: digestOf(strict) },
    { setting: 'policy.tolerance.amount', before: '0', after: '10000' },
  ])
  expect((await books.settle(), await states())).toEqual(['settled'])
  await approveDecision(moneyDeps(books), id, signers.max)
  await books.settle()
  expect(await states()).toEqual(['reconciled'])
  expect(await start(lenient)).toBe('unchanged')
  expect(await waitingRules(books.db)).toBeNull()
  const { rows } = await sql`
    select requested_by, approved_by, decision_id from accounting.rule_sets order by id desc limit 1`.execute(
    books.db,
  )
  expect(rows).toEqual([{ requested_by: 'erin', approved_by: 'max', decision_id: id }])
  expect((await check()).findings).toEqual([])
})

test('settings that return to the active policy no longer wait', async () => {
  await start(strict)
  await approve(strict)
  await start(lenient)
  expect(await start(strict)).toBe('unchanged')
  expect(await waitingRules(books.db)).toBeNull()
})

test('of a policy that was active before there were people, the same is approved', async () => {
  await using alone = await openBooks()
  const activation = { db: alone.db, rules: strict, now: () => new Date() }
  expect(await activateRules(activation)).toBe('activated')
  await addPeople(alone.owner)
  expect(await hasPeople(alone.db)).toBe(true)
  expect(await activateRules(activation)).toBe('unchanged')
  const change = policyChangeOf(strict)
  const { id } = await requestDecision(moneyDeps(alone), { kind: 'policy', change }, signers.erin)
  await approveDecision(moneyDeps(alone), id, signers.max)
  expect((await decisionsCheck(signers.erin.key).run(alone.db, () => undefined)).findings).toEqual([])
  const again = requestDecision(moneyDeps(alone), { kind: 'policy', change }, signers.erin)
  await expect(again).rejects.toThrow('this policy is active, and approved')
})

test('a decision that rests on another active policy is outdated', async () => {
  await approve(strict)
  const { id } = await request(lenient)
  await approve(rules(5n))
  await expect(approveDecision(moneyDeps(books), id, signers.max)).rejects.toThrow('changed since')
})

test('one person is enough only if the active policy says so', async () => {
  const alone = rules(0n, { policySecondPerson: false })
  expect((await request(alone)).content.people).toBe(1)
  expect((await request(strict)).content.people).toBe(1)
  expect((await request(alone)).content.people).toBe(2)
})

test('the login of the daemon makes no policy active, and a forged one is found', async () => {
  await approve(strict)
  const forged = { digest: digestOf(lenient), rules: writeRuleSet(lenient) }
  await expect(saveActiveRules(books.db, forged)).rejects.toThrow('needs a signed decision')
  const named = { by: 'erin', approvedBy: 'max', decision: 3n }
  await expect(saveActiveRules(books.db, forged, named)).rejects.toThrow('permission denied')
  await saveActiveRules(books.owner, forged, named)
  expect((await check()).findings).toEqual(['rule set 3 names decision 3, in which other things were signed'])
})

test('without signatures it takes the owner of the database, or embedded mode, and is counted', async () => {
  expect(await countUnsigned(books.db)).toBe(0)
  const owner = { ...books, db: books.owner }
  await activateRules({ db: owner.db, rules: strict, now: () => new Date(), withoutApproval: true })
  expect(await countUnsigned(books.db)).toBe(1)
  const change = policyChangeOf(lenient)
  const people = { by: 'erin', approvedBy: 'max' }
  await decideUnsigned(moneyDeps(books), { kind: 'policy', change }, people)
  expect((await check()).counted).toMatchObject({ unsigned: 2 })
  expect((await activeRules(books.db))?.digest).toBe(digestOf(lenient))
  await expect(start(strict, true)).rejects.toThrow('needs a signed decision')
})

test('a text that is no policy is refused', async () => {
  const change = { rules: { policy: {} } } // of an older version
  const refused = requestDecision(moneyDeps(books), { kind: 'policy', change }, signers.erin)
  await expect(refused).rejects.toThrow('it is no policy of this version')
})
