import type { Address, AssetKey, NetworkName } from '../../src/core/asset.ts'
import { type ObservedChainTransfer, type Owner, stableWalletNetwork } from '../../src/core/evidence.ts'
import type { Approval } from '../../src/core/matching/divide.ts'
import {
  arbitrum,
  base,
  channelAddress,
  channelApproval,
  credit,
  recipient,
  usdcOnArbitrum,
  usdcOnBase,
  walletAddress,
  walletApproval,
} from './evidence.ts'

/** A second channel, which forwards the other way. */
export const backApproval: Approval = {
  network: arbitrum,
  address: '0x0000000000000000000000000000000000000003' as Address,
  owner: { kind: 'channel', id: 'till' },
  forward: { network: base, recipient: '0x00000000000000000000000000000000000000fb' as Address },
}

type Side = { network: NetworkName; address: Address; asset: AssetKey }
export type Route = { owner: Owner; in: Side; out: Side }

export const routes: Record<'forward' | 'credit' | 'back', Route> = {
  forward: {
    owner: channelApproval.owner,
    in: { network: base, address: channelAddress, asset: usdcOnBase },
    out: { network: arbitrum, address: recipient, asset: usdcOnArbitrum },
  },
  credit: {
    owner: walletApproval.owner,
    in: { network: base, address: walletAddress, asset: usdcOnBase },
    out: { network: stableWalletNetwork, address: 'savings' as Address, asset: credit },
  },
  back: {
    owner: backApproval.owner,
    in: { network: arbitrum, address: backApproval.address, asset: usdcOnArbitrum },
    out: {
      network: base,
      address: '0x00000000000000000000000000000000000000fb' as Address,
      asset: usdcOnBase,
    },
  },
}

type Reading = Pick<ObservedChainTransfer, 'stage' | 'epoch'> & { index?: string; block?: string }

/** What a chain may come to say of one transfer. A transaction that comes back may do so under another index. */
export const courses: Record<string, readonly Reading[]> = {
  unseen: [],
  early: [{ stage: 'seen', epoch: 0 }],
  final: [{ stage: 'final', epoch: 0 }],
  both: [
    { stage: 'seen', epoch: 0 },
    { stage: 'final', epoch: 0 },
  ],
  vanished: [
    { stage: 'seen', epoch: 0 },
    { stage: 'orphaned', epoch: 0 },
  ],
  takenBack: [
    { stage: 'final', epoch: 0 },
    { stage: 'orphaned', epoch: 1 },
  ],
  back: [
    { stage: 'final', epoch: 0 },
    { stage: 'orphaned', epoch: 1 },
    { stage: 'final', epoch: 1, block: '0xb10d' },
  ],
  elsewhere: [
    { stage: 'final', epoch: 0 },
    { stage: 'orphaned', epoch: 1 },
    { stage: 'final', epoch: 1, index: '9', block: '0xb10d' },
  ],
}
