import { afterEach, beforeEach, expect, test } from 'vitest'
import { createSolanaReader } from '../../../src/chain/solana/reader.ts'
import type { Address } from '../../../src/core/asset.ts'
import { drain } from '../../support/evm-watch.ts'
import { newAddress } from '../../support/solana-ledger.ts'
import { openSolanaFixture, payer, type SolanaFixture } from '../../support/solana-watch.ts'

let fixture: SolanaFixture
beforeEach(async () => {
  fixture = await openSolanaFixture()
})
afterEach(() => fixture.node.stop())

const owners = Array.from({ length: 200 }, () => newAddress())

function payEach(some: readonly Address[]): string[] {
  return some.map((owner) =>
    fixture.node.transact([
      { account: payer, token: { mint: fixture.usdc, owner: payer, before: 9n, after: 0n } },
      { account: newAddress(), token: { mint: fixture.usdc, owner, before: 0n, after: 9n } },
    ]),
  )
}

test('many owners are read from blocks: requests grow with the slots and not with the owners', async () => {
  const reader = createSolanaReader(fixture.settings())
  const watched = new Set(owners)
  const measured = await drain(reader, watched, {
    cursor: (payEach(owners.slice(0, 20)), fixture.start),
  })
  expect(measured.transfers).toHaveLength(20)
  fixture.node.calls.length = 0
  const sent = payEach(owners.slice(20, 50))
  const { transfers } = await drain(reader, watched, { cursor: measured.cursor })
  expect(transfers.map(({ tx }) => tx)).toEqual(sent)
  expect(fixture.node.calls.length).toBeLessThan(40)
})
