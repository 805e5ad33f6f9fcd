import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { AssetKey } from '../../../src/core/asset.ts'
import { decide } from '../../../src/core/decide.ts'
import type { Observation } from '../../../src/core/evidence.ts'
import { groupOf, runs } from '../../support/any-evidence.ts'
import { at, claim, delivery, liquidity, payment, policy, txId, webhook } from '../../support/evidence.ts'

const rules = { policy, routes: [], senders: new Set([`arbitrum/${liquidity}`]) }
const late = at(600)

test('of two forwards of one deposit the untold one alone is unexplained, in whatever order they are seen', () => {
  const second = delivery({ tx: txId('forward2'), index: '4' })
  const evidence = [webhook({ status: 'settling' }), claim(), payment(), delivery(), second]
  const orders = fc.shuffledSubarray(evidence, { minLength: evidence.length })
  fc.assert(
    fc.property(orders, (observations) => {
      const { deposits, unmatchedDeliveries } = decide(groupOf(observations), rules, late)
      expect(deposits.map(({ verdict }) => verdict.state)).toEqual(['reconciled'])
      expect(unmatchedDeliveries.map(({ leg, mismatch }) => [leg.tx, mismatch.kind])).toEqual([
        [second.tx, 'settlement_unreported'],
      ])
    }),
    runs,
  )
})

const sendersOnBase = { policy, routes: [], senders: new Set([`base/${liquidity}`]) }
const native = 'base/native' as AssetKey
const topUp = payment({ asset: native, from: liquidity, index: 'native' })

test.each(['seen', 'final', 'orphaned'] as const)(
  'coin that the service sends to a deposit address to pay for moving deposits on is ignored when %s',
  (stage) => {
    const observations = [topUp, { ...topUp, stage, epoch: 1 }]
    const { deposits, unmatchedDeliveries, recheckAt } = decide(groupOf(observations), sendersOnBase, late)
    expect(deposits.map(({ verdict }) => verdict.state)).toEqual(['ignored'])
    const [ignored] = deposits
    expect([ignored?.verdict.mismatches, ignored?.journals, ignored?.lags]).toEqual([[], [], []])
    expect([unmatchedDeliveries, recheckAt]).toEqual([[], null])
  },
)

test.each<[string, Observation]>([
  ['a token of the service', { ...topUp, asset: payment().asset }],
  ['coin of somebody else', { ...topUp, from: payment().from }],
  ['coin of the service on another network', { ...topUp, network: 'mainnet' as never }],
])('%s is a payment that has to be reported', (_what, chainTransfer) => {
  const [deposit] = decide(groupOf([chainTransfer]), sendersOnBase, late).deposits
  expect(deposit?.verdict).toMatchObject({ state: 'confirmed', mismatches: [{ kind: 'unreported' }] })
})

test('coin of the service that it reports as a deposit is one', () => {
  const said = claim({ deposit: { asset: native, index: 'native' } })
  const { deposits } = decide(groupOf([topUp, said, delivery()]), sendersOnBase, late)
  expect(deposits.map(({ verdict }) => verdict.state)).toEqual(['reconciled'])
})

test('what was held for an unreported payment is taken back once its sender is known to be the service', () => {
  const [before] = decide(groupOf([topUp]), rules, late).deposits
  const booked = before?.journals ?? []
  expect(booked.map(({ kind }) => kind)).toEqual(['deposit'])
  const [after] = decide(groupOf([topUp], booked), sendersOnBase, late).deposits
  expect(after?.journals.map(({ kind }) => kind)).toEqual(['reversal'])
})
