import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { TransferDecision } from '../../../src/core/evidence.ts'
import { proposeMatches } from '../../../src/jobs/books/propose-matches.ts'
import { verifyBooks } from '../../../src/jobs/books/verify-books.ts'
import { at, claim, delivery, payment, policy, txId } from '../../support/evidence.ts'
import {
  again,
  delivered,
  openProposing,
  type Proposing,
  paid,
  two,
  unkeyed,
} from '../../support/proposing.ts'

let books: Proposing

beforeEach(async () => {
  books = await openProposing()
})
afterEach(() => books[Symbol.asyncDispose]())

describe('a proposal', () => {
  test('is withdrawn when the evidence decides otherwise', async () => {
    await books.hold(unkeyed(), payment())
    await books.run()
    await books.hold(unkeyed({ deposit: { tx: again }, receivedAt: at(6) }), payment({ tx: again }))
    await books.run()
    expect(await books.states()).toEqual({ [paid]: 'withdrawn' })
  })

  test('is withdrawn when its transfer is named by its key, also by another deposit', async () => {
    await books.hold(unkeyed(), payment())
    await books.run()
    await books.hold(claim({ serviceId: two, settlement: { tx: null }, status: 'confirmed' }))
    await books.run()
    expect(await books.states()).toEqual({ [paid]: 'withdrawn' })
  })

  test('that a person agrees to is booked: the deposit is reconciled once both legs are', async () => {
    await books.hold(unkeyed({ status: 'settled', occurredAt: at(3) }), payment(), delivery())
    await books.run()
    await books.decide('together', payment())
    expect(await books.states()).toEqual({ [paid]: 'accepted' })
    await books.settle()
    await books.run()
    expect(await books.states()).toEqual({ [paid]: 'accepted', [delivered]: 'proposed' })
    await books.decide('together', delivery())
    expect(await books.run()).toMatchObject({ agreed: 0 })
    expect(await books.states()).toEqual({ [paid]: 'accepted', [delivered]: 'accepted' })
    expect(await books.deposits()).toMatchObject([
      { state: 'reconciled', service_id: 'dep_1', transfer: `base/${payment().tx}/0` },
    ])
    const { rows } = await sql<{ account: string; balance: string }>`
      select account, balance::text as balance from ledger_balance where balance <> 0 order by 1`.execute(
      books.db,
    )
    expect(rows.map(({ account }) => account)).not.toContain('liabilities:suspense')
    expect(rows.map(({ account }) => account)).not.toContain('assets:in_transit:base')
  })

  test.each(['together', 'apart'] as const)(
    'decided as %s holds when all is made anew from the evidence',
    async (kind) => {
      await books.hold(unkeyed({ status: 'settled' }), payment(), delivery())
      await books.run()
      await books.decide(kind, payment())
      await books.run()
      const verified = await verifyBooks(books.deps, { subjectsMax: 100, onProgress: () => undefined })
      expect(verified.differences).toEqual([])
      expect(verified.rebuilt).toBe(verified.live)
    },
  )

  test('that a person refuses is not made again', async () => {
    await books.hold(unkeyed(), payment())
    await books.run()
    await books.decide('apart', payment())
    await books.run()
    expect(await books.states()).toEqual({ [paid]: 'rejected' })
    expect(await books.deposits()).toHaveLength(2)
  })

  test('is withdrawn when a person settles the payment otherwise', async () => {
    await books.hold(unkeyed(), payment())
    await books.run()
    await sql`update mismatch set resolved_at = now(), resolved_by = 'anna', resolved_reason = 'paid back'
      where kind = 'unreported'`.execute(books.owner)
    await books.run()
    expect(await books.states()).toEqual({ [paid]: 'withdrawn' })
  })

  test('leaves the transfer to another claim once it was refused', async () => {
    await books.hold(unkeyed(), unkeyed({ serviceId: two }), payment())
    await books.run()
    expect(await books.open()).toContain('ambiguous_match')
    await books.decide('apart', payment())
    await books.run()
    expect(await books.open()).not.toContain('ambiguous_match')
    expect(await books.states()).toEqual({ [`dep_2 deposit ${payment().tx}`]: 'proposed' })
  })
})

const agreeing = () => ({
  ...books.deps.rules,
  policy: { ...policy, line: 'policy.routes[1]', acceptsUnnamed: true },
})

describe('a policy that agrees', () => {
  test('has what fits in all booked, and says so in the ruling', async () => {
    await books.hold(unkeyed(), payment())
    expect(await books.run(agreeing())).toMatchObject({ agreed: 1 })
    expect(await books.states()).toEqual({ [paid]: 'accepted' })
    expect(await books.deposits()).toMatchObject([
      { service_id: 'dep_1', transfer: `base/${payment().tx}/0` },
    ])
    expect(await books.open()).not.toContain('unreported')
    const { rows } = await sql<{ observation: TransferDecision }>`
      select observation from evidence join inbox on id = inbox_id where source = 'person'`.execute(books.db)
    expect(rows).toMatchObject([
      { observation: { by: 'policy', verdict: { kind: 'together', serviceId: 'dep_1' } } },
    ])
    expect(rows[0]?.observation.reason).toMatch(
      /^policy\.routes\[1\]: address .*; transaction the service names none$/,
    )
  })

  test('asks for a person where anything is off, or several fit', async () => {
    await books.hold(unkeyed({ deposit: { tx: txId('replaced') } }), payment())
    expect(await books.run(agreeing())).toMatchObject({ agreed: 0 })
    await books.hold(unkeyed({ serviceId: two }))
    expect(await books.run(agreeing())).toMatchObject({ agreed: 0 })
    expect(
      (await books.deposits()).filter(({ service_id: id, transfer }) => id !== null && transfer !== null),
    ).toEqual([])
  })

  test('does not overrule a person of whose ruling it did not know', async () => {
    await books.hold(unkeyed(), payment())
    await books.rule('apart', payment())
    expect(await proposeMatches({ ...books.deps, rules: agreeing() })).toMatchObject({ agreed: 1 })
    await books.settle()
    expect(await books.deposits()).toHaveLength(2)
  })

  test('leaves refused what a person refused', async () => {
    await books.hold(unkeyed(), payment())
    await books.run()
    await books.decide('apart', payment())
    await books.rule('together', payment(), { by: 'policy' })
    expect(await books.states()).toEqual({ [paid]: 'rejected' })
  })

  test('agrees once, however many look at the same time', async () => {
    await books.hold(unkeyed(), payment())
    const pages = await Promise.all(
      Array.from({ length: 20 }, () => proposeMatches({ ...books.deps, rules: agreeing() })),
    )
    expect(pages.reduce((sum, { agreed }) => sum + agreed, 0)).toBe(1)
  })
})
