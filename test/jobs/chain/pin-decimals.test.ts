import type { Kysely } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Asset, AssetKey, AssetLabel, NetworkSettings } from '../../../src/core/asset.ts'
import { Fault } from '../../../src/core/errors.ts'
import { type DecimalsReader, pinDecimals } from '../../../src/jobs/chain/pin-decimals.ts'
import { openDatabase } from '../../../src/store/database.ts'
import type { Tables } from '../../../src/store/tables.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { base, usdcOnBase } from '../../support/evidence.ts'

let books: Books
let owner: Kysely<Tables>

beforeAll(async () => {
  books = await openBooks()
  owner = openDatabase({ url: books.url, poolMax: 2, applicationName: 'test owner' })
})
afterAll(async () => {
  await owner.destroy()
  await books[Symbol.asyncDispose]()
})

function label(name: string): AssetLabel {
  return { key: `${base}/${name}` as AssetKey, network: base, symbol: name }
}

function network(changes: Partial<NetworkSettings>): NetworkSettings {
  return { name: base, family: 'evm', chainId: 1, rpcUrls: ['http://node'], assets: [], ...changes }
}

/** Says that every asset has so many decimals, and keeps which it was asked for. */
function chainOf(decimals: number) {
  const asked: string[] = []
  const read: DecimalsReader = (_network, labels) => {
    asked.push(...labels.map(({ symbol }) => symbol))
    return Promise.resolve(labels.map((one): Asset => ({ ...one, decimals })))
  }
  return { asked, read }
}

const away: DecimalsReader = () =>
  Promise.reject(new Fault('remote_failed', { what: 'base node', problem: 'refused' }))

test('what the settings leave open is asked of the chain once, and is pinned', async () => {
  const open = network({ unpinned: [label('new')], assets: [{ ...label('said'), decimals: 4 }] })
  const first = chainOf(8)
  const complete = network({
    assets: [
      { ...label('said'), decimals: 4 },
      { ...label('new'), decimals: 8 },
    ],
    unpinned: [],
  })
  expect(await pinDecimals(owner, [open], first.read)).toEqual([complete])
  expect(first.asked).toEqual(['new'])
  const later = chainOf(9)
  expect(await pinDecimals(owner, [open], later.read)).toEqual([complete])
  expect(later.asked).toEqual([])
})

test('an asset of a network without nodes needs its decimals from the settings', async () => {
  const open = network({ rpcUrls: [], unpinned: [label('nowhere')] })
  await expect(pinDecimals(owner, [open], chainOf(8).read)).rejects.toThrow(
    'the decimals of nowhere on base, which the settings do not state, cannot be read: set RPC_BASE, or set the decimals in networks',
  )
})

test('a node that does not answer is named with what was asked of it, and nothing is pinned', async () => {
  await expect(pinDecimals(owner, [network({ unpinned: [label('late')] })], away)).rejects.toThrow(
    /the decimals of late on base, .*base node: refused/,
  )
  const rows = await owner.selectFrom('asset').select('key').where('symbol', '=', 'late').execute()
  expect(rows).toEqual([])
})

test('decimals of the settings are not asked for, and pinned', async () => {
  const chain = chainOf(9)
  const stated = network({ assets: [{ ...label('stated'), decimals: 2 }] })
  expect(await pinDecimals(owner, [stated], chain.read)).toEqual([stated])
  const row = await owner.selectFrom('asset').select('decimals').where('symbol', '=', 'stated').execute()
  expect([chain.asked, row]).toEqual([[], [{ decimals: 2 }]])
})

test('what is pinned goes before the chain', async () => {
  const { asked, read } = chainOf(18)
  const [found] = await pinDecimals(
    owner,
    [network({ unpinned: [{ ...label('USDC'), key: usdcOnBase }] })],
    read,
  )
  expect([asked, found?.assets]).toEqual([[], [{ ...label('USDC'), key: usdcOnBase, decimals: 6 }]])
})
