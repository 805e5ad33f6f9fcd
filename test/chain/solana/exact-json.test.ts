import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { exactJson } from '../../../src/chain/solana/node.ts'

test.each<[string, unknown]>([
  ['18446744073709551615', 18446744073709551615n],
  ['{"lamports":9007199254740993,"fee":5000}', { lamports: 9007199254740993n, fee: 5000n }],
  ['[0,-1,[2,{"a":[3]}],null,true,"4"]', [0n, -1n, [2n, { a: [3n] }], null, true, '4']],
  ['{"uiAmount":0.5,"decimals":6}', { uiAmount: 0.5, decimals: 6n }],
  ['{"memo":":12345678901234567890","slot":7}', { memo: ':12345678901234567890', slot: 7n }],
  ['[  12345678901234567890 ]', [12345678901234567890n]],
  ['"text"', 'text'],
])('%s is read without a rounded number', (text, value) => {
  expect(exactJson.decode(text)).toEqual(value)
})

test('what is written is read as it was, whatever the size of its integers', () => {
  const whole = fc.oneof(fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n }), fc.bigInt({ min: -99n, max: 99n }))
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { depthSize: 'small' },
      whole,
      fc.string(),
      fc.constantFrom(null, true, 0.5),
      fc.array(tie('tree'), { maxLength: 4 }),
      fc.dictionary(fc.string(), tie('tree'), { maxKeys: 4, noNullPrototype: true }),
    ),
  }))
  fc.assert(
    fc.property(tree, (value) => {
      expect(exactJson.decode(exactJson.encode(value))).toEqual(value)
    }),
  )
})

test('what is no JSON is a syntax error', () => {
  expect(() => exactJson.decode('<html>')).toThrow(SyntaxError)
})
