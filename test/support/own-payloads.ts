import { assetCode, type NetworkSettings } from '../../src/core/asset.ts'
import type { Claim } from '../../src/core/evidence.ts'
import type { Vocabulary } from '../../src/provider/profile/known-assets.ts'
import { arbitrum, base, credit, usdcOnArbitrum, usdcOnBase } from './evidence.ts'

const usdc = { symbol: 'USDC', decimals: 6 }
const evm = { family: 'evm', chainId: null, rpcUrls: [] } as const

const networks: NetworkSettings[] = [
  { name: base, ...evm, assets: [{ key: usdcOnBase, network: base, ...usdc }] },
  { name: arbitrum, ...evm, assets: [{ key: usdcOnArbitrum, network: arbitrum, ...usdc }] },
]

/** What the settings of the made-up world know. */
export const vocabulary: Vocabulary = {
  networks,
  creditAsset: { key: credit, network: 'stable-wallet' as NetworkSettings['name'], ...usdc },
}

/** The claim as the project's own service lists it, in a status of the caller's choice. */
export function ownRecord({ serviceId, owner, deposit, settlement, occurredAt }: Claim, status: string) {
  return {
    id: serviceId,
    owner: { type: owner?.kind, id: owner?.id },
    status,
    source: {
      network: deposit.network,
      address: deposit.address,
      contract: assetCode(deposit.asset),
      amount: deposit.amount.toString(),
      transaction: deposit.tx,
      index: deposit.index,
    },
    destination: settlement && {
      network: settlement.network,
      address: settlement.address,
      contract: assetCode(settlement.asset),
      amount: settlement.amount?.toString() ?? null,
      transaction: settlement.tx,
    },
    fee: { amount: settlement?.fee?.toString() },
    created_at: occurredAt.toISOString(),
    updated_at: occurredAt.toISOString(),
  }
}

/** The event that tells of it. */
export function ownEvent(claim: Claim, { type, status }: { type: string; status: string }) {
  return { id: 'evt_1', type, created_at: claim.occurredAt.toISOString(), data: ownRecord(claim, status) }
}
