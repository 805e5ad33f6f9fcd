import { expect, test } from 'vitest'
import type { Address } from '../../../src/core/asset.ts'
import {
  type BalanceRecord,
  type HoldingChange,
  movementsOf,
  soleSender,
} from '../../../src/service/network/solana-source.ts'

const [payer, owner, account, mint] = ['1', '2', '3', '4'].map((digit) => digit.repeat(32) as Address) as [
  Address,
  Address,
  Address,
  Address,
]
const nothing: BalanceRecord = { accounts: [], fee: 0n, pre: [], post: [], preTokens: [], postTokens: [] }
const holding = (of: Address, amount: string) => ({ mint, owner: of, uiTokenAmount: { amount } })

test.each<[string, Partial<BalanceRecord>, HoldingChange[]]>([
  [
    'lamports from one account to another',
    { accounts: [payer, owner], fee: 1n, pre: [100n, 0n], post: [39n, 60n] },
    [
      { owner: payer, code: 'native', change: -60n },
      { owner, code: 'native', change: 60n },
    ],
  ],
  [
    'tokens to an account that had some',
    {
      preTokens: [holding(payer, '9'), holding(owner, '1')],
      postTokens: [holding(payer, '4'), holding(owner, '6')],
    },
    [
      { owner: payer, code: mint, change: -5n },
      { owner, code: mint, change: 5n },
    ],
  ],
  [
    "tokens to an account made in the same transaction, whose rent is not its owner's",
    { accounts: [payer, account], pre: [100n, 0n], post: [80n, 20n], postTokens: [holding(owner, '6')] },
    [
      { owner, code: mint, change: 6n },
      { owner: payer, code: 'native', change: -20n },
      { owner: account, code: 'native', change: 20n },
    ],
  ],
  [
    'tokens between two accounts of one owner',
    { preTokens: [holding(owner, '5')], postTokens: [holding(owner, '5')] },
    [],
  ],
  [
    'a holding of which the node does not tell the owner',
    { postTokens: [{ mint, uiTokenAmount: { amount: '5' } }] },
    [],
  ],
  [
    'an amount beyond what a double holds',
    { postTokens: [holding(owner, '18446744073709551615')] },
    [{ owner, code: mint, change: 18_446_744_073_709_551_615n }],
  ],
])('reads %s', (...[, record, movements]) => {
  expect(movementsOf({ ...nothing, ...record })).toEqual(movements)
})

test('a sender is named only where exactly one gave the asset away', () => {
  const paid: HoldingChange = { owner: payer, code: mint, change: -1n }
  expect(soleSender([paid, { owner, code: mint, change: 1n }], mint)).toBe(payer)
  expect(soleSender([paid, { ...paid, owner: account }], mint)).toBeNull()
  expect(soleSender([{ ...paid, code: 'native' }], mint)).toBeNull()
})

test('who pays only the fee of a payment of lamports is not its sender', () => {
  const relayed = {
    accounts: [payer, account, owner],
    fee: 10n,
    pre: [100n, 500n, 0n],
    post: [90n, 400n, 100n],
  }
  expect(soleSender(movementsOf({ ...nothing, ...relayed }), 'native')).toBe(account)
})
