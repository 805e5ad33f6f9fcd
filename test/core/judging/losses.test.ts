import { expect, test } from 'vitest'
import type { ServiceId } from '../../../src/core/evidence.ts'
import type { Loss } from '../../../src/core/mismatch.ts'
import type { Amount } from '../../../src/core/money.ts'
import {
  claim,
  delivery,
  payment,
  txId,
  usdcOnArbitrum,
  usdcOnBase,
  webhook,
} from '../../support/evidence.ts'
import { type Evidence, mismatchesOf, reported } from '../../support/mismatch-rows/row.ts'

const base = (amount: bigint) => amount as Amount

function lossText(loss: Loss | null): string {
  return loss === null ? 'none' : `${loss.amount} of ${loss.whole} ${loss.asset.split('/')[0]}`
}

const undelivered = { status: 'settling', settlement: { tx: null } } as const
const unreported = { status: 'confirmed', settlement: { amount: null, tx: null } } as const
const inParts = { tx: txId('part'), amount: base(40_000_000n) }

test.each<[string, Evidence, string]>([
  [
    'what is stated, and did not come',
    [...reported(undelivered), payment()],
    '99900000 of 99900000 arbitrum',
  ],
  [
    'what was paid, if no delivery is stated',
    [...reported(unreported), payment()],
    '100000000 of 100000000 base',
  ],
  [
    'what is stated, less the part that came',
    [...reported({ status: 'settling', settlement: { tx: txId('part') } }), payment(), delivery(inParts)],
    '59900000 of 99900000 arbitrum',
  ],
])('a delivery that is missing loses %s', (_what, evidence, expected) => {
  const missing = mismatchesOf({ evidence }).filter(({ kind }) => kind === 'settlement_missing')
  expect(missing.map(({ loss }) => lossText(loss))).toEqual([expected])
})

test('deliveries that are short together lose what they lack once, at the first deposit', () => {
  const shared = [claim(), claim({ serviceId: 'dep_2' as ServiceId }), delivery({ amount: base(7n) })]
  const found = mismatchesOf({ evidence: shared }).filter(({ kind }) => kind === 'ambiguous_match')
  expect(found.map(({ loss }) => lossText(loss))).toEqual(['199799993 of 199800000 arbitrum', 'none'])
})

test('amounts of different assets are not compared', () => {
  const ether = { settlement: { asset: usdcOnBase, amount: base(5n) } }
  const kinds = mismatchesOf({ evidence: [...reported(ether), payment(), delivery()] }).map(
    ({ kind }) => kind,
  )
  expect(kinds).not.toContain('settlement_over')
  const other = claim({ deposit: { asset: usdcOnArbitrum, amount: base(5n) } })
  const paid = mismatchesOf({ evidence: [webhook(), other, payment(), delivery()] })
  expect(paid.map(({ kind }) => kind)).not.toContain('amount_mismatch')
})
