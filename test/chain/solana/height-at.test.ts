import { afterEach, beforeEach, expect, test } from 'vitest'
import { openSolanaFixture, type SolanaFixture } from '../../support/solana-watch.ts'

let fixture: SolanaFixture
beforeEach(async () => {
  fixture = await openSolanaFixture()
  fixture.node.slot = 5000n
})
afterEach(() => fixture.node.stop())

/** The time of a slot's block. */
function timeOf(slot: number): Date {
  return new Date((1_700_000_000 + slot - 1001) * 1000)
}

test('a time during slots without a block finds the block before them', async () => {
  for (let slot = 2000n; slot < 2600n; slot++) fixture.node.skipped.add(slot)
  expect(await fixture.reader().heightAt(timeOf(2300))).toBe(1999n)
})

test('a time before the first block that the node has finds none', async () => {
  fixture.node.lie(({ method }) => (method === 'getFirstAvailableBlock' ? { result: 3000 } : undefined))
  expect(await fixture.reader().heightAt(timeOf(2999))).toBeNull()
  expect(await fixture.reader().heightAt(timeOf(3000))).toBe(3000n)
})

test('a node that cannot read a block on the way says nothing', async () => {
  fixture.node.lie(({ method, params }) =>
    method === 'getBlock' && Number(params[0]) < 4000
      ? { error: { code: -32004, message: 'Block not available' } }
      : undefined,
  )
  await expect(fixture.reader().heightAt(timeOf(2500))).rejects.toThrow('cannot be read')
})
