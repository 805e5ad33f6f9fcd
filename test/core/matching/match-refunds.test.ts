import { expect, test } from 'vitest'
import type { Address, AssetKey } from '../../../src/core/asset.ts'
import { decide } from '../../../src/core/decide.ts'
import type { Observation } from '../../../src/core/evidence.ts'
import { explainAll } from '../../../src/core/explaining/explain.ts'
import type { Amount } from '../../../src/core/money.ts'
import { groupOf } from '../../support/any-evidence.ts'
import {
  arbitrum,
  at,
  base,
  claim,
  delivery,
  liquidity,
  payment,
  policy,
  txId,
  usdcOnBase,
  usdtOnBase,
  webhook,
} from '../../support/evidence.ts'
import { first, ruled, second } from '../../support/mismatch-rows/row.ts'

const senders = new Set([`base/${liquidity}`, `arbitrum/${liquidity}`])
const rules = { policy, routes: [], senders }
const undelivered = { settlement: { tx: null, amount: null, fee: null } } as const
const refunded = { ...undelivered, status: 'refunded', refund: { tx: txId('back') } } as const
const another = '0x00000000000000000000000000000000000000fe' as Address
/** The whole payment, back from the service, to an address of ours that is watched as a recipient. */
const back = delivery({ network: base, tx: txId('back'), asset: usdcOnBase, amount: payment().amount })

function decided(observations: readonly Observation[]) {
  const { deposits, unmatchedDeliveries } = decide(groupOf(observations), rules, at(600))
  return { deposits, unmatchedDeliveries: unmatchedDeliveries.map(({ leg }) => leg.ref) }
}

test('a transfer that the service names as a refund is of its deposit, and is no delivery', () => {
  const { deposits, unmatchedDeliveries } = decided([payment(), claim(refunded), back])
  expect(unmatchedDeliveries).toEqual([])
  expect(deposits).toMatchObject([
    { verdict: { state: 'refunded' }, evidence: { settlements: [], refunds: [{ tx: back.tx }] } },
  ])
})

test.each<[string, Observation[]]>([
  ['nobody names', [claim({ ...undelivered, status: 'refunded' }), back]],
  ['is of another asset', [claim(refunded), { ...back, asset: usdtOnBase }]],
  ['is the coin of the network', [claim(refunded), { ...back, asset: 'base/native' as AssetKey }]],
  ['is on another network', [claim(refunded), { ...back, network: arbitrum }]],
  ['a person says is not of it', [claim(refunded), back, ruled({ kind: 'apart', serviceId: first }, back)]],
])('what %s is still unexplained', (_what, evidence) => {
  expect(decided([payment(), ...evidence]).unmatchedDeliveries).toHaveLength(1)
})

test('what was named once stays explained where another transaction is named later', () => {
  const anew = webhook({ ...refunded, refund: { tx: txId('anew') }, occurredAt: at(20), receivedAt: at(21) })
  expect(decided([payment(), claim(refunded), anew, back]).unmatchedDeliveries).toEqual([])
})

const of = (index: string, amount: bigint) => ({ ...back, index, amount: amount as Amount })
const indexes = (unmatchedDeliveries: readonly string[]) =>
  unmatchedDeliveries.map((ref) => ref.split('/').at(-1))

test('what a transaction pays to others beside a refund is still unexplained', () => {
  const batch = [of('0', 5_000_000_000n), of('1', 99_000_000n), of('2', 2_000_000n), of('3', 1_000_000n)]
  for (const legs of [batch, batch.toReversed()]) {
    const { deposits, unmatchedDeliveries } = decided([payment(), claim(refunded), ...legs])
    expect(indexes(unmatchedDeliveries)).toEqual(['0', '2'])
    expect(deposits[0]?.evidence.refunds.map(({ index }) => index)).toEqual(['1', '3'])
  }
})

test('a refund of what was never found is bounded by what the service states; one that was, by the chain', () => {
  const whole = of('0', 100_000_000n)
  const half = { ...refunded, deposit: { amount: 50_000_000n as Amount } }
  expect(decided([claim(refunded), whole]).unmatchedDeliveries).toEqual([])
  expect(decided([claim(half), whole]).unmatchedDeliveries).toHaveLength(1)
  expect(decided([claim(half), whole, payment()]).unmatchedDeliveries).toEqual([])
})

test('what the chain took back takes no place of what it has', () => {
  const gone = { ...of('0', 100_000_000n), stage: 'orphaned', epoch: 1 } as const
  const { deposits } = decided([payment(), claim(refunded), { ...gone, to: another }, of('1', 60_000_000n)])
  expect(deposits[0]?.evidence.refunds.map(({ index }) => index)).toEqual(['1'])
})

test('of two deposits that name one refund the one that was told of first has it', () => {
  const other = claim({ ...refunded, serviceId: second, deposit: { tx: null }, receivedAt: at(1) })
  const { deposits, unmatchedDeliveries } = decided([payment(), claim(refunded), other, back])
  expect(unmatchedDeliveries).toEqual([])
  const having = deposits.filter(({ evidence }) => evidence.refunds.length > 0)
  expect(having.map(({ evidence }) => evidence.serviceId)).toEqual([second])
})

test('a deposit says of its refund how it was found, and by which evidence', () => {
  const observations = [payment(), claim(refunded), back]
  const stored = observations.map((observation, place) => ({ inboxId: BigInt(place + 1), observation }))
  const [explained] = explainAll(decided(observations).deposits, stored, rules)
  expect(explained?.reasons.filter(({ what }) => what === 'refund')).toMatchObject([
    { says: `base/${back.tx}/0`, evidence: [3n], rule: expect.stringContaining('as the refund') },
  ])
})
