import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServiceId } from '../../src/core/evidence.ts'
import type { Amount } from '../../src/core/money.ts'
import { readScorecard } from '../../src/store/scorecard.ts'
import { type Books, openBooks } from '../support/books.ts'
import {
  at,
  claim,
  credit,
  delivery,
  payment,
  txId,
  walletAddress,
  walletApproval,
  webhook,
} from '../support/evidence.ts'

let books: Books

/** Two deposits by one route, one of which was told of by half its webhooks; and one to a wallet, told of by none. */
beforeAll(async () => {
  books = await openBooks()
  const first = { occurredAt: at(3), receivedAt: at(3) }
  await books.receive(
    claim({ ...first, status: 'observed' }),
    claim(),
    payment(),
    delivery({ receivedAt: at(4) }),
  )
  await books.receive(
    webhook({ ...first, status: 'observed' }),
    webhook({ occurredAt: at(3), receivedAt: at(5) }),
  )
  const second = {
    serviceId: 'dep_2' as ServiceId,
    deposit: { tx: txId('pay2') },
    settlement: { tx: txId('forward2') },
  }
  await books.receive(
    claim({ ...second, status: 'observed' }),
    claim(second),
    webhook({ ...second, occurredAt: at(3), receivedAt: at(13) }),
    payment({ tx: txId('pay2') }),
    delivery({ tx: txId('forward2'), receivedAt: at(12) }),
  )
  const settlement = {
    network: 'stable-wallet' as never,
    address: 'savings' as never,
    asset: credit,
    tx: null,
  }
  const third = {
    serviceId: 'dep_3' as ServiceId,
    owner: walletApproval.owner,
    deposit: { address: walletAddress, tx: txId('pay3') },
  }
  await books.receive(
    claim({
      ...third,
      settlement: { ...settlement, amount: 99_000_000n as Amount, fee: 1_000_000n as Amount },
    }),
    payment({ to: walletAddress, tx: txId('pay3'), blockAt: at(-60 * 24) }),
  )
  await books.settle()
  await sql`
    insert into webhook_repeat (inbox_id, count, first_at, last_at, newest_at)
    select id, 7, now(), now(), array[now()] from inbox where source = 'webhook' and received_at = ${at(13)}`.execute(
    books.db,
  )
})
afterAll(() => books[Symbol.asyncDispose]())

/** From the hour of `from` on. */
const card = (from: number, to: number) => readScorecard(books.db, { from: at(from), to: at(to) })

test('the deposits of the span are counted, as a whole and by route', async () => {
  const [all, ...routes] = await card(-10_000, 10)
  expect(all).toMatchObject({
    service: 'default',
    scope: 'service',
    deposits: 3n,
    settled: 3n,
    asset: null,
    paid: null,
    fee_share: null,
  })
  expect(routes.map(({ settlement_asset }) => settlement_asset)).toEqual([
    'arbitrum/0x00000000000000000000000000000000000000a1',
    credit,
  ])
  const [alone] = await card(-10_000, -60)
  expect(alone).toMatchObject({ deposits: 1n, webhooks: 0n, duplicates: 0n, delivery_p50_seconds: null })
  expect(await card(60, 10_000)).toEqual([])
})

test('webhooks are held against every step that the API or the chain knows', async () => {
  const [, route] = await card(-10, 10)
  // Each of the two is observed, final on the chain, and settled; the second was told of as settled alone.
  expect(route).toMatchObject({ steps_known: 6n, steps_reported: 5n, webhooks: 3n, duplicates: 7n })
  expect(Number(route?.completeness)).toBeCloseTo(5 / 6)
  expect(route).toMatchObject({ delivery_p50_seconds: 120 })
  expect(route?.delivery_p99_seconds).toBeCloseTo(2 * 60 + 0.98 * 8 * 60)
})

test('time to settle runs from the final payment to the proved delivery', async () => {
  const [, route] = await card(-10, 10)
  expect(route).toMatchObject({ settle_p50_seconds: 360 })
  expect(route?.settle_p95_seconds).toBeCloseTo(120 + 0.95 * 480)
})

test('what has not settled takes no time to settle', async () => {
  await books.receive(
    claim({
      serviceId: 'dep_4' as ServiceId,
      deposit: { tx: txId('pay4') },
      settlement: { tx: null },
      status: 'observed',
    }),
    payment({ tx: txId('pay4'), blockAt: at(-60 * 24 * 5) }),
  )
  await books.settle()
  const [all] = await card(-60 * 24 * 6, -60 * 24 * 4)
  expect(all).toMatchObject({ deposits: 1n, settled: 0n, settle_p50_seconds: null, settle_p99_seconds: null })
})

test('the fee of a route is what is stated, by what was delivered and the fee together', async () => {
  const [, route, wallet] = await card(-10_000, 10)
  expect(route).toMatchObject({ paid: '200.000000', delivered: '199.800000', fee: '0.200000' })
  expect(Number(route?.fee_share)).toBe(0.001)
  expect(Number(route?.delivered_per_paid)).toBe(0.999)
  expect(Number(wallet?.fee_share)).toBe(0.01)
})

test('a delivery whose fee nobody states does not make the fee of the others smaller', async () => {
  const far = -60 * 24 * 20
  for (const [name, fee] of [
    ['5', 100_000n as Amount],
    ['6', null],
  ] as const) {
    const deposit = { tx: txId(`pay${name}`) }
    const settlement = { tx: txId(`forward${name}`), fee }
    await books.receive(
      claim({ serviceId: `dep_${name}` as ServiceId, deposit, settlement }),
      payment({ ...deposit, blockAt: at(far) }),
      delivery({ tx: settlement.tx }),
    )
  }
  await books.settle()
  const [, route] = await card(far - 10, far + 10)
  expect(route).toMatchObject({ settled: 2n, fee: '0.100000', delivered: '199.800000' })
  expect(Number(route?.fee_share)).toBe(0.001)
})

test('of more deposits than are sampled, each hour has its share', async () => {
  const many = at(-60 * 24 * 40)
  for (const [hours, deposits] of [
    [0, 30_000],
    [1, 10_000],
  ])
    await sql`
      with added as (
        insert into evidence_group (recheck_at) select null from generate_series(1, ${deposits}::integer) returning id
      )
      insert into deposit (group_id, transfer, service, state, matrix, deposited_at, final_at, settled_at)
      select id, 'made/' || id, 'acme', 'settled', '{}', hour, hour, hour + make_interval(secs => ${hours} * 60)
      from added, lateral (select ${many}::timestamptz + make_interval(hours => ${hours}) as hour)`.execute(
      books.db,
    )
  const [all] = await readScorecard(books.db, { from: many, to: at(-60 * 24 * 39) })
  expect(all).toMatchObject({ service: 'acme', deposits: 40_000n, settled: 40_000n, sampled: 20_000n })
  expect(all).toMatchObject({ settle_p50_seconds: 0, settle_p95_seconds: 60 })
})

test('the view has the last thirty days', async () => {
  await sql`update deposit set deposited_at = now() where service_id = 'dep_1'`.execute(books.db)
  const { rows } = await sql<{
    deposits: bigint
  }>`select deposits from accounting.scorecard where scope = 'service'`.execute(books.db)
  expect(rows).toEqual([{ deposits: 1n }])
})
