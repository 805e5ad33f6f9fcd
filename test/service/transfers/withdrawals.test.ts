import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Address, NetworkName } from '../../../src/core/asset.ts'
import { convertDeposits } from '../../../src/service/deposits/convert-deposits.ts'
import { withdrawalWriter } from '../../../src/service/transfers/withdrawal-record.ts'
import {
  createWithdrawal,
  getWithdrawal,
  inNetworkUnits,
  type NewWithdrawal,
  walletBalance,
} from '../../../src/service/transfers/withdrawals.ts'
import { type Book, openBook } from '../book.ts'
import { networkSettings, unreachableNetworks } from '../fixtures.ts'

const recipient = '0x00000000000000000000000000000000000000aa' as Address
const base = 'base' as NetworkName
let book: Book
let paying: Parameters<typeof createWithdrawal>[0]

beforeAll(async () => {
  book = await openBook()
  paying = { db: book.db, networks: unreachableNetworks }
  await credit(1)
})

afterAll(() => book.close())

/** Credits the wallet with 1000 USDC. */
async function credit(number: number): Promise<void> {
  await book.record([{ ...book.payment(number, true), amount: 10n ** 18n }], BigInt(number))
  const prices = { current: () => ({ 'ETH/USDC': '1000' }), refresh: () => Promise.resolve() }
  const terms = { feeBasisPoints: 0, spreadBasisPoints: 0 }
  await convertDeposits({ ...book, terms, prices }, 'mainnet' as NetworkName)
}

function request(id: string, amount: bigint, changes: Partial<NewWithdrawal> = {}): NewWithdrawal {
  return { wallet: 'savings', id, network: base, recipient, amount, ...changes }
}

test('a withdrawal lowers the balance at once, and is told in the units of the balance', async () => {
  expect(await walletBalance(book.db, 'savings')).toBe(1_000_000_000n)
  const made = await createWithdrawal(paying, request('first', 250_000_001n))
  expect(made.kind).toBe('created')
  expect(await walletBalance(book.db, 'savings')).toBe(749_999_999n)
  const row = await getWithdrawal(book.db, { wallet: 'savings', id: 'first' })
  expect(row && withdrawalWriter(unreachableNetworks)(row)).toEqual({
    id: 'first',
    status: 'requested',
    network: 'base',
    recipient: '0x00000000000000000000000000000000000000AA',
    asset: 'USDC',
    decimals: 6,
    amount: '250000001',
    transaction: null,
    settled_at: null,
    created_at: expect.stringMatching(/Z$/),
    updated_at: expect.stringMatching(/Z$/),
  })
})

test('what cannot be paid is refused by name', async () => {
  expect(await createWithdrawal(paying, request('much', 749_999_999n + 1n))).toEqual({
    kind: 'balance_short',
    balance: 749_999_999n,
  })
  expect(await createWithdrawal(paying, request('whose', 1n, { wallet: 'nobody' }))).toEqual({
    kind: 'wallet_unknown',
  })
  const poor = networkSettings({
    name: 'base',
    family: 'evm',
    chainId: 8453,
    url: 'http://127.0.0.1:1',
    tokens: [],
  })
  expect(await createWithdrawal({ ...paying, networks: [poor] }, request('what', 1n))).toEqual({
    kind: 'asset_unknown',
  })
  const tokens = [{ symbol: 'USDC', decimals: 4, code: recipient }]
  const coarse = networkSettings({
    name: 'base',
    family: 'evm',
    chainId: 8453,
    url: 'http://127.0.0.1:1',
    tokens,
  })
  expect(await createWithdrawal({ ...paying, networks: [coarse] }, request('fine', 1n))).toEqual({
    kind: 'amount_inexact',
    decimals: 4,
  })
})

test.each([
  [1_234_567n, 6, 1_234_567n],
  [1_234_567n, 18, 1_234_567_000_000_000_000n],
  [1_234_500n, 4, 12_345n],
  [1_234_567n, 4, null],
])('%d of the balance in units of %d decimals is %s', (amount, decimals, units) => {
  expect(inNetworkUnits(amount, decimals)).toBe(units)
})

test('of twenty equal requests at once one makes the withdrawal', async () => {
  await credit(3)
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, () => createWithdrawal(paying, request('same', 1_000_000n))),
  )
  expect(outcomes.filter(({ kind }) => kind === 'created')).toHaveLength(1)
  expect(outcomes.filter(({ kind }) => kind === 'existing')).toHaveLength(19)
  const events = await book.db
    .selectFrom('service.event')
    .select('body')
    .where('type', '=', 'withdrawal.requested')
    .where('body', 'like', '%"same"%')
    .execute()
  expect(events.map(({ body }) => JSON.parse(body) as object)).toMatchObject([
    { data: { id: 'same', stable_wallet: 'savings', status: 'requested', amount: '1000000' } },
  ])
})

test('a withdrawal that failed gives its part back', async () => {
  const before = await walletBalance(book.db, 'savings')
  await book.db.updateTable('service.withdrawal').set({ status: 'failed' }).where('id', '=', 'same').execute()
  expect(await walletBalance(book.db, 'savings')).toBe(before + 1_000_000n)
})
