import type { ObservedChainTransfer, TransferRef } from '../evidence.ts'
import type { ChainLeg } from './fold.ts'

/** The rules that match a transfer to a deposit, strongest first, each with its text for people. */
export const linkRules = {
  decision: 'a person, or a policy in a person’s place, decided that it belongs to the deposit',
  'transfer named':
    'the service names the transaction and the index, and states its asset, amount and address',
  'transaction and amount': 'the service names the transaction, and states its asset, amount and address',
  share: 'the service names the transaction, and what it states of all deposits that share it adds up',
  'transaction and address':
    'the service names the transaction and the address, and states another amount or asset',
  transaction: 'the service names the transaction, which paid another address than the one that is stated',
  'other network': 'the service names the transaction on another network than the one that shows it',
  refund: 'the service names the transaction as the one by which the payment went back',
  unclaimed: 'the service has not told of it: the transfer is all that is known of the deposit',
} as const

export type LinkRule = keyof typeof linkRules

/** How one transfer was matched to a deposit. */
export type TransferLink = {
  transfer: TransferRef
  role: ObservedChainTransfer['role']
  rule: LinkRule
  /** The id of the decision, if the rule is `decision`. */
  decision: string | null
}

export function linkOf(
  { ref, role }: ChainLeg,
  rule: LinkRule,
  decision: string | null = null,
): TransferLink {
  return { transfer: ref, role, rule, decision }
}
