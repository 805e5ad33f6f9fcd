import { sql } from 'kysely'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { NetworkSettings } from '../../src/core/asset.ts'
import { type Address, assetCode, type NetworkName } from '../../src/core/asset.ts'
import { checkNamedAssets, startService } from '../../src/service/service.ts'
import { type Book, openBook } from './book.ts'
import { serviceSettings, unreachableNetworks } from './fixtures.ts'

const recipient = '0x00000000000000000000000000000000000000aa' as Address
const base = { forward_network: 'base' as NetworkName, forward_recipient: recipient }

let book: Book

beforeAll(async () => {
  book = await openBook()
  await book.keep({ kind: 'channel', id: 'shop', ...base, forward_asset: 'ETH' })
  await book.record([book.payment(1, false)], 0n)
  await sql`
    insert into service.withdrawal (wallet_id, id, network, recipient, asset, amount)
    values ('savings', 'w1', 'arbitrum', ${recipient}, '0x1111111111111111111111111111111111111111', 1)`.execute(
    book.db,
  )
})

afterAll(() => book.close())

function without(network: string, symbol?: string): NetworkSettings[] {
  return unreachableNetworks.flatMap((settings) => {
    if (settings.name !== network) return [settings]
    const assets = settings.assets.filter((asset) => asset.symbol !== symbol)
    return symbol === undefined ? [] : [{ ...settings, assets }]
  })
}

test('settings that have all that is named pass, whatever else they lack', async () => {
  await expect(checkNamedAssets(book.db, unreachableNetworks)).resolves.toBeUndefined()
  await expect(checkNamedAssets(book.db, without('solana'))).resolves.toBeUndefined()
  await expect(checkNamedAssets(book.db, without('base', 'USDC'))).resolves.toBeUndefined()
})

test.each<[string, NetworkSettings[], string]>([
  ['the network of a channel', without('base'), '1 channels use the asset ETH of network base'],
  ['the asset of a channel', without('base', 'ETH'), '(for example shop)'],
  [
    'the network of an open deposit',
    without('mainnet'),
    '1 open deposits use the asset native of network mainnet',
  ],
  ['the asset of an open deposit', without('mainnet', 'ETH'), 'open deposits use the asset native'],
  ['the network of an open withdrawal', without('arbitrum'), '(for example w1)'],
  [
    'the asset of an open withdrawal',
    without('arbitrum', 'USDC'),
    '1 open withdrawals use the asset 0x1111111111111111111111111111111111111111 of network arbitrum',
  ],
])('settings without %s are refused', async (...[, networks, problem]) => {
  await expect(checkNamedAssets(book.db, networks)).rejects.toThrow(problem)
})

test('the service does not start without what is named, and says so before it asks a chain', async () => {
  const starting = startService(serviceSettings(book.databaseUrl, without('base')), {
    log: pino({ level: 'silent' }),
  })
  await expect(starting).rejects.toThrow('settings_bad: faults 1 channels use the asset ETH of network base')
})

test('where a deposit is to go must be there until it is delivered', async () => {
  const { evm_address: address } = await book.keep({
    kind: 'channel',
    id: 'late',
    ...base,
    forward_asset: 'USDC',
  })
  await book.record([{ ...book.payment(2, false), address }], 0n)
  await sql`update service.owner set forward_asset = 'ETH' where id = 'late'`.execute(book.db)
  const usdc = unreachableNetworks.find(({ name }) => name === 'base')?.assets[1]
  const code = usdc === undefined ? '' : assetCode(usdc.key)
  const problem = `1 open deposits use the asset ${code} of network base`
  await expect(checkNamedAssets(book.db, without('base', 'USDC'))).rejects.toThrow(problem)
})
