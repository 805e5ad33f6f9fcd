import { expect, test } from 'vitest'
import { unreadableKinds } from '../../src/core/mismatch.ts'
import type { Amount } from '../../src/core/money.ts'
import {
  amountsInUnits,
  amountsNamed,
  amountsOfDetail,
  decimalText,
  mismatchSentence,
} from '../../src/presentation/mismatch-sentence.ts'
import { credit, delivery, payment, usdcOnArbitrum, usdcOnBase, usdtOnBase } from '../support/evidence.ts'
import { coreRows } from '../support/mismatch-rows/core-rows.ts'
import { type Change, mismatchesOf, reported } from '../support/mismatch-rows/row.ts'

const assets = Object.fromEntries(
  [usdcOnBase, usdtOnBase, usdcOnArbitrum, credit].map((key) => [
    key,
    { symbol: key === usdtOnBase ? 'USDT' : 'USDC', network: key.split('/')[0] ?? '', decimals: 6 },
  ]),
)

const sentencesOf = (change: Change) =>
  mismatchesOf(change).map(({ kind, detail, loss }) => ({
    kind,
    text: mismatchSentence({ kind, detail, loss_asset: loss?.asset ?? null, assets }),
  }))

test('a short delivery says by how much, what is stated and what the chain shows, in units', () => {
  const short = delivery({ amount: 89_910_001n as Amount })
  expect(sentencesOf({ evidence: [...reported(), payment(), short] })).toEqual([
    {
      kind: 'settlement_short',
      text: 'Short by 9.989999 USDC: the service states 99.9, the chain shows 89.910001',
    },
  ])
})

test.each(coreRows)('$kind, where $where, shows no base units', ({ kind, opens }) => {
  const said = sentencesOf(opens).filter((one) => one.kind === kind)
  expect(said).not.toEqual([])
  for (const { text } of said) {
    expect(text).not.toMatch(/(?<![\w.,:/-])\d{7,}(?![\w/])/)
    expect(text).not.toMatch(/undefined|\?|base units/)
  }
})

test.each([
  ['unexplained_balance', { address: '0x1', change: '-5000000', blocks: '12' }, 'changed by -5 USDC'],
  [
    'wallet_balance_mismatch',
    { wallet: 'savings', asset: credit, difference: '-7' },
    'The balance of savings differs from the books by -0.000007 USDC',
  ],
  [
    'unknown_outflow',
    { address: '0x1', recipient: '0x2', tx: '0x3', asset: usdcOnBase, amount: '5000000' },
    '5 USDC left the deposit address 0x1 for 0x2',
  ],
  ['ledger_imbalance', { sum: '1234567000000' }, 'sum to 1,234,567 USDC'],
] as const)('%s of an audit is in units, too', (kind, detail, expected) => {
  expect(mismatchSentence({ kind, detail, loss_asset: usdcOnBase, assets })).toContain(expected)
})

test('a kind of an older version says what is stored of it', () => {
  expect(mismatchSentence({ kind: 'of_old', detail: { a: 'b' } })).toBe('a b')
})

test.each([
  ['1234567.500000', '1,234,567.5'],
  ['0.004000000000000012', '0.004000000000000012'],
  ['100', '100'],
  ['-1000.0', '-1,000'],
])('the decimal %s reads %s', (decimal, text) => {
  expect(decimalText(decimal)).toBe(text)
})

test('amounts that a text names by their asset are written in units', () => {
  expect(amountsInUnits(`settled 99900000 of ${usdcOnArbitrum} to 0x1`, assets)).toBe(
    'settled 99.9 USDC on arbitrum to 0x1',
  )
})

test('the amounts of a detail are in units and in smallest units, with their assets', () => {
  const detail = { stated: '99900000', delivered: '89910001', asset: usdcOnArbitrum }
  const asset = { asset_symbol: 'USDC', asset: usdcOnArbitrum }
  expect(amountsOfDetail({ kind: 'settlement_short', detail, assets })).toEqual({
    stated: { amount: '99.900000', amount_base: '99900000', ...asset },
    delivered: { amount: '89.910001', amount_base: '89910001', ...asset },
  })
})

test.each(coreRows)('$kind, where $where, has every amount of its detail in documents', ({ kind, opens }) => {
  for (const { detail, loss } of mismatchesOf(opens).filter((one) => one.kind === kind)) {
    const found = amountsOfDetail({ kind, detail, loss_asset: loss?.asset ?? null, assets })
    const named = Object.keys(detail).filter((name) => /^-?\d{7,}$/.test(detail[name] ?? ''))
    expect(Object.keys(found)).toEqual(expect.arrayContaining(named))
  }
})

test('an amount of an unknown asset is told in smallest units alone', () => {
  expect(amountsNamed(`5 of base/0xee, 7 of ${usdcOnBase}`, assets)).toEqual([
    { amount: null, amount_base: '5', asset_symbol: null, asset: 'base/0xee' },
    { amount: '0.000007', amount_base: '7', asset_symbol: 'USDC', asset: usdcOnBase },
  ])
})

test.each([
  ['webhook', 'data.status', 'data.status', '--webhooks'],
  ['api', '', 'the payload', '--records'],
] as const)(
  'an unreadable payload from %s at "%s" leads to the commands that fix it',
  (...[source, path, shown, option]) => {
    const problem = 'unknown status gone'
    for (const kind of unreadableKinds)
      expect(mismatchSentence({ kind, detail: { source, path, problem } })).toBe(
        `${source}: ${shown}: unknown status gone. Next: correct the profile, check it with "bin/depositd profile test PROFILE ${option} SAMPLE", and save it: the daemon follows and applies what was stored`,
      )
  },
)
