import type { Kysely } from 'kysely'
import { type Asset, assetNetwork } from '../../src/core/asset.ts'
import { pinAssets } from '../../src/store/assets.ts'
import { saveOwner } from '../../src/store/owners.ts'
import type { Tables } from '../../src/store/tables.ts'
import {
  arbitrum,
  base,
  channelAddress,
  credit,
  recipient,
  usdcOnArbitrum,
  usdcOnBase,
  usdtOnBase,
  walletAddress,
} from './evidence.ts'

/** The assets and owners of the made-up world. */
export async function pinWorld(db: Kysely<Tables>): Promise<void> {
  await pinAssets(db, [
    asset(usdcOnBase, 'USDC'),
    asset(usdtOnBase, 'USDT'),
    asset(usdcOnArbitrum, 'USDC'),
    asset(credit, 'USDC'),
  ])
  await saveOwner(db, {
    owner: { kind: 'channel', id: 'shop' },
    deposits: [{ network: base, address: channelAddress }],
    forward: { network: arbitrum, asset: 'USDC', recipient },
  })
  await saveOwner(db, {
    owner: { kind: 'stable_wallet', id: 'savings' },
    deposits: [{ network: base, address: walletAddress }],
    forward: null,
  })
}

function asset(key: Asset['key'], symbol: string): Asset {
  return { key, network: assetNetwork(key), symbol, decimals: 6 }
}
