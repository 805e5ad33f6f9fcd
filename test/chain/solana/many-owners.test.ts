import { afterEach, beforeEach, expect, test } from 'vitest'
import { defaultReading } from '../../../src/chain/options.ts'
import { boundWaiting } from '../../../src/chain/solana/by-owner.ts'
import { chooseStrategy, createSolanaReader } from '../../../src/chain/solana/reader.ts'
import { type Address, assetKey } from '../../../src/core/asset.ts'
import { drain } from '../../support/evm-watch.ts'
import { newAddress } from '../../support/solana-ledger.ts'
import { openSolanaFixture, payer, type SolanaFixture, solana } from '../../support/solana-watch.ts'

let fixture: SolanaFixture
beforeEach(async () => {
  fixture = await openSolanaFixture()
})
afterEach(() => fixture.node.stop())

const owners = Array.from({ length: 200 }, () => newAddress())

function payEach(some: readonly Address[]): string[] {
  return some.map((owner) => {
    const account = newAddress()
    fixture.node.addAccount(account, fixture.usdc, owner)
    return fixture.node.transact([
      { account: payer, token: { mint: fixture.usdc, owner: payer, before: 9n, after: 0n } },
      { account, token: { mint: fixture.usdc, owner, before: 0n, after: 9n } },
    ])
  })
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
  // One block and one memo each, where one by one it would be a thousand.
  expect(fixture.node.calls.length).toBeLessThan(70)
})

test('after a failure, the next scan reads by owner', async () => {
  const reader = createSolanaReader(fixture.settings(), { bounds: { quotaWaitMs: 0 } })
  const request = { cursor: fixture.start, startHeight: null, watched: new Set(owners.slice(0, 20)) }
  const sent = payEach(owners.slice(0, 2))
  fixture.node.lie(({ method, params: [, options] }) =>
    method === 'getBlock' && JSON.stringify(options).includes('accounts')
      ? { error: { code: -32601, message: 'not offered' } }
      : undefined,
  )
  await expect(reader.scan(request)).rejects.toThrow('not offered')
  const { transfers } = await reader.scan(request)
  expect(transfers.map(({ tx }) => tx)).toEqual(sent)
})

test.each([
  [5, 0, 'by_owner'],
  [6, 0, 'by_block'],
  [10, 10, 'by_owner'],
  [11, 10, 'by_block'],
] as const)('%i owners with one mint over %i slots are read %s', (count, slots, strategy) => {
  const mints = new Map([[fixture.usdc, assetKey(solana, fixture.usdc)]])
  expect(chooseStrategy({ owners: new Set(owners.slice(0, count)), mints }, slots)).toBe(strategy)
})

test.each([2, 200])('two nodes that are compared agree on what came for %i owners', async (count) => {
  const { url } = fixture.node
  const settings = {
    ...fixture.settings(),
    rpcUrls: [url, `${url}/another`],
    reading: { ...defaultReading, quorum: 2 },
  }
  const reader = createSolanaReader(settings)
  const watched = new Set(owners.slice(0, count))
  let cursor = fixture.start
  const found: string[] = []
  const sent: string[] = []
  for (let round = 0; round < 3; round++) {
    sent.push(...payEach(owners.slice(0, 2)))
    fixture.node.slot += 10n
    const read = await drain(reader, watched, { cursor })
    found.push(...read.transfers.map(({ tx }) => tx))
    ;({ cursor } = read)
  }
  expect(new Set(found)).toEqual(new Set(sent))
  expect(cursor.final.height).toBe(fixture.node.slot)
})

test('of too many waiting transactions the oldest whole slots are kept, up to where they are complete', () => {
  const waiting = [5n, 6n, 7n, 7n, 8n].map((slot) => ({ slot, signature: `of ${slot}` as never }))
  expect(boundWaiting({ waiting, to: 9n }, 5)).toEqual({ waiting, to: 9n })
  expect(boundWaiting({ waiting, to: 9n }, 3)).toEqual({ waiting: waiting.slice(0, 2), to: 6n })
})
