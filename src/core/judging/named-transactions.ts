import type { Address, NetworkName, TxId } from '../asset.ts'
import { deliveryTxs, type TransactionFailure } from '../evidence.ts'
import type { DepositEvidence } from '../matching/divide.ts'
import type { Policy } from '../policy.ts'
import { isBeforeHistory } from './absence.ts'
import { approvedDestination, type Destination, liveLeg } from './legs.ts'

export type NamedTransaction = {
  role: TransactionFailure['role']
  network: NetworkName
  tx: TxId
  address: Address
}

/** Only addresses of the address book count: a chain can show nothing at others. */
export function unseenTransactions(evidence: DepositEvidence, policy: Policy): NamedTransaction[] {
  const { approval, failures } = evidence
  if (isBeforeHistory(evidence, policy)) return []
  const all = [
    ...namedAt(approval, 'deposit', evidence),
    ...namedAt(approval?.forward ? approvedDestination(evidence) : null, 'recipient', evidence),
  ].filter(({ role }) => !hasMoved(evidence, role))
  const isKnown = (one: NamedTransaction) => failures.some((failure) => isSame(failure, one))
  return all.filter((one, place) => all.findIndex((other) => isSame(one, other)) === place && !isKnown(one))
}

/** Null if any named transaction has moved something. */
export function failureOf(
  evidence: DepositEvidence,
  role: TransactionFailure['role'],
): TransactionFailure | null {
  if (hasMoved(evidence, role)) return null
  return evidence.failures.find((failure) => failure.role === role) ?? null
}

function hasMoved({ deposit, settlements }: DepositEvidence, role: TransactionFailure['role']): boolean {
  const legs = role === 'deposit' ? [deposit] : settlements
  return legs.some((leg) => liveLeg(leg) !== null)
}

function namedAt(
  own: Destination | null,
  role: TransactionFailure['role'],
  { api, webhook }: DepositEvidence,
): NamedTransaction[] {
  return [api, webhook].flatMap((claim): NamedTransaction[] => {
    const leg = role === 'deposit' ? claim?.deposit : claim?.settlement
    if (!leg || leg.network !== own?.network || leg.address !== own.address) return []
    const { network, address } = leg
    return deliveryTxs(leg).map((tx) => ({ role, network, tx, address }))
  })
}

function isSame(
  one: Pick<NamedTransaction, 'role' | 'network' | 'tx'>,
  other: Pick<NamedTransaction, 'role' | 'network' | 'tx'>,
): boolean {
  return one.role === other.role && one.network === other.network && one.tx === other.tx
}
