import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Address, NetworkName } from '../../../src/core/asset.ts'
import { convertDeposits } from '../../../src/service/deposits/convert-deposits.ts'
import { refundDeposit, releaseDeposit } from '../../../src/service/deposits/deposit-actions.ts'
import { type OwnerPolicy, putPolicy } from '../../../src/service/deposits/policy.ts'
import { type DepositRecord, recordWriter } from '../../../src/service/deposits/record.ts'
import type { ScannedPayment } from '../../../src/service/network/port.ts'
import { type Book, openBook } from '../book.ts'
import { unreachableNetworks } from '../fixtures.ts'

const mainnet = 'mainnet' as NetworkName
const sender = '0x1111111111111111111111111111111111111111' as Address
const recipient = '0x00000000000000000000000000000000000000aa' as Address
const terms = { feeBasisPoints: 30, spreadBasisPoints: 0 }

let book: Book
let prices: Record<string, string> | null = {}
let made = 0

beforeAll(async () => {
  book = await openBook()
})

afterAll(() => book.close())

/** A channel of its own and a final payment to it of as many wei. */
async function deposited(policy: OwnerPolicy | null, changes: Partial<ScannedPayment> = {}): Promise<string> {
  const number = ++made
  const id = `channel-${number}`
  const rule = { forward_network: 'base' as NetworkName, forward_asset: 'USDC', forward_recipient: recipient }
  const { evm_address: address } = await book.keep({ kind: 'channel', id, ...rule })
  if (policy !== null) await putPolicy(book.db, { kind: 'channel', id }, policy)
  await book.record([{ ...book.payment(number, true), address, ...changes }], BigInt(number))
  return (await newest(id)).id
}

async function newest(owner: string): Promise<DepositRecord> {
  const [record] = (await book.list(`owner=${owner}&limit=1`)).data
  if (record === undefined) throw new Error(`${owner} has no deposit`)
  return record
}

async function find(id: string): Promise<DepositRecord> {
  const row = book.db.selectFrom('service.deposit').selectAll().where('id', '=', id)
  return recordWriter(unreachableNetworks)(await row.executeTakeFirstOrThrow())
}

async function eventsOf(id: string): Promise<string[]> {
  const { rows } = await sql<{ type: string }>`
    select type from service.event where deposit_id = ${id} order by sequence`.execute(book.db)
  return rows.map(({ type }) => type.replace('deposit.', ''))
}

function convert(): Promise<number> {
  const fixed = { current: () => prices, refresh: () => Promise.resolve() }
  return convertDeposits({ ...book, terms, prices: fixed }, mainnet)
}

test('a deposit without a price is held until there is one, and then keeps its quote', async () => {
  prices = null
  const id = await deposited(null)
  expect(await convert()).toBe(0)
  prices = {}
  expect(await convert()).toBe(1)
  expect(await find(id)).toMatchObject({ status: 'held', reason: 'price_missing', rate: null })
  expect(await convert()).toBe(0)
  prices = { 'ETH/USDC': '3000.5' }
  expect(await convert()).toBe(1)
  expect(await find(id)).toMatchObject({ status: 'confirmed', reason: null })
  expect(await convert()).toBe(1)
  prices = { 'ETH/USDC': '1' }
  await convert()
  const { status, destination, fee, rate } = await find(id)
  expect({ status, amount: destination.amount, fee, rate }).toEqual({
    status: 'converting',
    amount: '2991498500',
    fee: { asset: 'USDC', amount: '9001500' },
    rate: '3000.5',
  })
  expect(await eventsOf(id)).toEqual(['detected', 'confirmed', 'held', 'confirmed', 'converting'])
})

test('what is held without a price can be released, which no policy stops, and refunded', async () => {
  prices = {}
  const [id, other, stopped] = [await deposited(null), await deposited(null), await deposited(null)]
  await convert()
  const owner = { kind: 'channel', id: (await find(id)).owner.id } as const
  await putPolicy(book.db, owner, { hold: true })
  await putPolicy(book.db, { kind: 'channel', id: (await find(stopped)).owner.id }, { hold: true })
  expect(await releaseDeposit(book, id)).toMatchObject({ kind: 'released' })
  expect(await refundDeposit(book, { id: other, to: null })).toMatchObject({ kind: 'refunding' })
  // Without a price there is nothing to deliver.
  await convert()
  expect(await find(id)).toMatchObject({ status: 'held', reason: 'price_missing' })
  prices = { 'ETH/USDC': '3000.5' }
  await convert()
  await convert()
  expect(await find(id)).toMatchObject({ status: 'converting', reason: null })
  expect(await find(stopped)).toMatchObject({ status: 'held', reason: 'policy_hold' })
  expect(await find(other)).toMatchObject({ status: 'refunding', reason: 'requested' })
})

test('a price that appears and a release at the same time make one step', async () => {
  prices = {}
  const id = await deposited(null)
  await convert()
  prices = { 'ETH/USDC': '3000.5' }
  await Promise.all([convert(), releaseDeposit(book, id), convert()])
  await convert()
  expect((await find(id)).status).toBe('converting')
})

test('a deposit of which the fee leaves nothing has failed', async () => {
  prices = { 'ETH/USDC': '3000.5' }
  const id = await deposited(null, { amount: 1n })
  await convert()
  expect(await find(id)).toMatchObject({ status: 'failed', reason: 'too_small' })
})

test('any number of deposits without a price keep none of the others waiting', async () => {
  prices = { 'ETH/USDC': '3000.5' }
  const usdcToEth = `
    insert into service.deposit (id, owner_kind, owner_id, status, network, address, asset, decimals, amount,
      transaction, index, block, block_at, to_network, to_address, to_asset, to_decimals)
    select 'dep_x' || n, 'channel', 'channel-1', 'confirmed', 'mainnet', '${recipient}', 'DAI', 18, 1,
      'x' || n, '0', 1, now(), 'base', '${recipient}', 'USDC', 6 from generate_series(1, 450) n`
  await book.db.transaction().execute(async (tx) => {
    await sql.raw(usdcToEth).execute(tx)
    await sql`
      insert into service.event (id, type, deposit_id, revision, body, created_at)
      select 'evt_' || id, 'deposit.confirmed', id, 1, '{}', now() from service.deposit where id like 'dep_x%'`.execute(
      tx,
    )
  })
  const id = await deposited(null)
  expect(await convert()).toBe(451)
  expect((await find(id)).status).toBe('converting')
  const held = `owner=channel-1&status=held&limit=500`
  const reasons = (await book.list(held)).data.map(({ reason }) => reason)
  expect(reasons).toHaveLength(450)
  expect(new Set(reasons)).toEqual(new Set(['price_missing']))
})

test('a policy holds a deposit, whatever the price, until it is released, and not a second time', async () => {
  prices = {}
  const id = await deposited({ hold: true })
  await convert()
  expect(await find(id)).toMatchObject({
    status: 'held',
    reason: 'policy_hold',
    destination: { amount: null },
  })
  expect(await releaseDeposit(book, id)).toMatchObject({
    kind: 'released',
    deposit: { id, status: 'confirmed' },
  })
  prices = { 'ETH/USDC': '3000.5' }
  await convert()
  expect(await find(id)).toMatchObject({ status: 'converting', reason: null })
  expect(await eventsOf(id)).toEqual(['detected', 'confirmed', 'held', 'confirmed', 'converting'])
  expect(await releaseDeposit(book, id)).toEqual({ kind: 'wrong_state', status: 'converting' })
  expect(await releaseDeposit(book, 'dep_none')).toEqual({ kind: 'not_found' })
})

test('a policy sends a deposit back to its sender, whole', async () => {
  const id = await deposited({
    assets: { deny: [{ network: 'mainnet', asset: 'ETH' }] },
    otherwise: 'refund',
  })
  await convert()
  const { status, reason, refund, source } = await find(id)
  expect({ status, reason, refund }).toEqual({
    status: 'refunding',
    reason: 'asset_denied',
    refund: { address: sender, amount: source.amount, transaction: null, time: null },
  })
})

test('a deposit is refunded when that is asked for, while it is final and not on its way', async () => {
  const confirmed = await deposited(null)
  expect(await refundDeposit(book, { id: confirmed, to: null })).toMatchObject({
    kind: 'refunding',
    deposit: { status: 'refunding', reason: 'requested', refund_address: sender },
  })
  expect(await refundDeposit(book, { id: confirmed, to: null })).toEqual({
    kind: 'wrong_state',
    status: 'refunding',
  })
  const held = await deposited({ hold: true })
  await convert()
  expect(await refundDeposit(book, { id: held, to: recipient })).toMatchObject({
    kind: 'refunding',
    deposit: { reason: 'requested', refund_address: recipient },
  })
  const converting = await deposited(null)
  await convert()
  expect(await refundDeposit(book, { id: converting, to: null })).toMatchObject({
    kind: 'refunding',
    deposit: { to_amount: null, fee: null, rate: null },
  })
  const signed = await deposited(null)
  await convert()
  await sql`
    insert into service.transfer (kind, deposit_id, network, branch, nonce, asset, to_address, amount)
    values ('forward', ${signed}, 'base', 0, 0, 'native', ${recipient}, 1)`.execute(book.db)
  expect(await refundDeposit(book, { id: signed, to: null })).toEqual({
    kind: 'wrong_state',
    status: 'converting',
  })
  expect(await refundDeposit(book, { id: 'dep_none', to: null })).toEqual({ kind: 'not_found' })
})

test('released, refunded and converted by twenty at once, a deposit takes one way', async () => {
  const id = await deposited({ hold: true })
  await convert()
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, (_, place) =>
      place % 2 === 0 ? releaseDeposit(book, id) : refundDeposit(book, { id, to: null }),
    ),
  )
  await convert()
  const { status, refund } = await find(id)
  const refunds = outcomes.filter(({ kind }) => kind === 'refunding').length
  expect(outcomes.filter(({ kind }) => kind === 'released').length).toBeLessThanOrEqual(1)
  expect(refunds).toBeLessThanOrEqual(1)
  expect(status).toBe(refunds === 1 ? 'refunding' : 'converting')
  expect(refund === null).toBe(refunds === 0)
})

test.each([
  ['a hold without a reason', `status = 'held'`, 'deposit_reason'],
  ['a reason without a hold', `reason = 'policy_hold'`, 'deposit_reason'],
  [
    'a refund of no amount',
    `status = 'refunding', reason = 'requested', refund_address = 'a'`,
    'deposit_refunding',
  ],
  [
    'a refund of what is forwarded',
    `status = 'refunding', reason = 'requested', refund_address = 'a', refund_amount = 1, to_transaction = 't'`,
    'deposit_refunding',
  ],
  [
    'an end of a refund without its transaction',
    `status = 'refunded', reason = 'requested', refund_address = 'a', refund_amount = 1`,
    'deposit_refunded',
  ],
  ['a conversion without a quote', `status = 'converting'`, 'deposit_quoted'],
])('Postgres refuses %s', async (_what, set, constraint) => {
  const id = await deposited(null)
  const change = sql.raw(`update service.deposit set ${set} where id = '${id}'`).execute(book.db)
  await expect(change).rejects.toThrow(constraint)
})
