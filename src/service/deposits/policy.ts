import { isOffCurveAddress, isAddress as isSolanaAddress } from '@solana/kit'
import { type Address, parseAddress } from '../../core/asset.ts'
import type { DepositReason, ServiceDepositRow } from '../tables.ts'

type PolicyAsset = { network: string; asset: string }

/**
 * Rules that override the forwarding or crediting of an owner's deposits. Omitted rules do not apply. Amounts are base
 * units as decimal strings.
 */
export type OwnerPolicy = {
  /** Holds every deposit, regardless of the other rules. */
  hold?: boolean | undefined
  minimum_amounts?: readonly (PolicyAsset & { amount: string })[] | undefined
  assets?: AllowDenyList<PolicyAsset> | undefined
  /** Either list rejects deposits with an unknown sender. */
  senders?: AllowDenyList<string> | undefined
  /** The action for a rejected deposit; `hold` by default. */
  otherwise?: 'hold' | 'refund' | undefined
}

/** Passes only the allowed items, or all except the denied ones. */
type AllowDenyList<Item> = { allow: readonly Item[] } | { deny: readonly Item[] }

export type PolicyDecision =
  | { kind: 'pass' }
  | { kind: 'hold'; reason: DepositReason }
  | { kind: 'refund'; reason: DepositReason; to: Address }

/** The fields of a deposit that a policy checks. */
export type JudgedDeposit = Pick<ServiceDepositRow, 'network' | 'asset' | 'amount' | 'sender'>

export function decidePolicy(policy: OwnerPolicy, deposit: JudgedDeposit): PolicyDecision {
  if (policy.hold === true) return { kind: 'hold', reason: 'policy_hold' }
  const reason = turnedAway(policy, deposit)
  if (reason === null) return { kind: 'pass' }
  if (policy.otherwise !== 'refund') return { kind: 'hold', reason }
  const to = knownSender(deposit)
  return to === null || isProgramAddress(to)
    ? { kind: 'hold', reason: 'sender_unknown' }
    : { kind: 'refund', reason, to }
}

/** The sender to refund, or null. Newly minted tokens come from the zero address, which has no owner. */
export function knownSender({ sender }: Pick<ServiceDepositRow, 'sender'>): Address | null {
  return sender === null || /^0x0+$/.test(sender) ? null : sender
}

/**
 * On Solana, an address off the curve has no key. It belongs to a program, such as the vault of an exchange or a swap,
 * which may be unable to credit a refund. EVM addresses do not show whether they are contracts.
 */
function isProgramAddress(address: Address): boolean {
  return isSolanaAddress(address) && isOffCurveAddress(address)
}

function turnedAway(policy: OwnerPolicy, deposit: JudgedDeposit): DepositReason | null {
  if (!passes(policy.assets, (listed) => isAssetOf(listed, deposit))) return 'asset_denied'
  if (policy.senders !== undefined) {
    const sender = knownSender(deposit)
    if (sender === null) return 'sender_unknown'
    if (!passes(policy.senders, (listed) => isAddress(listed, sender))) return 'sender_denied'
  }
  const isBelow = (policy.minimum_amounts ?? []).some(
    (minimum) => isAssetOf(minimum, deposit) && BigInt(deposit.amount) < BigInt(minimum.amount),
  )
  return isBelow ? 'below_minimum' : null
}

function passes<Item>(listing: AllowDenyList<Item> | undefined, isListed: (item: Item) => boolean): boolean {
  if (listing === undefined) return true
  return 'allow' in listing ? listing.allow.some(isListed) : !listing.deny.some(isListed)
}

function isAssetOf(listed: PolicyAsset, { network, asset }: JudgedDeposit): boolean {
  return listed.network === network && listed.asset === asset
}

/** Listed hexadecimal addresses are case-insensitive. */
function isAddress(listed: string, sender: Address): boolean {
  return parseAddress(listed.startsWith('0x') ? 'evm' : 'solana', listed) === sender
}
