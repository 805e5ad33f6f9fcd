import type { Kysely } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Asset, type AssetKey, assetKey, type NetworkSettings } from '../../src/core/asset.ts'
import { pinAssets, pinFaults, pinnedNetworks } from '../../src/store/assets.ts'
import { openDatabase } from '../../src/store/database.ts'
import type { Tables } from '../../src/store/tables.ts'
import { type Books, openBooks } from '../support/books.ts'
import { base, claim, usdcOnArbitrum, usdcOnBase } from '../support/evidence.ts'

let books: Books
/** Assets are pinned before the daemon takes its role. */
let owner: Kysely<Tables>

beforeAll(async () => {
  books = await openBooks()
  owner = openDatabase({ url: books.url, poolMax: 20, applicationName: 'test owner' })
  await books.receive(claim())
  await books.settle()
})
afterAll(async () => {
  await owner.destroy()
  await books[Symbol.asyncDispose]()
})

const usdc: Asset = { key: usdcOnBase, network: base, symbol: 'USDC', decimals: 6 }

async function pinned(key: AssetKey) {
  return owner.selectFrom('asset').select(['symbol', 'decimals']).where('key', '=', key).executeTakeFirst()
}

test('pinning the same assets again, even twenty times at once, changes nothing', async () => {
  await Promise.all(Array.from({ length: 20 }, () => pinAssets(owner, [usdc])))
  expect(await pinned(usdcOnBase)).toEqual({ symbol: 'USDC', decimals: 6 })
})

test('a new symbol is only a label', async () => {
  await pinAssets(owner, [{ ...usdc, symbol: 'USD Coin' }])
  expect(await pinned(usdcOnBase)).toEqual({ symbol: 'USD Coin', decimals: 6 })
})

const odd = (key: AssetKey) => ({ ...usdc, key, symbol: 'odd', decimals: 18 })
const refusal = (key: AssetKey) => `asset ${key} has 18 decimals in the settings and 6 in the database`

test.each([
  ['paid', usdcOnBase],
  ['forwarded', usdcOnArbitrum],
])('other decimals than those that an amount was %s in are refused, and named', async (_what, key) => {
  const before = await pinned(key)
  await expect(pinAssets(owner, [odd(key)])).rejects.toThrow(refusal(key))
  expect(await pinFaults(owner, [odd(key), usdc])).toEqual([refusal(key)])
  expect(await pinned(key)).toEqual(before)
})

test('decimals in which nothing was kept yet are mended by the settings', async () => {
  const key = assetKey(base, 'native')
  await pinAssets(owner, [{ ...usdc, key }])
  expect(await pinFaults(owner, [odd(key)])).toEqual([])
  await pinAssets(owner, [odd(key)])
  expect(await pinned(key)).toEqual({ symbol: 'odd', decimals: 18 })
})

test('what the settings leave open is what is pinned, and stays open where nothing is', async () => {
  const { decimals: _, ...label } = usdc
  const strange = { ...label, key: `${base}/0x1` as AssetKey }
  const network: NetworkSettings = {
    name: base,
    family: 'evm',
    chainId: 1,
    rpcUrls: [],
    assets: [],
    unpinned: [label, strange],
  }
  expect(await pinnedNetworks(owner, [network])).toEqual([
    { ...network, assets: [usdc], unpinned: [strange] },
  ])
})
