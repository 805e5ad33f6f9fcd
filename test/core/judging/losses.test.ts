import { expect, test } from 'vitest'
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
import { coreRows } from '../../support/mismatch-rows/core-rows.ts'
import { type Evidence, mismatchesOf, reported } from '../../support/mismatch-rows/row.ts'

const base = (amount: bigint) => amount as Amount

function lossText(loss: Loss | null): string {
  return loss === null ? 'none' : `${loss.amount} of ${loss.whole} ${loss.asset.split('/')[0]}`
}

test('each way in which a mismatch opens has the loss that its kind promises', () => {
  const lines = coreRows.map(({ kind, where, opens }) => {
    const losses = mismatchesOf(opens).filter((one) => one.kind === kind)
    return `${kind}, ${where}: ${losses.map(({ loss }) => lossText(loss)).join('; ')}`
  })
  expect(lines).toMatchInlineSnapshot(`
    [
      "webhook_missing, the API and the chains know more than webhooks tell: none",
      "api_missing, the API does not list what a webhook tells of: none",
      "api_missing, the API does not list what is not delivered yet: none",
      "chain_missing, the claimed payment is on no chain: 100000000 of 100000000 base",
      "chain_missing, nothing says which payment is claimed: 100000000 of 100000000 base",
      "not_covered, nobody has read where the claimed payment should be: none",
      "unreported, nobody claims the payment: 100000000 of 100000000 base",
      "unreported, what is claimed may be another payment: 100000000 of 100000000 base",
      "settlement_missing, nothing is delivered: 100000000 of 100000000 base",
      "settlement_unreported, the service delivers what belongs to nothing that it reported: none",
      "amount_mismatch, the API states another amount of the payment: 99999995 of 100000000 base",
      "amount_mismatch, the voices of the service state different deliveries: 99899995 of 99900000 arbitrum",
      "asset_mismatch, the API names another asset of the payment: 100000000 of 100000000 base",
      "decimals_mismatch, the API states the amount in other decimals: none",
      "settlement_short, less is delivered than stated: 9899999 of 99900000 arbitrum",
      "settlement_over, more is delivered than stated: none",
      "fee_out_of_band, the service keeps more than was agreed: 1 of 99900000 arbitrum",
      "recipient_mismatch, the service names another recipient: 99900000 of 99900000 arbitrum",
      "recipient_mismatch, the delivery went to somebody else whom we watch: 99900000 of 99900000 arbitrum",
      "network_mismatch, the service names another network than the one that has the payment: none",
      "network_mismatch, webhook and record name two networks, and no chain shows the payment yet: none",
      "address_changed, the service states another address for an owner of ours: none",
      "unknown_address, neither the address nor its owner is ours: none",
      "unknown_owner, a payment to us is said to be for somebody whom the book does not have: none",
      "tx_reused, two deposits claim one payment: 100000000 of 100000000 base",
      "ambiguous_match, one delivery is named for two deposits, and does not add up: none; none",
      "status_regressed, the record goes back: none",
      "status_regressed, the record goes back, by a clock that is right: none",
      "status_regressed, webhooks go back: none",
      "status_regressed, webhooks go back, and are there in the very millisecond that they name: none",
      "status_conflict, a webhook says refunded, the API settled: none",
      "status_conflict, the API says refunded, and never said settled as a webhook did: none",
      "status_conflict, a webhook says held after the API said settled: none",
      "status_conflict, the API says settled after a webhook said failed: none",
      "terminal_reopened, what was settled is under way again: none",
      "terminal_reopened, webhooks say refunded later than settled: none",
      "terminal_reopened, what was settled is said to be delivered by another transaction: none",
      "terminal_reopened, the credit of a wallet is changed afterwards: none",
      "terminal_reopened, what had failed is settled: none",
      "clock_skew, the service is ahead of our clock: none",
      "clock_skew, a payment was told of before it was made: none",
      "clock_skew, what is confirmed was told of before it was made: none",
      "clock_skew, a payment was told of before it was made, by a chain whose clock is right: none",
      "stuck, it is held, and nobody says for how long: 100000000 of 100000000 base",
      "stuck, it is held, and of that no webhook came, and a clock is wrong: 100000000 of 100000000 base",
      "stuck, it is settled, and a webhook is required of which none is expected: none",
      "stuck, it is seen, and not waited for by a deadline of its own: none",
      "stuck, it is held, and nobody expects it any more: 100000000 of 100000000 base",
      "stuck, a payment that was seen does not become final: none",
      "orphaned_after_booking, a final payment vanished: 100000000 of 100000000 base",
      "tx_failed, the transaction that is named as the payment failed: 100000000 of 100000000 base",
      "below_minimum, less is paid than the policy accepts: none",
      "unsupported_token, an asset is paid that the policy does not accept: none",
      "refund_due, the service says that it failed, and keeps the money: 100000000 of 100000000 base",
      "refund_due, what failed was paid for good: 100000000 of 100000000 base",
    ]
  `)
})

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

test('a short delivery loses what it lacks, in the asset delivered', () => {
  const found = mismatchesOf({
    evidence: [...reported(), payment(), delivery({ amount: base(89_910_001n) })],
  })
  expect(found).toEqual([
    {
      kind: 'settlement_short',
      detail: { stated: '99900000', delivered: '89910001', asset: usdcOnArbitrum },
      loss: { asset: usdcOnArbitrum, amount: 9_989_999n, whole: 99_900_000n },
    },
  ])
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
