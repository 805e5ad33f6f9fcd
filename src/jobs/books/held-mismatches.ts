import type { Transaction } from 'kysely'
import type { UnmatchedDelivery } from '../../core/decide.ts'
import { serviceOf } from '../../core/evidence.ts'
import type { UnreadableKind } from '../../core/mismatch.ts'
import { withdrawalSubject } from '../../core/withdrawal-claim.ts'
import { type NumberedDeposit, serviceOfDeposit } from '../../store/books/deposits.ts'
import type { GroupWithdrawal } from '../../store/books/withdrawals.ts'
import type { PendingRow } from '../../store/inbox.ts'
import type { HeldMismatch } from '../../store/mismatches/mismatches.ts'
import { servicesOfRecipients } from '../../store/owners.ts'
import type { Tables } from '../../store/tables.ts'

type UnmatchedOfGroup = { groupId: bigint; unmatchedDeliveries: readonly UnmatchedDelivery[] }

/** An unmatched delivery is of the service that alone forwards to its recipient. */
export async function heldMismatches(
  tx: Transaction<Tables>,
  deposits: readonly NumberedDeposit[],
  groups: readonly UnmatchedOfGroup[],
): Promise<HeldMismatch[]> {
  const ofDeposits = deposits.flatMap(({ id, groupId, evidence, verdict, payment }) =>
    verdict.mismatches.map((mismatch) => ({
      ...mismatch,
      subject: `deposit/${id}`,
      service: serviceOfDeposit(evidence),
      depositId: id,
      groupId,
      network: payment?.network ?? null,
      asset: payment?.asset ?? null,
      value: payment?.amount ?? null,
    })),
  )
  const unmatched = groups.flatMap(({ groupId, unmatchedDeliveries }) =>
    unmatchedDeliveries.map((delivery) => ({ groupId, ...delivery })),
  )
  const recipients = unmatched.map(({ leg: { network, to } }) => ({ network, address: to }))
  const services = await servicesOfRecipients(tx, recipients)
  const ofUnmatchedDeliveries = unmatched.map(({ groupId, leg, mismatch }): HeldMismatch => {
    const service = services.get(`${leg.network}/${leg.to}`)
    return {
      ...mismatch,
      ...(service !== undefined && { service }),
      subject: `transfer/${leg.ref}`,
      groupId,
      network: leg.network,
      asset: leg.asset,
      value: leg.amount,
    }
  })
  return [...ofDeposits, ...ofUnmatchedDeliveries]
}

export function withdrawalMismatches(withdrawals: readonly GroupWithdrawal[]): HeldMismatch[] {
  return withdrawals.flatMap(({ groupId, claim, mismatch }) => {
    if (mismatch === null) return []
    const { wallet, network, asset, amount } = claim
    const subject = withdrawalSubject(claim)
    return [{ ...mismatch, subject, service: serviceOf(wallet), groupId, network, asset, value: amount }]
  })
}

/** The payload stays in the inbox until the profile is fixed. */
export function unreadableMismatch(
  row: PendingRow,
  { kind, path, problem }: { kind: UnreadableKind; path: string; problem: string },
): HeldMismatch {
  const { service, source } = row
  return { subject: `inbox/${row.id}`, kind, service, detail: { source, path, problem } }
}
