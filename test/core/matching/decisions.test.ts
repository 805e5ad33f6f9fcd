import { expect, test } from 'vitest'
import type { Observation, ServiceId } from '../../../src/core/evidence.ts'
import { divide } from '../../../src/core/matching/divide.ts'
import type { Amount } from '../../../src/core/money.ts'
import { decision } from '../../support/decision.ts'
import { at, channelApproval, claim, delivery, elsewhere, payment, txId } from '../../support/evidence.ts'
import { ordersOf } from '../../support/orders.ts'
import { outcome } from '../../support/outcome.ts'

const second = 'dep_2' as ServiceId
const unnamed = claim({ deposit: { tx: null, index: null }, settlement: { tx: null } })
const other = payment({ tx: txId('other') })
const half = delivery({ amount: 50n as Amount })
const rest = delivery({ amount: 99_899_950n as Amount, index: '1' })

/** Each deposit with the transactions of its payment and its deliveries, and by which rulings they are its. */
function shown(observations: readonly Observation[]) {
  const { evidences, unmatchedDeliveries } = divide(observations, [channelApproval])
  const all = evidences.map(({ serviceId, links }) => {
    const said = links.map(
      ({ transfer, decision: id }) => `${transferName(transfer)}${id === null ? '' : ` (${id})`}`,
    )
    return [serviceId, ...said].join(' ')
  })
  return [...all, ...unmatchedDeliveries.map(({ ref }) => `stray ${transferName(ref)}`)]
}

function transferName(ref: string): string {
  const [, tx = '', index = ''] = ref.split('/')
  return `${Buffer.from(tx.slice(2), 'hex').toString().replaceAll('\0', '')}:${index}`
}

const apart = decision('apart', payment())
const later = { id: 'ruling 2', receivedAt: at(61) }

test.each<[string, Observation[], string[]]>([
  [
    'a payment that no claim names',
    [unnamed, payment(), decision('together', payment())],
    ['dep_1 pay:0 (ruling 1)'],
  ],
  [
    'a payment in place of the one that is named',
    [claim(), payment(), other, decision('together', other)],
    ['dep_1 other:0 (ruling 1)', ' pay:0'],
  ],
  ['a payment that is not the deposit’s', [claim(), payment(), apart], ['dep_1', ' pay:0']],
  [
    'together after apart',
    [claim(), payment(), apart, decision('together', payment(), later)],
    ['dep_1 pay:0 (ruling 2)'],
  ],
  [
    'apart after together',
    [claim(), payment(), decision('together', payment()), decision('apart', payment(), later)],
    ['dep_1', ' pay:0'],
  ],
  [
    'of one moment the greater id holds',
    [claim(), payment(), decision('together', payment()), decision('apart', payment(), { id: 'ruling 2' })],
    ['dep_1', ' pay:0'],
  ],
  [
    'a policy after a person',
    [claim(), payment(), apart, decision('together', payment(), { ...later, by: 'policy' })],
    ['dep_1', ' pay:0'],
  ],
  [
    'a payment that a person gave to one deposit, and a policy later to another',
    [
      claim(),
      claim({ serviceId: second }),
      payment(),
      decision('together', payment()),
      decision('together', payment(), { ...later, serviceId: second, by: 'policy' }),
    ],
    ['dep_1 pay:0 (ruling 1)', 'dep_2'],
  ],
  [
    'a payment ruled to be first of one deposit, then of another',
    [
      claim(),
      claim({ serviceId: second }),
      payment(),
      decision('together', payment()),
      decision('together', payment(), { ...later, serviceId: second }),
    ],
    ['dep_1', 'dep_2 pay:0 (ruling 2)'],
  ],
  [
    'two payments ruled to be of one deposit',
    [claim(), payment(), other, decision('together', other), decision('together', payment(), later)],
    ['dep_1 pay:0 (ruling 2)', ' other:0'],
  ],
  [
    'a payment of a deposit that the service has not told of',
    [claim(), payment(), decision('together', payment(), { serviceId: second })],
    ['dep_1', ' pay:0'],
  ],
  [
    'apart leaves it to the next who claims it',
    [claim(), claim({ serviceId: second }), payment(), apart],
    ['dep_1', 'dep_2 pay:0'],
  ],
  [
    'a payment that came back under another index',
    [claim(), payment({ stage: 'orphaned' }), payment({ index: '9', epoch: 1 }), apart],
    ['dep_1', ' pay:9'],
  ],
  [
    'a delivery that no claim names',
    [unnamed, delivery(), decision('together', delivery())],
    ['dep_1 forward:0 (ruling 1)'],
  ],
  [
    'a delivery beside the one that is named',
    [
      claim(),
      half,
      delivery({ tx: txId('more'), amount: 7n as Amount }),
      decision('together', delivery({ tx: txId('more') })),
    ],
    ['dep_1 more:0 (ruling 1) forward:0'],
  ],
  [
    'one delivery of several in the transaction that is named',
    [claim(), half, delivery({ index: '1' }), decision('together', half)],
    ['dep_1 forward:0 (ruling 1)', 'stray forward:1'],
  ],
  [
    'one of several parts that add up',
    [claim(), half, rest, decision('together', half)],
    ['dep_1 forward:0 (ruling 1) forward:1'],
  ],
  [
    'a delivery that is not the deposit’s',
    [claim(), half, rest, decision('apart', half)],
    ['dep_1 forward:1', 'stray forward:0'],
  ],
  [
    'a delivery named for two, ruled to be of one',
    [
      claim(),
      claim({ serviceId: second }),
      delivery(),
      decision('together', delivery(), { serviceId: second }),
    ],
    ['dep_1', 'dep_2 forward:0 (ruling 1)'],
  ],
  [
    'a delivery to an address that was watched for somebody else',
    [claim(), delivery({ to: elsewhere }), decision('apart', delivery({ to: elsewhere }))],
    ['dep_1', 'stray forward:0'],
  ],
])('%s, in every order', (_what, observations, expected) => {
  for (const order of ordersOf(observations)) expect(shown(order)).toEqual(expected)
})

function unnamedOf(serviceId: ServiceId, amount: bigint) {
  return claim({ serviceId, deposit: { tx: null }, settlement: { tx: null, amount: amount as Amount } })
}

test('deposits that are ruled to share a delivery share it where their amounts add up', () => {
  const decisions = [
    decision('together', delivery()),
    decision('together', delivery(), { id: 'b', serviceId: second }),
  ]
  const parts = (first: bigint) =>
    divide(
      [unnamedOf('dep_1' as ServiceId, first), unnamedOf(second, 99_000_000n), delivery(), ...decisions],
      [],
    ).evidences.map(({ settlements, ambiguity }) => ambiguity?.delivered ?? settlements[0]?.amount)
  expect(parts(900_000n)).toEqual([900_000n, 99_000_000n])
  expect(parts(900_001n)).toEqual([99_900_000n, 99_900_000n])
})

test('what is ruled together is reconciled, and what is ruled apart is missing on both sides', () => {
  const said = [unnamed, { ...unnamed, source: 'webhook' as const }]
  const decisions = [decision('together', payment()), decision('together', delivery(), { id: 'b' })]
  expect(outcome([...said, payment(), delivery(), ...decisions])).toBe('reconciled')
  expect(outcome([claim(), { ...claim(), source: 'webhook' }, payment(), delivery(), apart])).toBe(
    'observed confirmed chain_missing unreported',
  )
})
