import { afterEach, beforeEach, expect, test } from 'vitest'
import { type AssetKey, assetKey, toTxId } from '../../../src/core/asset.ts'
import { newAddress } from '../../support/solana-ledger.ts'
import {
  openSolanaFixture,
  owner,
  payer,
  pays,
  type SolanaFixture,
  solana,
  watched,
} from '../../support/solana-watch.ts'

let fixture: SolanaFixture
beforeEach(async () => {
  fixture = await openSolanaFixture()
})
afterEach(() => fixture.node.stop())

test('a final transaction is read as a scan would tell it', async () => {
  const tx = fixture.node.transact(pays(fixture.associated, 5n, fixture.usdc))
  const reader = fixture.reader()
  const reading = await reader.readTransaction(toTxId(tx), watched)
  const { transfers } = await reader.scan({ cursor: fixture.start, startHeight: null, watched })
  expect(transfers).toHaveLength(1)
  expect(reading).toEqual({ kind: 'read', transfers })
})

test('one that is confirmed only is seen, with the same identity', async () => {
  const tx = fixture.node.transact(pays(fixture.associated, 5n, fixture.usdc), { pending: true })
  const reading = await fixture.reader().readTransaction(toTxId(tx), watched)
  expect(reading).toMatchObject({
    kind: 'read',
    transfers: [{ stage: 'seen', tx, index: `${fixture.usdc}:${owner}`, amount: 5n, height: 1001n }],
  })
})

test('one that failed is told with its height once that is final', async () => {
  const reader = fixture.reader()
  const effects = pays(fixture.associated, 5n, fixture.usdc)
  const pending = fixture.node.transact(effects, { failed: true, pending: true })
  expect(await reader.readTransaction(toTxId(pending), watched)).toEqual({ kind: 'unknown' })
  fixture.node.slot += 1n
  expect(await reader.readTransaction(toTxId(pending), watched)).toEqual({ kind: 'failed', height: 1001n })
})

test('one that the node does not have is unknown, and one that pays nobody watched has no transfers', async () => {
  const reader = fixture.reader()
  const tx = fixture.node.transact([{ account: payer, lamports: [5n, 4n] }])
  expect(await reader.readTransaction(toTxId(tx), watched)).toEqual({ kind: 'read', transfers: [] })
  fixture.node.lie(({ method }) => (method === 'getTransaction' ? { result: null } : undefined))
  expect(await reader.readTransaction(toTxId(tx), watched)).toEqual({ kind: 'unknown' })
})

test('a transaction of an unknown version is a fault and not a transaction that pays nothing', async () => {
  const tx = fixture.node.transact(pays(fixture.associated, 5n, fixture.usdc))
  fixture.node.lie(({ method }) =>
    method === 'getTransaction' ? { error: { code: -32015, message: 'version (2)' } } : undefined,
  )
  await expect(fixture.reader().readTransaction(toTxId(tx), watched)).rejects.toThrow('version')
})

const native = assetKey(solana, 'native')

function usdc(): AssetKey {
  return assetKey(solana, fixture.usdc)
}

test('balances are those of all accounts of the owner, with the final slot that they are of', async () => {
  const another = newAddress()
  fixture.node.addAccount(another, fixture.usdc, owner)
  fixture.node.transact(pays(fixture.associated, 5n, fixture.usdc))
  fixture.node.transact([...pays(another, 7n, fixture.usdc), { account: owner, lamports: [0n, 11n] }])
  const pairs = [
    { address: owner, asset: native },
    { address: owner, asset: usdc() },
    { address: newAddress(), asset: usdc() },
    { address: newAddress(), asset: native },
  ]
  expect(await fixture.reader().readBalances({ pairs, at: null })).toEqual({
    at: { height: 1002n, hash: 'hash1002' },
    balances: [11n, 12n, 0n, 0n],
  })
})

test('an account that was given to another owner counts no more', async () => {
  const outsider = newAddress()
  fixture.node.transact([
    {
      account: fixture.associated,
      token: { mint: fixture.usdc, owner: outsider, before: 5n, after: 5n },
    },
  ])
  const { balances } = await fixture
    .reader()
    .readBalances({ pairs: [{ address: owner, asset: usdc() }], at: null })
  expect(balances).toEqual([0n])
})

test('many balances are read in few requests, all of one slot', async () => {
  const pairs = Array.from({ length: 250 }, () => ({ address: newAddress(), asset: native }))
  const reader = fixture.reader()
  let asked = 0
  fixture.node.lie(({ method, params }) => {
    if (method !== 'getMultipleAccounts') return undefined
    asked += 1
    const value = (params[0] as string[]).map(() => null)
    return { result: { context: { slot: asked < 4 ? 1000 + asked : 1003 }, value } }
  })
  const { at, balances } = await reader.readBalances({ pairs, at: null })
  expect(at.height).toBe(1003n)
  expect(balances).toHaveLength(250)
  expect(asked).toBe(6)
})

test('answers that are never of one slot are no reading', async () => {
  const pairs = Array.from({ length: 101 }, () => ({ address: newAddress(), asset: native }))
  let slot = 1000
  fixture.node.lie(({ method, params }) =>
    method === 'getMultipleAccounts'
      ? { result: { context: { slot: (slot += 1) }, value: (params[0] as string[]).map(() => null) } }
      : undefined,
  )
  await expect(fixture.reader().readBalances({ pairs, at: null })).rejects.toThrow('from a single slot')
})
