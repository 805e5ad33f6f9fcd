import { afterEach, beforeEach, expect, test } from 'vitest'
import { drain } from '../../support/evm-watch.ts'
import { openSolanaFixture, owner, pays, type SolanaFixture, watched } from '../../support/solana-watch.ts'

let fixture: SolanaFixture
beforeEach(async () => {
  fixture = await openSolanaFixture('by_owner')
})
afterEach(() => fixture.node.stop())

test('overlapping scans answer the same transfers under the same identity', async () => {
  const tx = fixture.node.transact(pays(fixture.associated, 5n, fixture.usdc))
  const { cursor } = await drain(fixture.reader(), watched, { cursor: fixture.start })
  fixture.node.slot += 10n
  expect(await fixture.found(cursor)).toEqual([[tx, `${fixture.usdc}:${owner}`, 5n]])
  fixture.node.slot += 1000n
  const far = await drain(fixture.reader(), watched, { cursor })
  expect(await fixture.found(far.cursor)).toEqual([])
})
