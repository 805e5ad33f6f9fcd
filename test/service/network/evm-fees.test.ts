import { expect, test } from 'vitest'
import { isSufficient } from '../../../src/service/network/evm-fees.ts'

const gwei = 10n ** 9n
const market = { baseFee: 8n * gwei, tip: 2n * gwei }

test.each<[string, [bigint, bigint], boolean]>([
  ['the next block can be paid, with the usual tip', [11n * gwei, 2n * gwei], true],
  ['the next block cannot be paid with its whole tip', [11n * gwei - 1n, 2n * gwei], false],
  ['the tip is half of the usual one', [30n * gwei, gwei], true],
  ['the tip is less than half of the usual one, however high the rest', [30n * gwei, gwei - 1n], false],
])('whether a fee is good where %s', (...[, [maxFeePerGas, maxPriorityFeePerGas], good]) => {
  expect(isSufficient({ maxFeePerGas, maxPriorityFeePerGas }, market)).toBe(good)
})

test('a tip of nothing is good where nothing is usual', () => {
  const fees = { maxFeePerGas: 9n * gwei, maxPriorityFeePerGas: 0n }
  expect(isSufficient(fees, { ...market, tip: 0n })).toBe(true)
})
