import type { ClaimStatus } from '../evidence.ts'
import type { DepositEvidence } from '../matching/divide.ts'
import { statusRank } from '../matching/fold.ts'
import { earliest } from '../time.ts'

/** A status of a deposit of which somebody else than a webhook told, and whether a webhook told of it too. */
export type StatusStep = { status: ClaimStatus; since: Date; isTold: boolean }

/** When the chain showed that the payment is final, and that the delivery is. */
type Proofs = { finalAt: Date | null; settledAt: Date | null }

/**
 * The steps of a deposit as the API and the chain know them, in order of time; only of the statuses that webhooks are
 * to tell of. A chain knows no word of the service: that a webhook tells of a later step is as good there.
 */
export function stepsOf(
  { statuses, webhook }: DepositEvidence,
  proofs: Proofs,
  wanted: readonly ClaimStatus[],
): StatusStep[] {
  const proved = new Map<ClaimStatus, Date | null>([
    ['confirmed', proofs.finalAt],
    ['settled', proofs.settledAt],
  ])
  const told = webhook === null ? -1 : statusRank[webhook.status]
  return wanted
    .flatMap((status): StatusStep[] => {
      const listedAt = statuses.api.get(status) ?? null
      const since = earliest([listedAt, proved.get(status) ?? null])
      if (since === null) return []
      const isPassed = listedAt === null && told >= statusRank[status]
      return [{ status, since, isTold: isPassed || statuses.webhook.has(status) }]
    })
    .toSorted((left, right) => left.since.getTime() - right.since.getTime())
}

/** How many steps there are, of how many a webhook told, and since when the first waits for one. */
export function countSteps(
  dossier: DepositEvidence,
  { state, ...proofs }: Proofs & { state: string },
  { webhookStatuses }: { webhookStatuses: readonly ClaimStatus[] },
): { known: number; told: number; untoldSince: Date | null } {
  const steps = state === 'ignored' ? [] : stepsOf(dossier, proofs, webhookStatuses)
  const untold = steps.filter(({ isTold }) => !isTold)
  return {
    known: steps.length,
    told: steps.length - untold.length,
    untoldSince: untold[0]?.since ?? null,
  }
}
