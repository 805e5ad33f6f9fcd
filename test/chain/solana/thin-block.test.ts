import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { withTransactionsOf } from '../../../src/chain/solana/thin-block.ts'

const [ours, others] = ['1', '2', '3', '4'].map((digit) => digit.repeat(44)) as [string, string]
const watched = new Set([ours])

type Balance = { accountIndex: number; mint: string; owner?: string }
type Transaction = { meta: { postTokenBalances: Balance[] } | null; transaction: { accountKeys: object[] } }

const address = fc.constantFrom(ours, others, '5'.repeat(32), '6'.repeat(43))
/** Words that a scan of the text could take for structure. */
const word = fc.constantFrom(
  'mint',
  'owner',
  'meta',
  'transactions',
  '{',
  '}',
  ']',
  '[',
  ',',
  '\\',
  '"',
  'é',
  '',
)
const key = fc.record({ pubkey: fc.oneof({ weight: 9, arbitrary: address }, { weight: 1, arbitrary: word }) })
const balance = fc.record(
  { accountIndex: fc.nat(), mint: address, owner: address },
  { requiredKeys: ['accountIndex', 'mint'] },
)
const transaction: fc.Arbitrary<Transaction> = fc.record({
  meta: fc.option(fc.record({ fee: fc.nat(), postTokenBalances: fc.array(balance, { maxLength: 3 }) }), {
    freq: 8,
  }),
  transaction: fc.record({ accountKeys: fc.array(key, { maxLength: 3 }) }),
})

function mustBeRead({ meta, transaction: { accountKeys } }: Transaction): boolean {
  if (meta === null || meta.postTokenBalances.some(({ owner }) => owner === undefined)) return true
  return JSON.stringify([accountKeys, meta]).includes(ours)
}

function readBy(text: string): Transaction[] {
  return JSON.parse(text).result.transactions
}

test('what remains has every transaction that must be read, as it was, and nothing else unless a text has escapes', () => {
  const blocks = fc.tuple(fc.array(transaction, { maxLength: 6 }), fc.constantFrom(0, 1), fc.string())
  let fewer = 0
  fc.assert(
    fc.property(blocks, ([transactions, indent, blockhash]) => {
      const answer = { id: '1', result: { blockhash, transactions, blockTime: 1 } }
      const text = JSON.stringify(answer, null, indent)
      const thin = withTransactionsOf(watched, text)
      if (thin === text) return
      fewer++
      expect(JSON.parse(thin)).toEqual({
        ...answer,
        result: { ...answer.result, transactions: readBy(text).filter(mustBeRead) },
      })
    }),
    { numRuns: 2000 },
  )
  expect(fewer).toBeGreaterThan(200)
})

test('without escapes, transactions of others are left out', () => {
  const all: Transaction[] = [others, ours, others].map((pubkey) => ({
    meta: { postTokenBalances: [] },
    transaction: { accountKeys: [{ pubkey }] },
  }))
  const text = JSON.stringify({ result: { transactions: all } })
  expect(readBy(withTransactionsOf(watched, text))).toEqual([all[1]])
})

test.each([
  '{"result":null}',
  '{"error":{"message":"transactions"}}',
  '{"result":{"transactions":[{"meta":{}',
  '{"result":{"transactions":["one"]}}',
  '{"result":{"transactions":[{"a":"',
])('%s is left as it is', (text) => {
  expect(withTransactionsOf(watched, text)).toBe(text)
})
