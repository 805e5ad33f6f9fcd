import type { UnmatchedDelivery } from '../../core/decide.ts'
import { type MismatchKind, mismatchKinds, type UnreadableKind } from '../../core/mismatch.ts'
import type { NumberedDeposit } from '../../store/books/deposits.ts'
import type { PendingRow } from '../../store/inbox.ts'
import type { HeldMismatch } from '../../store/mismatches/mismatches.ts'

export function heldMismatches(
  deposits: readonly NumberedDeposit[],
  unmatchedDeliveries: readonly { groupId: bigint; unmatchedDeliveries: readonly UnmatchedDelivery[] }[],
): HeldMismatch[] {
  const ofDeposits = deposits.flatMap(({ id, groupId, verdict, payment }) =>
    verdict.mismatches.map(({ kind, detail, loss }) => ({
      subject: `deposit/${id}`,
      kind,
      severity: severityOf(kind),
      depositId: id,
      groupId,
      network: payment?.network ?? null,
      asset: payment?.asset ?? null,
      value: payment?.amount ?? null,
      loss,
      detail,
    })),
  )
  const ofUnmatchedDeliveries = unmatchedDeliveries.flatMap(({ groupId, unmatchedDeliveries: found }) =>
    found.map(({ leg, mismatch }) => ({
      subject: `transfer/${leg.ref}`,
      kind: mismatch.kind,
      severity: severityOf(mismatch.kind),
      depositId: null,
      groupId,
      network: leg.network,
      asset: leg.asset,
      value: leg.amount,
      loss: mismatch.loss,
      detail: mismatch.detail,
    })),
  )
  return [...ofDeposits, ...ofUnmatchedDeliveries]
}

/** The payload stays in the inbox until the profile is fixed. */
export function unreadableMismatch(
  row: PendingRow,
  { kind, path, problem }: { kind: UnreadableKind; path: string; problem: string },
): HeldMismatch {
  return {
    subject: `inbox/${row.id}`,
    kind,
    severity: severityOf(kind),
    depositId: null,
    groupId: null,
    network: null,
    asset: null,
    value: null,
    loss: null,
    detail: { source: row.source, path, problem },
  }
}

function severityOf(kind: MismatchKind) {
  return mismatchKinds[kind].severity
}
