import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ServiceId } from '../../../src/core/evidence.ts'
import type { Amount } from '../../../src/core/money.ts'
import { applyPending } from '../../../src/jobs/books/apply.ts'
import { proposeMatches } from '../../../src/jobs/books/propose-matches.ts'
import { listProposals } from '../../../src/store/books/proposals.ts'
import { countStatements } from '../../support/count-statements.ts'
import { at, claim, delivery, payment, txId } from '../../support/evidence.ts'
import {
  again,
  delivered,
  noKey,
  openProposing,
  type Proposing,
  paid,
  two,
  undelivered,
  unkeyed,
} from '../../support/proposing.ts'

let books: Proposing

beforeEach(async () => {
  books = await openProposing()
})
afterEach(() => books[Symbol.asyncDispose]())

describe('a payment that nothing names', () => {
  test('is proposed for the claim that it fits, with the reasons, and nothing is booked by it', async () => {
    await books.hold(unkeyed({ occurredAt: at(3) }), payment())
    expect(await books.open()).toContain('unreported')
    const before = await books.deposits()
    await books.run()
    expect(await books.states()).toEqual({ [paid]: 'proposed' })
    expect(await books.deposits()).toEqual(before)
    const [line] = await listProposals(books.db, { limit: 10 })
    expect(line).toMatchObject({
      service_id: 'dep_1',
      amount: '100.000000',
      amount_base: '100000000',
      score: 100,
    })
    expect(line?.reasons.map(({ rule }) => rule)).toEqual([
      'address',
      'asset',
      'amount',
      'time',
      'transaction',
    ])
  })

  test('stays proposed as it is by another run', async () => {
    await books.hold(unkeyed(), payment())
    await books.run()
    const rows = () => sql`select *, xmin::text from proposal`.execute(books.db).then((result) => result.rows)
    const first = await rows()
    await books.run()
    expect(await rows()).toEqual(first)
  })

  test('is not proposed while the service may still name it', async () => {
    const deps = { ...books.deps, now: () => at(10) }
    await books.receive(unkeyed(), payment())
    await applyPending(deps)
    await proposeMatches(deps)
    expect(await books.states()).toEqual({})
  })
})

describe('a delivery that nothing names', () => {
  test('is proposed for the deposit that was paid and not delivered', async () => {
    await books.hold(undelivered(), payment(), delivery())
    expect(await books.open()).toContain('settlement_unreported')
    await books.run()
    expect(await books.states()).toEqual({ [delivered]: 'proposed' })
  })

  test('is not proposed for a deposit whose delivery was found', async () => {
    await books.hold(claim(), payment(), delivery(), delivery({ tx: again }))
    await books.run()
    expect(await books.states()).toEqual({})
  })
})

describe('where several fit', () => {
  test('the transfer is ambiguous, and names all of them', async () => {
    await books.hold(unkeyed(), unkeyed({ serviceId: two }), payment())
    expect(await books.run()).toMatchObject({ mismatches: [{ kind: 'ambiguous_match', change: 'opened' }] })
    expect(await books.states()).toEqual({})
    const { rows } = await sql`
      select subject, service, detail from mismatch where kind = 'ambiguous_match'`.execute(books.db)
    const ref = `base/${payment().tx}/0`
    expect(rows).toEqual([
      {
        subject: `transfer/${ref}`,
        service: 'default',
        detail: { role: 'deposit', deposits: 'dep_1, dep_2', transfers: ref },
      },
    ])
  })

  test('two transfers are ambiguous for one claim, until a key names one: the other is then proposed for nothing', async () => {
    await books.hold(unkeyed(), payment(), payment({ tx: again }))
    await books.run()
    expect((await books.open()).filter((kind) => kind === 'ambiguous_match')).toHaveLength(2)
    await books.hold(claim({ settlement: { tx: null }, status: 'confirmed', receivedAt: at(6) }))
    const cleared = await books.run()
    expect(cleared.mismatches).toHaveLength(2)
    expect(await books.open()).not.toContain('ambiguous_match')
    expect(await books.states()).toEqual({})
  })

  test('what was proposed is taken back when another one comes that fits as well', async () => {
    await books.hold(unkeyed(), payment())
    await books.run()
    await books.hold(payment({ tx: again }))
    await books.run()
    expect(await books.states()).toEqual({ [paid]: 'withdrawn' })
    expect(await books.open()).toContain('ambiguous_match')
  })

  test('the same evidence in another order ends the same', async () => {
    const evidence = [
      unkeyed(),
      unkeyed({ serviceId: two, deposit: { ...noKey, amount: 5n as Amount } }),
      payment(),
      payment({ tx: again, amount: 5n as Amount }),
    ]
    const ends = []
    for (const order of [evidence, evidence.toReversed()]) {
      await books[Symbol.asyncDispose]()
      books = await openProposing()
      for (const one of order) {
        await books.hold(one)
        await books.run()
      }
      ends.push(await books.states())
    }
    expect(ends[0]).toEqual({ [paid]: 'proposed', [`dep_2 deposit ${again}`]: 'proposed' })
    expect(ends[1]).toEqual(ends[0])
  })
})

test('a page of many takes no more statements than one of few', async () => {
  const count = async (transfers: number) => {
    const some = Array.from({ length: transfers }, (_, place) => [
      unkeyed({
        serviceId: `many_${place}` as ServiceId,
        deposit: { ...noKey, amount: BigInt(place + 1) as Amount },
      }),
      payment({ tx: txId(`many ${place}`), amount: BigInt(place + 1) as Amount }),
    ])
    await books.hold(...some.flat())
    const counting = countStatements(books.db)
    await proposeMatches({ ...books.deps, db: counting.db })
    return counting.count()
  }
  expect(await count(1)).toBe(await count(40))
  expect(Object.values(await books.states())).toEqual(Array.from({ length: 40 }, () => 'proposed'))
})
