import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Rules } from '../../../src/core/decide.ts'
import type { Amount } from '../../../src/core/money.ts'
import { type RuleSet, readRuleSet, ruleSetOf, writeRuleSet } from '../../../src/core/rule-set.ts'
import { activateRules, digestOf } from '../../../src/jobs/books/activate-rules.ts'
import { applyDue, applyPending } from '../../../src/jobs/books/apply.ts'
import { inTransaction } from '../../../src/store/database.ts'
import { activeRules, saveActiveRules } from '../../../src/store/streams.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { claim, delivery, liquidity, payment, policy, webhook } from '../../support/evidence.ts'
import { untilWaiting } from '../../support/waiting.ts'

let books: Books
beforeEach(async () => {
  books = await openBooks()
})
afterEach(() => books[Symbol.asyncDispose]())

const rules = (amount: bigint): Rules => ({
  policy: { ...policy, tolerance: { amount: amount as Amount, bps: 0 } },
  routes: [],
  senders: new Set([`arbitrum/${liquidity}`]),
})
const strict = rules(0n)
const lenient = rules(10_000n)

/** A process that was started with these rules. */
const depsBy = (by: Rules) => ({ ...books.deps, rules: by })
const put = (by: Rules) => activateRules(depsBy(by))
const decideAll = async (by: Rules) => {
  while ((await applyPending(depsBy(by))).rows > 0) continue
  while ((await applyDue(depsBy(by))).groups > 0) continue
}

/** A deposit of which a hundredth of a dollar less was delivered than stated. */
const short = () => [webhook(), claim(), payment(), delivery({ amount: 99_890_000n as Amount })]

async function stored() {
  const { rows } = await sql<{ state: string; open: string | null; tolerated: string; balances: bigint }>`
    select d.state, (select string_agg(kind, ' ') from mismatch where cleared_at is null) as open,
      coalesce((select sum(balance_base) from accounting.balances where account = 'expenses:tolerance'), 0)::text as tolerated,
      (select count(*) from (select asset from accounting.balances group by asset having sum(balance_base) <> 0) as off) as balances
    from deposit d`.execute(books.db)
  return rows
}

test('a policy that is put in force decides again what is closed, and what is booked follows', async () => {
  await put(lenient)
  await books.receive(...short())
  await decideAll(lenient)
  expect(await stored()).toEqual([{ state: 'reconciled', open: null, tolerated: '10000', balances: 0n }])

  expect(await put(strict)).toBe('activated')
  await decideAll(strict)
  expect(await stored()).toEqual([
    { state: 'settled', open: 'settlement_short', tolerated: '0', balances: 0n },
  ])

  expect(await put(lenient)).toBe('activated')
  await decideAll(lenient)
  expect(await stored()).toEqual([{ state: 'reconciled', open: null, tolerated: '10000', balances: 0n }])
})

test('another contra account moves what was booked, under the time that it was booked for', async () => {
  await put(lenient)
  await books.receive(...short())
  await decideAll(lenient)
  const mine = { ...lenient, contras: [{ pattern: { ownerId: 'shop' }, account: 'equity:own_funds:{id}' }] }
  expect(await put(mine)).toBe('activated')
  await decideAll(mine)
  const { rows } = await sql`
    select account, balance_base::text as balance from accounting.balances
    where account ~ '^(liabilities|equity:own)' order by account`.execute(books.db)
  expect(rows).toEqual([
    { account: 'equity:own_funds:shop', balance: '-100000000' },
    { account: 'liabilities:deposits:channel:shop', balance: '0' },
    { account: 'liabilities:deposits:channel:shop', balance: '0' },
  ])
  const times = await sql`select from ledger_journal where kind <> 'settlement' group by event_at`.execute(
    books.db,
  )
  // That of the payment, and that of the delivery, at which it would have moved.
  expect(times.rows).toHaveLength(2)
  expect(await put(mine)).toBe('unchanged')
})

test('a policy that is in force already changes nothing', async () => {
  await put(strict)
  await books.receive(...short())
  await decideAll(strict)
  expect(await put(strict)).toBe('unchanged')
  expect((await applyDue(depsBy(strict))).groups).toBe(0)
})

test('a process that ended before everything was marked is made good by the next one', async () => {
  await put(lenient)
  await books.receive(...short())
  await decideAll(lenient)
  await saveActiveRules(books.db, { digest: digestOf(strict), rules: writeRuleSet(strict) })
  expect(await put(strict)).toBe('activated')
  await decideAll(strict)
  expect(await stored()).toMatchObject([{ state: 'settled' }])
})

test('what was decided before any policy was kept is decided again', async () => {
  await books.receive(...short())
  await books.settle()
  expect(await put(lenient)).toBe('activated')
  await decideAll(lenient)
  expect(await stored()).toMatchObject([{ state: 'reconciled' }])
})

test('a process with other settings decides by the policy that is active', async () => {
  await put(lenient)
  await books.receive(...short())
  await put(strict)
  await decideAll(lenient)
  expect(await stored()).toMatchObject([{ state: 'settled', open: 'settlement_short' }])
})

test('who is replaced while all is marked does not say that his policy is applied', async () => {
  await put(lenient)
  await books.receive(...short())
  await decideAll(lenient)
  const marking = await inTransaction(books.db, async (tx) => {
    await sql`select from evidence_group for update`.execute(tx)
    const done = put(strict)
    await untilWaiting(books.db)
    await saveActiveRules(books.db, { digest: digestOf(lenient), rules: writeRuleSet(lenient) })
    return { done }
  })
  expect(await marking.done).toBe('unchanged')
  expect(await activeRules(books.db)).toEqual({ digest: digestOf(lenient), isApplied: false })
})

test.each<[string, Partial<RuleSet>]>([
  ['another policy', { policy: lenient.policy }],
  ['another route', { routes: [{ pattern: { ownerId: 'shop' }, policy }] }],
  ['another contra account', { contras: [{ pattern: {}, account: 'income:sales' }] }],
  ['another sender', { senders: new Set(['base/0x1']) }],
  ['another limit of one person', { secondPersonAbove: new Map([['all', '5']]) }],
  ['a policy that one person may change', { policySecondPerson: false }],
])('%s has another digest', (_what, changes) => {
  expect(digestOf({ ...strict, ...changes })).not.toBe(digestOf(strict))
})

test('what is stored is read back as it was', () => {
  const minimum = 7n as Amount
  const band = {
    kind: 'band',
    lowBps: 9,
    highBps: 11,
    sample: 512,
    units: { paid: 1n, delivered: 10n },
  } as const
  const full = ruleSetOf({
    policy: { ...policy, fee: { kind: 'fixed', amount: 5n as Amount }, historySinceMs: 12 },
    routes: [{ pattern: { ownerKind: 'channel', ownerId: '17' }, policy: { ...policy, minimum, fee: band } }],
    senders: new Set([`arbitrum/${liquidity}`]),
    contras: [{ pattern: {}, account: 'income:sales' }],
    secondPersonAbove: new Map([['base/USDC', '100']]),
    policySecondPerson: false,
  })
  expect(readRuleSet(writeRuleSet(full))).toEqual(full)
})

test('the order in which keys and senders were written makes no difference', () => {
  const { policy: same, ...rest } = { ...strict, senders: new Set(['b', 'a']) }
  const turned = Object.fromEntries(Object.entries(same).toReversed()) as Rules['policy']
  expect(digestOf({ ...rest, senders: new Set(['a', 'b']), policy: turned })).toBe(
    digestOf({ ...rest, policy: same }),
  )
})
