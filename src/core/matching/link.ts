import type { ObservedChainTransfer, TransferRef } from '../evidence.ts'
import type { ChainLeg } from './fold.ts'

/** Strongest first. */
export const linkRules = {
  decision: 'a person, or a policy on their behalf, decided that it belongs to the deposit',
  'transfer named':
    'the service names the transaction and the index, with the same asset, amount and address',
  'transaction and amount': 'the service names the transaction, with the same asset, amount and address',
  share: 'the stated amounts of all deposits that share the transaction add up to it',
  'transaction and address':
    'the service names the transaction and the address, with another amount or asset',
  transaction: 'the service names the transaction, which paid another address than stated',
  'other network': 'the service names the transaction, but on another network than the chain that shows it',
  refund: 'the service names the transaction as the refund of the payment',
  unclaimed: 'the service has not reported it; the transfer is the only evidence of the deposit',
} as const

export type LinkRule = keyof typeof linkRules

export type TransferLink = {
  transfer: TransferRef
  role: ObservedChainTransfer['role']
  rule: LinkRule
  /** Set if the rule is `decision`. */
  decision: string | null
}

export function linkOf(
  { ref, role }: ChainLeg,
  rule: LinkRule,
  decision: string | null = null,
): TransferLink {
  return { transfer: ref, role, rule, decision }
}
