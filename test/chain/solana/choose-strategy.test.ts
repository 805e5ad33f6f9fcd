import { expect, test } from 'vitest'
import {
  chooseStrategy,
  commonStrategy,
  noteCost,
  noteFailure,
} from '../../../src/chain/solana/read-slot-range.ts'
import { noCosts } from '../../../src/chain/solana/watch.ts'

const many = { owners: 100, requestsPerOwner: 5, slots: 12 }

test('few owners are read one by one, and blocks are not even tried', () => {
  expect(chooseStrategy(noCosts(), { owners: 3, requestsPerOwner: 5, slots: 1 })).toEqual({
    strategy: 'by_owner',
    isTrial: false,
  })
  expect(chooseStrategy(noCosts(), { ...many, slots: 500 })).toEqual({ strategy: 'by_owner', isTrial: false })
})

test('of many owners it is measured first what a block and what an owner costs', () => {
  const costs = noCosts()
  expect(chooseStrategy(costs, many)).toEqual({ strategy: 'by_block', isTrial: true })
  noteCost(costs, 'by_block', 100)
  expect(chooseStrategy(costs, many)).toEqual({ strategy: 'measure_owners' })
})

test.each([
  ['by_block', 20, 100],
  ['by_owner', 10, 100],
] as const)('%s is chosen if an owner costs %i ms and a block %i ms', (strategy, ownerMs, blockMs) => {
  const costs = noCosts()
  noteCost(costs, 'by_owner', ownerMs)
  noteCost(costs, 'by_block', blockMs)
  expect(chooseStrategy(costs, many)).toEqual({ strategy, isTrial: false })
})

test('what was measured long ago is measured again', () => {
  const costs = noCosts()
  noteCost(costs, 'by_owner', 20)
  for (let count = 0; count < 64; count++) {
    noteCost(costs, 'by_block', 100)
    expect(chooseStrategy(costs, many)).toEqual({ strategy: 'by_block', isTrial: false })
  }
  noteCost(costs, 'by_block', 100)
  expect(chooseStrategy(costs, many)).toEqual({ strategy: 'measure_owners' })
})

test('one slow answer does not decide', () => {
  const costs = noCosts()
  noteCost(costs, 'by_owner', 20)
  noteCost(costs, 'by_block', 100)
  noteCost(costs, 'by_block', 300)
  expect(chooseStrategy(costs, many)).toEqual({ strategy: 'by_block', isTrial: false })
})

test('a strategy that failed is not used for a few scans, then tried again', () => {
  const costs = noCosts()
  noteCost(costs, 'by_owner', 20)
  noteFailure(costs, 'by_block')
  for (let count = 0; count < 4; count++) {
    expect(chooseStrategy(costs, many)).toEqual({ strategy: 'by_owner', isTrial: false })
    noteCost(costs, 'by_owner', 20)
  }
  expect(chooseStrategy(costs, many)).toEqual({ strategy: 'by_block', isTrial: true })
  noteCost(costs, 'by_block', 100)
  expect(chooseStrategy(costs, many)).toEqual({ strategy: 'by_block', isTrial: false })
})

test('nodes that are compared use one strategy, which depends only on the owners', () => {
  expect(commonStrategy({ owners: 3, requestsPerOwner: 5 })).toBe('by_owner')
  expect(commonStrategy({ owners: 4, requestsPerOwner: 5 })).toBe('by_block')
})
