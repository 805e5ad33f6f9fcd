import { expect, test } from 'vitest'
import type { Claim, Observation } from '../../../src/core/evidence.ts'
import { divide } from '../../../src/core/matching/divide.ts'
import type { Amount } from '../../../src/core/money.ts'
import {
  channelApproval,
  delivery,
  elsewhere,
  payment,
  txId,
  usdcOnArbitrum,
  usdcOnBase,
  webhook,
} from '../../support/evidence.ts'
import { reported, sent, sharesOf } from '../../support/forwards.ts'
import { ordersOf } from '../../support/orders.ts'
import { decided, outcome } from '../../support/outcome.ts'

const settling = { status: 'settling' } as const

test.each<[string, Observation[], string[]]>([
  ['1:1', [reported('a', [50, 'x']), sent('x', 50)], ['a x:0 50/50']],
  ['1:1, short', [reported('a', [50, 'x']), sent('x', 49)], ['a x:0 49/49']],
  [
    '1:1 each of one transaction, by their amounts',
    [reported('a', [50, 'x']), reported('b', [70, 'x']), sent('x', 70), sent('x', 50, { index: '1' })],
    ['a x:1 50/50', 'b x:0 70/70'],
  ],
  [
    '1:1 each of one transaction, of one amount, in order of index as the chain counts',
    [
      reported('a', [50, 'x']),
      reported('b', [50, 'x']),
      sent('x', 50, { index: '9' }),
      sent('x', 50, { index: '10' }),
    ],
    ['a x:9 50/50', 'b x:10 50/50'],
  ],
  [
    '1:1 of a transaction whose other transfer is not told of yet',
    [reported('a', [50, 'x']), sent('x', 70), sent('x', 50, { index: '1' })],
    ['a x:1 50/50', 'stray x:0'],
  ],
  [
    '1:1 each, one short, beside an exact one',
    [reported('a', [50, 'x']), reported('b', [70, 'x']), sent('x', 69), sent('x', 50, { index: '1' })],
    ['a x:1 50/50', 'b x:0 69/69'],
  ],
  [
    'of one amount, fewer deposits than transfers in one transaction',
    [
      reported('a', [5, 'x']),
      reported('b', [5, 'x']),
      ...['0', '1', '2'].map((index) => sent('x', 5, { index })),
    ],
    ['a x:0 5/5', 'b x:1 5/5', 'stray x:2'],
  ],
  [
    'N:M of one amount, sent once more than it is told',
    [
      reported('a', [5, 'x'], settling),
      reported('a', [5, 'y']),
      reported('b', [5, 'z']),
      reported('b', [5, 'y'], settling),
      ...['x', 'y', 'z'].map((tx) => sent(tx, 5)),
    ],
    ['a ambiguous', 'b ambiguous'],
  ],
  [
    '1:N, told of by one revision after another',
    [reported('a', [80, 'x'], settling), reported('a', [80, 'y']), sent('x', 30), sent('y', 50)],
    ['a x:0 30/30 y:0 50/50'],
  ],
  [
    '1:N, in one record',
    [reported('a', [80, 'x', 'y']), sent('x', 30), sent('y', 50)],
    ['a x:0 30/30 y:0 50/50'],
  ],
  [
    'N:M, in one record each',
    [
      reported('a', [40, 'x', 'y']),
      reported('b', [50, 'y', 'z']),
      sent('x', 10),
      sent('y', 60),
      sent('z', 20),
    ],
    ['a x:0 10/10 y:0 30/60', 'b y:0 30/60 z:0 20/20'],
  ],
  [
    '1:N, in one transaction',
    [reported('a', [80, 'x']), sent('x', 30), sent('x', 50, { index: '1' })],
    ['a x:0 30/30 x:1 50/50'],
  ],
  [
    '1:N, sent twice in full',
    [reported('a', [80, 'x'], settling), reported('a', [80, 'y']), sent('x', 80), sent('y', 80)],
    ['a x:0 80/80 y:0 80/80'],
  ],
  [
    'N:1',
    [reported('a', [30, 'x']), reported('b', [50, 'x']), sent('x', 80)],
    ['a x:0 30/80', 'b x:0 50/80'],
  ],
  [
    'N:1 that does not add up',
    [reported('a', [30, 'x']), reported('b', [50, 'x']), sent('x', 79)],
    ['a ambiguous', 'b ambiguous'],
  ],
  [
    'N:1 of which more may come',
    [reported('a', [30, 'x'], settling), reported('b', [50, 'x']), sent('x', 79)],
    ['a', 'b'],
  ],
  [
    'N:1 of which one amount is not stated yet',
    [reported('a', [null, 'x'], settling), reported('b', [50, 'x']), sent('x', 79)],
    ['a', 'b'],
  ],
  [
    'N:1 of which one amount is never stated',
    [reported('a', [null, 'x']), reported('b', [50, 'x']), sent('x', 79)],
    ['a ambiguous', 'b ambiguous'],
  ],
  [
    'two who state the whole of one transfer',
    [reported('a', [50, 'x']), reported('b', [50, 'x']), sent('x', 50)],
    ['a ambiguous', 'b ambiguous'],
  ],
  [
    'N:M',
    [
      reported('a', [30, 'x']),
      reported('b', [60, 'x'], settling),
      reported('b', [60, 'y']),
      sent('x', 70),
      sent('y', 20),
    ],
    ['a x:0 30/70', 'b x:0 40/70 y:0 20/20'],
  ],
  [
    'N:M in which order alone leaves somebody short',
    [
      reported('a', [40, 'x'], settling),
      reported('a', [40, 'y']),
      reported('b', [50, 'x']),
      sent('x', 60),
      sent('y', 30),
    ],
    ['a x:0 10/60 y:0 30/30', 'b x:0 50/60'],
  ],
  [
    'N:M that adds up, but not for each',
    [
      reported('a', [40, 'x']),
      reported('b', [50, 'y'], settling),
      reported('b', [50, 'x']),
      sent('x', 30),
      sent('y', 60),
    ],
    ['a ambiguous', 'b ambiguous'],
  ],
  [
    'N:M, of which a part is exact and the rest does not add up',
    [
      reported('a', [30, 'x']),
      reported('b', [60, 'x']),
      reported('c', [7, 'x']),
      sent('x', 30),
      sent('x', 60, { index: '1' }),
      sent('x', 6, { index: '2' }),
    ],
    ['a x:0 30/30', 'b x:1 60/60', 'c x:2 6/6'],
  ],
  [
    'N:1 to another recipient beside 1:1',
    [
      reported('a', [30, 'x']),
      reported('b', [50, 'x']),
      sent('x', 80),
      sent('x', 9, { index: '1', to: elsewhere }),
    ],
    ['a x:0 30/80', 'b x:0 50/80', 'stray x:1'],
  ],
  [
    'a webhook alone names a part',
    [
      reported('a', [80, 'y']),
      reported('a', [80, 'x'], { ...settling, source: 'webhook' }),
      sent('x', 30),
      sent('y', 50),
    ],
    ['a x:0 30/30 y:0 50/50'],
  ],
  ['nothing that was sent', [reported('a', [80, 'x'])], ['a']],
  ['what nobody names', [sent('x', 80)], ['stray x:0']],
  [
    'a part that the chain took back, beside one that stands',
    [
      reported('a', [50, 'x'], settling),
      reported('a', [50, 'y']),
      sent('x', 30, { stage: 'orphaned', epoch: 1 }),
      sent('y', 50),
    ],
    ['a y:0 50/50', 'stray x:0'],
  ],
  [
    'only what the chain took back',
    [reported('a', [50, 'x']), sent('x', 50, { stage: 'orphaned', epoch: 1 })],
    ['a x:0 50/50'],
  ],
  [
    'another asset than the one that is stated',
    [reported('a', [50, 'x']), sent('x', 50, { asset: usdcOnBase })],
    ['a x:0 50/50'],
  ],
])('%s, in every order', (_what, observations, expected) => {
  for (const order of observations.length > 5
    ? [observations, observations.toReversed()]
    : ordersOf(observations))
    expect(sharesOf(order)).toEqual(expected)
})

const pays = (...names: string[]) =>
  names.map((name, place) => payment({ tx: txId(`pay ${name}`), index: `${place}` }))
const both = (one: Claim) => [one, { ...one, source: 'webhook' as const }]

test('deposits that share a delivery are reconciled, and one that does not add up leaves them unsettled', () => {
  const all = [...pays('a', 'b'), ...both(reported('a', [30, 'x'])), ...both(reported('b', [50, 'x']))]
  expect(outcome([...all, sent('x', 80)])).toBe('reconciled reconciled')
  expect(outcome([...all, sent('x', 81)])).toBe('settling settling ambiguous_match ambiguous_match')
  const [ambiguous] = decided([...all, sent('x', 81)]).deposits
  expect(ambiguous?.verdict.matrix.settlement).toEqual({
    webhook: 'present',
    api: 'present',
    chain: 'present',
  })
})

test('what is ambiguous is told with both sums, the deposits and the transfers', () => {
  const { evidences } = divide(
    [reported('a', [30, 'x']), reported('b', [50, 'x']), sent('x', 81)],
    [channelApproval],
  )
  expect(evidences.map(({ ambiguity }) => ambiguity)).toEqual(
    Array.from({ length: 2 }, () => ({
      stated: 80n,
      asset: usdcOnArbitrum,
      delivered: 81n,
      deposits: ['a', 'b'],
      transfers: [`arbitrum/${txId('x')}/0`],
    })),
  )
})

function rules(observations: Observation[]): string[] {
  const { evidences } = divide(observations, [channelApproval])
  return evidences.flatMap(({ links }) => links.map(({ rule }) => rule))
}

test('each delivery says by which rule it came to the deposit', () => {
  expect(rules([webhook(), payment(), delivery()])).toEqual(['transfer named', 'transaction and amount'])
  expect(rules([webhook({ deposit: { index: null } }), payment()])).toEqual(['transaction and amount'])
  expect(rules([webhook({ deposit: { index: '7' } }), payment()])).toEqual(['transaction and address'])
  expect(rules([payment()])).toEqual(['unclaimed'])
  expect(rules([webhook(), delivery({ amount: 1n as Amount })])).toEqual(['transaction and address'])
  expect(rules([webhook(), delivery({ to: elsewhere })])).toEqual(['transaction'])
  expect(rules([reported('a', [30, 'x']), reported('b', [50, 'x']), sent('x', 80)])).toEqual([
    'share',
    'share',
  ])
})
