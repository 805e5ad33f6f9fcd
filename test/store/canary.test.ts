import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { depositCanary } from '../../src/core/canary.ts'
import type { ServiceId } from '../../src/core/evidence.ts'
import type { Amount } from '../../src/core/money.ts'
import {
  canaryAges,
  claimCanary,
  endPayments,
  endWebhook,
  findPayments,
  giveUpPayment,
  namePayment,
  receiveWebhook,
  startPayment,
  startWebhook,
  switchCanaries,
} from '../../src/store/canary.ts'
import { type Books, openBooks } from '../support/books.ts'
import { base, channelAddress, claim, delivery, payment, txId, usdcOnBase } from '../support/evidence.ts'

let books: Books
beforeEach(async () => {
  books = await openBooks()
})
afterEach(() => books[Symbol.asyncDispose]())

const name = depositCanary(base)
const hourMs = 3_600_000
const shop = { kind: 'channel', id: 'shop' } as const
const canary = { name, owner: shop }
const order = { network: base, asset: usdcOnBase, amount: 100_000_000n as Amount, address: channelAddress }
const end = () => endPayments(books.db, { name, network: base, withinMs: 2 * hourMs })
const ageOf = async (one: string) => (await canaryAges(books.db)).find((age) => age.name === one)?.age ?? null

/** The deposit that the payment of that name is, reconciled long ago. */
async function reconcile(tx: string): Promise<void> {
  const its = { serviceId: `dep_${tx}` as ServiceId }
  const settlement = { tx: txId(`forward ${tx}`) }
  await books.receive(
    claim({ ...its, deposit: { tx: txId(tx) }, settlement }),
    payment({ tx: txId(tx) }),
    delivery(settlement),
  )
  await books.settle()
}

async function pay(tx: string | null, hoursAgo = 0): Promise<bigint> {
  const id = await startPayment(books.db, order)
  if (tx !== null) await namePayment(books.db, { id, network: base, tx: txId(tx) })
  await sql`update canary_deposit set started_at = now() - ${hoursAgo} * interval '1 hour' where id = ${id}`.execute(
    books.db,
  )
  return id
}

test('of twenty who want to run a canary at once, one does', async () => {
  await switchCanaries(books.db, [canary])
  for (const one of [name, depositCanary('solana' as never)]) {
    const claims = Array.from({ length: 20 }, () => claimCanary(books.db, { name: one, everyMs: hourMs }))
    expect((await Promise.all(claims)).filter((isMine) => isMine)).toHaveLength(1)
  }
})

test('a canary is due again once its span is over', async () => {
  const claimAgain = () => claimCanary(books.db, { name: 'webhook', everyMs: hourMs })
  expect(await claimAgain()).toBe(true)
  await sql`update canary set started_at = now() - interval '59 minutes'`.execute(books.db)
  expect(await claimAgain()).toBe(false)
  await sql`update canary set started_at = now() - interval '60 minutes'`.execute(books.db)
  expect(await claimAgain()).toBe(true)
})

test('a webhook is known by the token that was given out, and by no other', async () => {
  await claimCanary(books.db, { name: 'webhook', everyMs: hourMs })
  await sql`update canary set since = now() - interval '1 hour'`.execute(books.db)
  await startWebhook(books.db, 'token')
  expect(await receiveWebhook(books.db, 'another')).toBe(false)
  expect(await endWebhook(books.db, { name: 'webhook', token: 'token' })).toBe(false)
  expect(await ageOf('webhook')).toBeGreaterThan(3590)
  expect(await receiveWebhook(books.db, 'token')).toBe(true)
  expect(await receiveWebhook(books.db, 'token')).toBe(true)
  expect(await endWebhook(books.db, { name: 'webhook', token: 'token' })).toBe(true)
  expect(await ageOf('webhook')).toBeLessThan(60)
})

test('tokens of yesterday are forgotten', async () => {
  await startWebhook(books.db, 'old')
  await sql`update canary_webhook set sent_at = now() - interval '25 hours'`.execute(books.db)
  await startWebhook(books.db, 'new')
  expect(await receiveWebhook(books.db, 'old')).toBe(false)
  expect(await receiveWebhook(books.db, 'new')).toBe(true)
})

test('a payment ends once its deposit is reconciled, and is told once', async () => {
  await claimCanary(books.db, { name, everyMs: hourMs })
  await pay('pay')
  expect(await end()).toEqual([])
  await reconcile('pay')
  expect(await end()).toEqual([{ outcome: 'reconciled', seconds: 0 }])
  expect(await end()).toEqual([])
})

test('a payment that is not reconciled in time is late, and shows all the same that the way is open again', async () => {
  await claimCanary(books.db, { name, everyMs: hourMs })
  await pay('pay', 3)
  expect(await end()).toEqual([{ outcome: 'late', seconds: null }])
  expect(await end()).toEqual([])
  const succeeded = () => sql<{ at: Date | null }>`select succeeded_at as at from canary`.execute(books.db)
  expect((await succeeded()).rows).toEqual([{ at: null }])
  await reconcile('pay')
  expect(await end()).toEqual([{ outcome: null, seconds: expect.any(Number) }])
  expect(await end()).toEqual([])
  expect((await succeeded()).rows[0]?.at).not.toBeNull()
})

test('a payment that was reconciled after its time, unseen until then, is late with its seconds', async () => {
  await claimCanary(books.db, { name, everyMs: hourMs })
  await reconcile('pay')
  await pay('pay', 3)
  await sql`update deposit set reconciled_at = now(), deposited_at = now() - interval '3 hours'`.execute(
    books.db,
  )
  const [ended] = await end()
  expect(ended?.outcome).toBe('late')
  expect(ended?.seconds).toBeCloseTo(3 * 3600, -1)
})

test('what was never sent is unpaid, whether somebody says so or not', async () => {
  await claimCanary(books.db, { name, everyMs: hourMs })
  const id = await pay(null)
  expect(await giveUpPayment(books.db, id)).toBe(true)
  expect(await giveUpPayment(books.db, id)).toBe(false)
  expect(await end()).toEqual([])
  await pay(null, 3)
  expect(await end()).toEqual([{ outcome: 'unpaid', seconds: null }])
})

test('what others pay to the owner is taken up once, and only from when on it is waited for', async () => {
  const found = { name, owner: shop, network: base, asset: usdcOnBase }
  const taken = () =>
    sql<{ tx: string }>`select tx from canary_deposit order by id`.execute(books.db).then(({ rows }) => rows)
  await switchCanaries(books.db, [canary])
  await reconcile('pay')
  await findPayments(books.db, found)
  expect(await taken()).toEqual([])
  const expectFrom = (lag: string) =>
    sql`update canary set since = (select deposited_at from deposit) + ${lag}::interval`.execute(books.db)
  await expectFrom('2 minutes')
  await findPayments(books.db, found)
  expect(await taken()).toEqual([])
  // The clock of a chain may be behind ours.
  await expectFrom('30 seconds')
  await findPayments(books.db, { ...found, owner: { kind: 'stable_wallet', id: 'savings' } })
  expect(await taken()).toEqual([])
  await findPayments(books.db, found)
  await findPayments(books.db, found)
  expect(await taken()).toEqual([{ tx: txId('pay') }])
  expect(await end()).toMatchObject([{ outcome: 'late' }])
})

test('a canary that was off, or paid another owner, is waited for from when it is on again', async () => {
  const longAgo = () =>
    sql`update canary set since = now() - interval '9 hours', succeeded_at = now() - interval '8 hours'`.execute(
      books.db,
    )
  await switchCanaries(books.db, [canary, { name: 'webhook', owner: null }])
  await longAgo()
  await switchCanaries(books.db, [canary])
  expect(await ageOf(name)).toBeCloseTo(8 * 3600, -2)
  await switchCanaries(books.db, [canary, { name: 'webhook', owner: null }])
  expect(await ageOf('webhook')).toBeLessThan(60)
  expect(await ageOf(name)).toBeCloseTo(8 * 3600, -2)
  await switchCanaries(books.db, [{ name, owner: { ...shop, id: 'another' } }])
  expect(await ageOf(name)).toBeLessThan(60)
  await longAgo()
  await switchCanaries(books.db, [])
  await switchCanaries(books.db, [canary])
  await reconcile('pay')
  await findPayments(books.db, { name, owner: shop, network: base, asset: usdcOnBase })
  expect((await sql`select from canary_deposit`.execute(books.db)).rows).toEqual([])
})

test('a transaction that could not be sent, and is signed again to the byte, is that of the later payment', async () => {
  await switchCanaries(books.db, [canary])
  await pay('pay', 1)
  await pay('pay')
  const payments = () => sql`select tx, outcome from canary_deposit order by id`.execute(books.db)
  expect((await payments()).rows).toEqual([
    { tx: null, outcome: null },
    { tx: txId('pay'), outcome: null },
  ])
  await reconcile('pay')
  await end()
  await expect(pay('pay')).rejects.toThrow('canary_deposit_network_tx_key')
})
