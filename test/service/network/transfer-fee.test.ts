import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { feeOn, sentFor } from '../../../src/service/network/solana-accounts.ts'

test.each([
  [0n, 100n, 1_000_000n, 0n],
  [1n, 100n, 1n, 1n],
  [100n, 1_000_000n, 1_000_000n, 10_000n],
  [100n, 1_000_000n, 1_000_001n, 10_001n],
  [100n, 5000n, 1_000_000n, 5000n],
  [10_000n, 2n ** 64n - 1n, 7n, 7n],
])(
  'at %d basis points and at most %d, a transfer of %d has a fee of %d',
  (...[basisPoints, most, sent, fee]) => {
    expect(feeOn({ basisPoints, most }, sent)).toBe(fee)
  },
)

const anyFee = fc.record({
  basisPoints: fc.bigInt({ min: 0n, max: 10_000n }),
  most: fc.bigInt({ min: 0n, max: 10n ** 12n }),
})

test('what is sent for an amount lets exactly that arrive, and no less would', () => {
  const property = fc.property(anyFee, fc.bigInt({ min: 0n, max: 10n ** 15n }), (fee, arriving) => {
    const sent = sentFor(fee, arriving)
    expect(sent - feeOn(fee, sent)).toBe(arriving)
    if (sent > 0n) expect(sent - 1n - feeOn(fee, sent - 1n)).toBeLessThan(arriving)
  })
  fc.assert(property, { numRuns: 2000 })
})
