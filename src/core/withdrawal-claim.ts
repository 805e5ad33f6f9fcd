import type { Address, AssetKey, NetworkName, TxId } from './asset.ts'
import type { Amount } from './money.ts'

/** Stored among the headers of a record of the API if it is a withdrawal: the id of its StableWallet at the service. */
export const walletHeader = ':wallet'

/** What a mismatch of it is about. */
export function withdrawalSubject({
  wallet,
  withdrawalId,
}: Pick<WithdrawalClaim, 'wallet' | 'withdrawalId'>): string {
  return `withdrawal/${wallet}/${withdrawalId}`
}

/** The progress of a withdrawal from a StableWallet as the service states it. */
export const withdrawalStatuses = ['requested', 'sent', 'settled', 'failed'] as const

/** What the service lists about a withdrawal from a StableWallet. */
export type WithdrawalClaim = {
  kind: 'withdrawal'
  /** The wallet's id, unique among services. */
  wallet: string
  /** Unique within the wallet. */
  withdrawalId: string
  status: (typeof withdrawalStatuses)[number]
  /** What leaves the balance: an amount of the asset in which wallets are credited. */
  asset: AssetKey
  amount: Amount
  network: NetworkName
  to: Address
  /** What the recipient must receive for it. */
  payout: { asset: AssetKey; amount: Amount }
  tx: TxId | null
  /** If the service states no time, that of receipt. */
  occurredAt: Date
  receivedAt: Date
}
