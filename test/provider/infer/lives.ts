import type { Asset, AssetKey, NetworkName, NetworkSettings } from '../../../src/core/asset.ts'
import type { Hints } from '../../../src/provider/infer/hints.ts'
import { type DepositRecord, recordWriter } from '../../../src/service/deposits/record.ts'
import type { DepositStatus, ServiceDepositRow } from '../../../src/service/tables.ts'
import { at } from '../../support/evidence.ts'
import { mint, settledRow, usdc } from '../settled-row.ts'

function network(
  name: string,
  family: 'evm' | 'solana',
  assets: Readonly<Record<string, string>>,
): NetworkSettings {
  const listed = Object.entries(assets).map(([symbol, code]) => ({
    key: `${name}/${code}` as AssetKey,
    network: name as NetworkName,
    symbol,
    decimals: code === 'native' ? 18 : 6,
  }))
  return { name: name as NetworkName, family, chainId: null, rpcUrls: [], assets: listed }
}

export const networks = [
  network('base', 'evm', { USDC: usdc, ETH: 'native' }),
  network('solana', 'solana', { USDC: mint }),
]
export const creditAsset: Asset = {
  key: 'stable-wallet/USDC' as AssetKey,
  network: 'stable-wallet' as NetworkName,
  symbol: 'USDC',
  decimals: 6,
}

const shopAddress = '0x00000000000000000000000000000000000000aa'
const savingsAddress = '0x00000000000000000000000000000000000000bb'

export const noHints: Hints = {
  networks,
  depositAddresses: new Set(),
  recipients: new Set(),
  owners: new Map(),
}
export const hints: Hints = {
  networks,
  depositAddresses: new Set([shopAddress, savingsAddress]),
  recipients: new Set([settledRow.to_address]),
  owners: new Map([
    ['shop', 'channel'],
    ['savings', 'stable_wallet'],
  ]),
}

const forwarded: readonly DepositStatus[] = ['detected', 'confirmed', 'converting', 'forwarding', 'settled']
const credited: readonly DepositStatus[] = ['detected', 'confirmed', 'credited']

const toWallet = {
  owner_kind: 'stable_wallet',
  owner_id: 'savings',
  address: savingsAddress,
  to_network: null,
  to_contract: null,
  to_address: 'savings',
  to_transaction: null,
  asset: 'ETH',
  contract: null,
  decimals: 18,
  index: 'native',
  amount: '12345678901234567891',
} as unknown as Partial<ServiceDepositRow>

/** What is told of a few deposits while they live, in the order of telling. */
export const lives: readonly DepositRecord[] = [
  ...life(0, forwarded, {}),
  ...life(1, forwarded, { amount: '12500000', to_amount: '12490000' }),
  ...life(2, credited, toWallet),
  ...life(3, credited, { ...toWallet, amount: '7000000000000000001' }),
].toSorted((one, other) => Date.parse(one.updated_at) - Date.parse(other.updated_at))

function life(
  place: number,
  statuses: readonly DepositStatus[],
  changes: Partial<ServiceDepositRow>,
): DepositRecord[] {
  return statuses.map((status, step) => {
    const isConverted = step > 1
    const row = {
      ...settledRow,
      ...changes,
      id: `dep_${place}`,
      transaction: `0x${place.toString().repeat(63)}f`,
      status,
      created_at: at(place),
      updated_at: at(place + step * 7),
    }
    const early = { to_amount: null, fee: null, to_transaction: null, to_at: null }
    return recordWriter(networks)(isConverted ? row : { ...row, ...early })
  })
}

export function eventOf(record: DepositRecord, place: number) {
  return {
    id: `evt_${place}`,
    type: `deposit.${record.status}`,
    created_at: record.updated_at,
    data: record,
  }
}
