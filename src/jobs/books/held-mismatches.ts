import type { UnmatchedDelivery } from '../../core/decide.ts'
import type { UnreadableKind } from '../../core/mismatch.ts'
import { type NumberedDeposit, serviceOfDeposit } from '../../store/books/deposits.ts'
import type { PendingRow } from '../../store/inbox.ts'
import type { HeldMismatch } from '../../store/mismatches/mismatches.ts'

export function heldMismatches(
  deposits: readonly NumberedDeposit[],
  unmatchedDeliveries: readonly { groupId: bigint; unmatchedDeliveries: readonly UnmatchedDelivery[] }[],
): HeldMismatch[] {
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
  const ofUnmatchedDeliveries = unmatchedDeliveries.flatMap(({ groupId, unmatchedDeliveries: found }) =>
    found.map(({ leg, mismatch }) => ({
      ...mismatch,
      subject: `transfer/${leg.ref}`,
      groupId,
      network: leg.network,
      asset: leg.asset,
      value: leg.amount,
    })),
  )
  return [...ofDeposits, ...ofUnmatchedDeliveries]
}

/** The payload stays in the inbox until the profile is fixed. */
export function unreadableMismatch(
  row: PendingRow,
  { kind, path, problem }: { kind: UnreadableKind; path: string; problem: string },
): HeldMismatch {
  const { service, source } = row
  return { subject: `inbox/${row.id}`, kind, service, detail: { source, path, problem } }
}
