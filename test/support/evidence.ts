import type { Address, AssetKey, NetworkName, TxId } from '../../src/core/asset.ts'
import {
  type Claim,
  claimStatuses,
  type DecisionOutcome,
  type ObservedChainTransfer,
  type ServiceId,
  type TransactionFailure,
} from '../../src/core/evidence.ts'
import type { Approval } from '../../src/core/matching/divide.ts'
import type { Amount } from '../../src/core/money.ts'
import { type Policy, plainPolicy } from '../../src/core/policy.ts'
import type { WithdrawalClaim } from '../../src/core/withdrawal-claim.ts'

/** A made-up world for tests of the core: one channel that forwards from Base to Arbitrum, and one StableWallet. */
export const base = 'base' as NetworkName
export const arbitrum = 'arbitrum' as NetworkName
export const usdcOnBase = 'base/0x00000000000000000000000000000000000000b1' as AssetKey
export const usdtOnBase = 'base/0x00000000000000000000000000000000000000b2' as AssetKey
export const usdcOnArbitrum = 'arbitrum/0x00000000000000000000000000000000000000a1' as AssetKey
export const credit = 'stable-wallet/USDC' as AssetKey
export const channelAddress = '0x0000000000000000000000000000000000000001' as Address
export const walletAddress = '0x0000000000000000000000000000000000000002' as Address
export const recipient = '0x00000000000000000000000000000000000000ff' as Address
export const elsewhere = '0x00000000000000000000000000000000000000dd' as Address
export const liquidity = '0x00000000000000000000000000000000000000ee' as Address

export const channelApproval: Approval = {
  network: base,
  address: channelAddress,
  owner: { kind: 'channel', id: 'shop' },
  forward: { network: arbitrum, recipient },
}

export const walletApproval: Approval = {
  network: base,
  address: walletAddress,
  owner: { kind: 'stable_wallet', id: 'savings' },
  forward: null,
}

const minute = 60_000

export const policy: Policy = {
  ...plainPolicy,
  webhookWithinMs: 10 * minute,
  webhookStatuses: claimStatuses,
  apiWithinMs: 10 * minute,
  chainWithinMs: 30 * minute,
  reportWithinMs: 20 * minute,
  settlementWithinMs: 60 * minute,
}

/** Of a deposit of which nothing is known yet. */
export const noTimes = {
  depositedAt: null,
  webhookAt: null,
  apiAt: null,
  chainAt: null,
  finalAt: null,
  settledAt: null,
  reconciledAt: null,
}

const start = Date.parse('2026-01-01T00:00:00Z')

/** A moment, in minutes after the start of the made-up world. */
export function at(minutes: number): Date {
  return new Date(start + minutes * minute)
}

export function txId(name: string): TxId {
  return `0x${Buffer.from(name).toString('hex').padStart(64, '0')}` as TxId
}

/** A payment of 100 USDC to the channel, final. */
export function payment(changes: Partial<ObservedChainTransfer> = {}): ObservedChainTransfer {
  return {
    kind: 'chain_transfer',
    stage: 'final',
    role: 'deposit',
    network: base,
    tx: txId('pay'),
    index: '0',
    asset: usdcOnBase,
    from: '0x00000000000000000000000000000000000000cc' as Address,
    to: channelAddress,
    amount: 100_000_000n as Amount,
    height: 10n,
    blockHash: '0xb10c',
    blockAt: at(0),
    epoch: 0,
    receivedAt: at(2),
    ...changes,
  }
}

/** The delivery of 99.9 USDC to the channel's recipient, final. */
export function delivery(changes: Partial<ObservedChainTransfer> = {}): ObservedChainTransfer {
  return payment({
    role: 'recipient',
    network: arbitrum,
    tx: txId('forward'),
    asset: usdcOnArbitrum,
    from: liquidity,
    to: recipient,
    amount: 99_900_000n as Amount,
    blockAt: at(3),
    receivedAt: at(4),
    ...changes,
  })
}

/** That the payment's transaction failed. */
export function failure(changes: Partial<TransactionFailure> = {}): TransactionFailure {
  return {
    kind: 'failure',
    role: 'deposit',
    network: base,
    tx: txId('pay'),
    to: channelAddress,
    height: 10n,
    receivedAt: at(2),
    ...changes,
  }
}

/** That the delivery's transaction failed. */
export function failedDelivery(changes: Partial<TransactionFailure> = {}): TransactionFailure {
  return failure({ role: 'recipient', network: arbitrum, tx: txId('forward'), to: recipient, ...changes })
}

type ClaimChanges = Omit<Partial<Claim>, 'deposit' | 'settlement'> & {
  deposit?: Partial<Claim['deposit']>
  settlement?: Partial<NonNullable<Claim['settlement']>>
}

/** What the service says of that payment and delivery once all is done. */
export function claim({ deposit = {}, settlement = {}, ...changes }: ClaimChanges = {}): Claim {
  return {
    kind: 'claim',
    source: 'api',
    serviceId: 'dep_1' as ServiceId,
    status: 'settled',
    owner: channelApproval.owner,
    deposit: {
      network: base,
      address: channelAddress,
      asset: usdcOnBase,
      amount: 100_000_000n as Amount,
      tx: txId('pay'),
      index: '0',
      ...deposit,
    },
    settlement: {
      network: arbitrum,
      address: recipient,
      asset: usdcOnArbitrum,
      amount: 99_900_000n as Amount,
      tx: txId('forward'),
      fee: 100_000n as Amount,
      ...settlement,
    },
    occurredAt: at(3),
    receivedAt: at(5),
    ...changes,
  }
}

export function webhook(changes: ClaimChanges = {}): Claim {
  return claim({ source: 'webhook', ...changes })
}

/** `asset` and `amount` are those of the payout, and of the balance unless told otherwise. */
export type WithdrawalChanges = Partial<Omit<WithdrawalClaim, 'kind' | 'payout' | 'amount'>> & {
  amount?: bigint
}

/** Of 40 USDC from the wallet to the recipient of the channel. */
export function withdrawal({
  amount = 40_000_000n,
  asset = usdcOnArbitrum,
  ...changes
}: WithdrawalChanges = {}): WithdrawalClaim {
  const stated = amount as Amount
  return {
    kind: 'withdrawal',
    wallet: walletApproval.owner.id,
    withdrawalId: 'w-1',
    status: 'settled',
    asset: credit,
    amount: stated,
    network: arbitrum,
    to: recipient,
    payout: { asset, amount: stated },
    tx: txId('pay out'),
    occurredAt: at(10),
    receivedAt: at(11),
    ...changes,
  }
}

/** Of a payment that is not delivered. */
export function writeOffOf(
  account: Extract<DecisionOutcome, { kind: 'write_off' }>['account'],
  { asset, amount }: Pick<ObservedChainTransfer, 'asset' | 'amount'> = payment(),
): DecisionOutcome {
  return { kind: 'write_off', account, of: 'in_transit', asset, amount }
}
