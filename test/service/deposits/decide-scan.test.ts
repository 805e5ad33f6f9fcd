import { expect, test } from 'vitest'
import type { Address, AssetKey, TxId } from '../../../src/core/asset.ts'
import {
  type DepositScanRow,
  decideScan,
  type ScanDecision,
} from '../../../src/service/deposits/record-scan.ts'
import type { ScannedPayment } from '../../../src/service/network/port.ts'

/** Deposits `id tx#index amount status block`; payments `tx#index amount block final|young`; final up to block 10. */
test.each([
  ['a new payment', '', 'T1#0 5 12 young', 'fresh T1#0'],
  ['a new payment that is final already', '', 'T1#0 5 9 final', 'fresh T1#0'],
  ['a payment known, not final yet', 'D1 T1#0 5 detected 12', 'T1#0 5 12 young', ''],
  ['a payment that became final', 'D1 T1#0 5 detected 9', 'T1#0 5 9 final', 'final D1'],
  ['a payment read again', 'D1 T1#0 5 settled 9', 'T1#0 5 9 final', ''],
  ['a payment in another block now', 'D1 T1#0 5 detected 11', 'T1#0 5 12 young', 'moved D1'],
  ['one that moved and became final', 'D1 T1#0 5 detected 8', 'T1#0 5 9 final', 'moved D1 final D1'],
  ['one that moved out of the final blocks', 'D1 T1#0 5 detected 9', 'T1#0 5 12 young', 'moved D1'],
  ['a payment gone from the final blocks', 'D1 T1#0 5 detected 9', '', 'vanished D1'],
  ['a payment gone from blocks that are not final', 'D1 T1#0 5 detected 11', '', ''],
  ['a final deposit that is not in the scan', 'D1 T1#0 5 confirmed 9', '', ''],
  ['another transfer under a known key', 'D1 T1#0 5 detected 9', 'T1#0 7 9 final', 'vanished D1 fresh T1#0'],
  [
    'two transfers whose indexes slid',
    'D1 T1#0 5 detected 9, D2 T1#1 7 detected 9',
    'T1#1 5 9 final, T1#2 7 9 final',
    'vanished D2 D1 fresh T1#1 T1#2',
  ],
])('%s', (...[, known, payments, expected]) => {
  const position = { finalHeight: 10n, finalHash: null, seenHeight: 12n, seenHash: null }
  const decision = decideScan(rows(known, deposit), {
    payments: rows(payments, payment),
    position,
    more: false,
  })
  expect(describe(decision)).toBe(expected)
})

function describe({ vanished, moved, fresh, final }: ScanDecision): string {
  const parts = {
    vanished,
    moved: moved.map(({ id }) => id),
    fresh: fresh.map(({ transaction, index }) => `${transaction}#${index}`),
    final,
  }
  return Object.entries(parts)
    .filter(([, names]) => names.length > 0)
    .map(([part, names]) => [part, ...names].join(' '))
    .join(' ')
}

function rows<Row>(text: string, parse: (words: string[]) => Row): Row[] {
  return text === '' ? [] : text.split(', ').map((row) => parse(row.split(' ')))
}

function deposit([id = '', key = '', amount = '', status, block = '']: string[]): DepositScanRow {
  const [transaction = '', index = ''] = key.split('#')
  const rest = { address: 'A' as Address, contract: 'C' as Address, block_hash: `hash ${block}` }
  return {
    id,
    transaction,
    index,
    amount,
    status: status as DepositScanRow['status'],
    block: BigInt(block),
    ...rest,
  }
}

function payment([key = '', amount = '', block = '', finality]: string[]): ScannedPayment {
  const [transaction = '', index = ''] = key.split('#')
  return {
    transaction: transaction as TxId,
    index,
    asset: 'base/C' as AssetKey,
    sender: null,
    address: 'A' as Address,
    amount: BigInt(amount),
    block: BigInt(block),
    blockHash: `hash ${block}`,
    blockAt: new Date(0),
    final: finality === 'final',
  }
}
