import { expect, test } from 'vitest'
import type { Claim, Observation, ObservedChainTransfer } from '../../../src/core/evidence.ts'
import { mismatchKinds } from '../../../src/core/mismatch.ts'
import type { Amount } from '../../../src/core/money.ts'
import {
  arbitrum,
  at,
  base,
  claim,
  delivery,
  elsewhere,
  payment,
  usdcOnArbitrum,
  usdcOnBase,
  usdtOnBase,
  webhook,
} from '../../support/evidence.ts'
import { outcome } from '../../support/outcome.ts'

/** Before any deadline: nothing is late yet. */
const soon = at(6)
const unsent = { tx: null, amount: null }
const steps = [
  { status: 'confirmed', settlement: unsent, occurredAt: at(1), receivedAt: at(2) },
  { status: 'settling', occurredAt: at(2), receivedAt: at(3) },
  { status: 'settled', occurredAt: at(3), receivedAt: at(4) },
] as const

/** All that three sources ever say of a deposit to the channel. */
const whole: readonly Observation[] = [
  ...steps.flatMap((step) => [webhook(step), claim(step)]),
  ...(['seen', 'final'] as const).flatMap((stage) => [payment({ stage }), delivery({ stage })]),
]

type Change = (one: Observation) => Observation

function ofClaims(
  sources: readonly Claim['source'][],
  { deposit, settlement, ...changes }: NonNullable<Parameters<typeof claim>[0]>,
): Change {
  return (one) => {
    if (one.kind !== 'claim' || !sources.includes(one.source)) return one
    return {
      ...one,
      ...changes,
      deposit: { ...one.deposit, ...deposit },
      settlement: one.settlement && { ...one.settlement, ...settlement },
    }
  }
}

function ofChainTransfers(
  role: ObservedChainTransfer['role'],
  changes: Partial<ObservedChainTransfer>,
): Change {
  return (one) => (one.kind === 'chain_transfer' && one.role === role ? { ...one, ...changes } : one)
}

const more = 110_000_000n as Amount
const less = 90_000_000n as Amount
const onArbitrum = { network: arbitrum, asset: usdcOnArbitrum }
const onBase = { network: base, asset: usdcOnBase }
const both = ['webhook', 'api'] as const
const unnamed = { tx: null, index: null }

test.each<[string, Change, string[]]>([
  ['nothing is wrong', (one) => one, []],
  ['records state another amount', ofClaims(['api'], { deposit: { amount: more } }), ['amount_mismatch']],
  ['webhooks do', ofClaims(['webhook'], { deposit: { amount: more } }), ['amount_mismatch']],
  ['both name another asset', ofClaims(both, { deposit: { asset: usdtOnBase } }), ['asset_mismatch']],
  // A record alone names a place that is not ours.
  [
    'records name another network',
    ofClaims(['api'], { deposit: onArbitrum }),
    ['network_mismatch', 'unknown_address'],
  ],
  ['records name no transaction', ofClaims(['api'], { deposit: unnamed }), []],
  ['neither names one', ofClaims(both, { deposit: unnamed }), []],
  [
    'records name another owner',
    ofClaims(['api'], { owner: { kind: 'channel', id: 'x' } }),
    ['unknown_owner'],
  ],
  ['webhooks are dated ahead', ofClaims(['webhook'], { occurredAt: at(70) }), ['clock_skew']],
  // Until a chain shows where that transaction is, it is said to go to a place that nobody approved.
  [
    'the delivery is placed on another network',
    ofClaims(both, { settlement: onBase }),
    ['network_mismatch', 'recipient_mismatch'],
  ],
  [
    'another recipient is named',
    ofClaims(both, { settlement: { address: elsewhere } }),
    ['recipient_mismatch'],
  ],
  ['less is delivered', ofChainTransfers('recipient', { amount: less }), ['settlement_short']],
  ['more is delivered', ofChainTransfers('recipient', { amount: more }), ['settlement_over']],
  ['somebody else is delivered to', ofChainTransfers('recipient', { to: elsewhere }), ['recipient_mismatch']],
])('where %s, no part of the evidence opens anything else', (_where, change, kinds) => {
  const reported = partsOf(whole.map(change)).flatMap((part) => outcome(part, soon).split(' '))
  expect([...new Set(reported)].filter((word) => word in mismatchKinds).toSorted()).toEqual(kinds)
})

/** Every one of them but the empty one. */
function partsOf<Item>(all: readonly Item[]): Item[][] {
  const [first, ...others] = all
  if (first === undefined) return []
  const rest = partsOf(others)
  return [[first], ...rest, ...rest.map((part) => [first, ...part])]
}
