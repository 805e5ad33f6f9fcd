import { expect, test } from 'vitest'
import { chooseWay, commonWay, noCosts, noteCost, noteFailure } from '../../../src/chain/solana/choose-way.ts'

const many = { owners: 100, requestsPerOwner: 5, slots: 12 }

test('few owners are read one by one, and blocks are not even tried', () => {
  expect(chooseWay(noCosts(), { owners: 3, requestsPerOwner: 5, slots: 1 })).toEqual({
    way: 'by_owner',
    trial: false,
  })
  expect(chooseWay(noCosts(), { ...many, slots: 500 })).toEqual({ way: 'by_owner', trial: false })
})

test('of many owners it is measured first what a block and what an owner costs', () => {
  const costs = noCosts()
  expect(chooseWay(costs, many)).toEqual({ way: 'by_block', trial: true })
  noteCost(costs, 'by_block', 100)
  expect(chooseWay(costs, many)).toEqual({ way: 'measure_owners' })
})

test.each([
  ['by_block', 20, 100],
  ['by_owner', 10, 100],
] as const)('%s is chosen where an owner costs %i ms and a block %i ms', (way, ownerMs, blockMs) => {
  const costs = noCosts()
  noteCost(costs, 'by_owner', ownerMs)
  noteCost(costs, 'by_block', blockMs)
  expect(chooseWay(costs, many)).toEqual({ way, trial: false })
})

test('what was measured long ago is measured again', () => {
  const costs = noCosts()
  noteCost(costs, 'by_owner', 20)
  for (let count = 0; count < 64; count++) {
    noteCost(costs, 'by_block', 100)
    expect(chooseWay(costs, many)).toEqual({ way: 'by_block', trial: false })
  }
  noteCost(costs, 'by_block', 100)
  expect(chooseWay(costs, many)).toEqual({ way: 'measure_owners' })
})

test('one slow answer does not decide', () => {
  const costs = noCosts()
  noteCost(costs, 'by_owner', 20)
  noteCost(costs, 'by_block', 100)
  noteCost(costs, 'by_block', 300)
  expect(chooseWay(costs, many)).toEqual({ way: 'by_block', trial: false })
})

test('a way that failed is passed over for a few scans, then tried again', () => {
  const costs = noCosts()
  noteCost(costs, 'by_owner', 20)
  noteFailure(costs, 'by_block')
  for (let count = 0; count < 4; count++) {
    expect(chooseWay(costs, many)).toEqual({ way: 'by_owner', trial: false })
    noteCost(costs, 'by_owner', 20)
  }
  expect(chooseWay(costs, many)).toEqual({ way: 'by_block', trial: true })
  noteCost(costs, 'by_block', 100)
  expect(chooseWay(costs, many)).toEqual({ way: 'by_block', trial: false })
})

test('nodes that are compared read in one way, which follows from the owners alone', () => {
  expect(commonWay({ owners: 3, requestsPerOwner: 5 })).toBe('by_owner')
  expect(commonWay({ owners: 4, requestsPerOwner: 5 })).toBe('by_block')
})
