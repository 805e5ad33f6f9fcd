import { afterAll, beforeAll, expect, test } from 'vitest'
import { refundDeposit, releaseDeposit } from '../../../src/service/deposits/deposit-actions.ts'
import { openHandMade, recipient } from './hand-made-network.ts'

let world: Awaited<ReturnType<typeof openHandMade>>

beforeAll(async () => {
  world = await openHandMade()
})

afterAll(() => world.close())

/** Lets five attempts be reverted: the first is made at once, and each then waits twice as long as the one before. */
async function revertedFiveTimes(): Promise<void> {
  world.chain.outcome = { kind: 'reverted' }
  expect(await world.round()).toBe(1)
  for (const pauseMs of [2000, 4000, 8000, 16_000]) {
    world.chain.now += pauseMs - 1
    expect(await world.round()).toBe(0)
    world.chain.now += 1
    expect(await world.round()).toBe(1)
  }
  world.chain.now += 1_000_000
  expect(await world.round()).toBe(0)
}

test('what is reverted time after time waits ever longer, and then for a person, who decides more than once', async () => {
  const { id } = await world.channel('refusing')
  await world.convert()
  await revertedFiveTimes()
  expect(await world.find(id)).toMatchObject({
    status: 'held',
    reason: 'undeliverable',
    to_transaction: null,
    to_amount: null,
  })

  expect((await releaseDeposit(world, id)).kind).toBe('released')
  await world.convert()
  await revertedFiveTimes()
  expect(await world.find(id)).toMatchObject({ status: 'held', reason: 'undeliverable' })

  expect((await refundDeposit(world, { id, to: recipient })).kind).toBe('refunding')
  await revertedFiveTimes()
  expect(await world.find(id)).toMatchObject({
    status: 'held',
    reason: 'undeliverable',
    refund_address: null,
    refund_transaction: null,
  })

  world.chain.outcome = { kind: 'landed', at: new Date() }
  expect((await refundDeposit(world, { id, to: null })).kind).toBe('refunding')
  expect(await world.round()).toBe(1)
  expect(await world.find(id)).toMatchObject({ status: 'refunded', reason: 'requested' })
})
