import type { Address, NetworkName, TxId } from '../asset.ts'
import type { TransactionFailure } from '../evidence.ts'
import type { DepositEvidence } from '../matching/divide.ts'
import { approvedDestination, liveLeg } from './legs.ts'

export type NamedTransaction = {
  role: 'deposit' | 'recipient'
  network: NetworkName
  tx: TxId
  address: Address
}

/** Only addresses of the address book count: a chain can show nothing at others. */
export function unseenTransactions(evidence: DepositEvidence): NamedTransaction[] {
  const isPaid = liveLeg(evidence.deposit) !== null
  const isDelivered = evidence.settlements.some((leg) => liveLeg(leg) !== null)
  const all = [...(isPaid ? [] : paymentsNamed(evidence)), ...(isDelivered ? [] : deliveriesNamed(evidence))]
  const isKnown = (one: NamedTransaction) => evidence.failures.some((failure) => isOf(failure, one))
  return all.filter((one, place) => all.findIndex((other) => isSame(one, other)) === place && !isKnown(one))
}

/** Null if any named transaction has moved something. */
export function failureOf(
  evidence: DepositEvidence,
  role: TransactionFailure['role'],
): TransactionFailure | null {
  const legs = role === 'deposit' ? [evidence.deposit] : evidence.settlements
  if (legs.some((leg) => liveLeg(leg) !== null)) return null
  return evidence.failures.find((failure) => failure.role === role) ?? null
}

function paymentsNamed({ api, webhook, approval }: DepositEvidence): NamedTransaction[] {
  return [api, webhook].flatMap((claim): NamedTransaction[] => {
    if (claim === null || claim.deposit.tx === null || approval === null) return []
    const { network, tx, address } = claim.deposit
    const isOurs = approval.network === network && approval.address === address
    return isOurs ? [{ role: 'deposit', network, tx, address }] : []
  })
}

function deliveriesNamed(evidence: DepositEvidence): NamedTransaction[] {
  const approved = evidence.approval?.forward ? approvedDestination(evidence) : null
  return [evidence.api, evidence.webhook].flatMap((claim): NamedTransaction[] => {
    if (!claim?.settlement || claim.settlement.tx === null || approved === null) return []
    const { network, tx, address } = claim.settlement
    const isOurs = approved.network === network && approved.address === address
    return isOurs ? [{ role: 'recipient', network, tx, address }] : []
  })
}

function isSame(one: NamedTransaction, other: NamedTransaction): boolean {
  return one.role === other.role && one.network === other.network && one.tx === other.tx
}

function isOf({ role, network, tx }: TransactionFailure, named: NamedTransaction): boolean {
  return role === named.role && network === named.network && tx === named.tx
}
