import { isOffCurveAddress, isAddress as isSolanaAddress } from '@solana/kit'
import { type Address, parseAddress } from '../../core/asset.ts'
import type { DepositReason, ServiceDepositRow } from '../tables.ts'

type PolicyAsset = { network: string; asset: string }

/**
 * What overrides the forwarding or crediting of one owner's deposits. What is left out does not apply.
 * Amounts are base units in decimal text.
 */
export type OwnerPolicy = {
  /** Holds every deposit, whatever the other rules say. */
  hold?: boolean | undefined
  minimum_amounts?: readonly (PolicyAsset & { amount: string })[] | undefined
  assets?: AllowDenyList<PolicyAsset> | undefined
  /** Either list turns away a deposit whose sender is not known: it may be anybody. */
  senders?: AllowDenyList<string> | undefined
  /** What becomes of a deposit that a rule turns away; `hold` where it is left out. */
  otherwise?: 'hold' | 'refund' | undefined
}

/** Only those that are allowed pass, or all but those that are denied. */
type AllowDenyList<Item> = { allow: readonly Item[] } | { deny: readonly Item[] }

export type PolicyDecision =
  | { kind: 'pass' }
  | { kind: 'hold'; reason: DepositReason }
  | { kind: 'refund'; reason: DepositReason; to: Address }

/** The part of a deposit that a policy looks at. */
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

/** To whom a deposit could go back: coins that were just made come from the zero address, where nobody is. */
export function knownSender({ sender }: Pick<ServiceDepositRow, 'sender'>): Address | null {
  return sender === null || /^0x0+$/.test(sender) ? null : sender
}

/**
 * On Solana an address off the curve has no key: it belongs to a program, such as the vault of an exchange or a swap,
 * which may not know whose tokens come back. That a contract paid cannot be told by an EVM address.
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

/** Hexadecimal addresses are listed in any case. */
function isAddress(listed: string, sender: Address): boolean {
  return parseAddress(listed.startsWith('0x') ? 'evm' : 'solana', listed) === sender
}
