import type { ClaimStatus } from '../evidence.ts'
import type { DepositEvidence } from '../matching/divide.ts'
import { statusRank } from '../matching/fold.ts'
import type { Policy } from '../policy.ts'
import { earliest, latest } from '../time.ts'

export type StatusStep = { status: ClaimStatus; since: Date; isReported: boolean }

type StepPolicy = Pick<Policy, 'webhookStatuses' | 'webhooksSinceMs'>

/** When the chain showed each leg as final. */
type Proofs = { finalAt: Date | null; settledAt: Date | null }

/**
 * In order of time, only statuses that webhooks must report. A chain does not know the service's statuses, so a webhook
 * for a later step is as good for a step that only the chain knows.
 */
export function stepsOf(
  { statuses, webhook, deposit, settlements }: DepositEvidence,
  proofs: Proofs,
  { webhookStatuses: wanted, webhooksSinceMs }: StepPolicy,
): StatusStep[] {
  const proved = new Map<ClaimStatus, Date | null>([
    ['confirmed', proofs.finalAt],
    ['settled', proofs.settledAt],
  ])
  const happened = new Map<ClaimStatus, Date | null>([
    ['confirmed', deposit?.blockAt ?? null],
    ['settled', latest(settlements.map(({ blockAt }) => blockAt))],
  ])
  const reported = webhook === null ? -1 : statusRank[webhook.status]
  return wanted
    .flatMap((status): StatusStep[] => {
      const listedAt = statuses.api.get(status) ?? null
      const since = earliest([listedAt, proved.get(status) ?? null])
      if (since === null) return []
      // The chain may be read long after it happened.
      const happenedAt = earliest([since, happened.get(status) ?? null]) ?? since
      if (happenedAt.getTime() < (webhooksSinceMs ?? -Infinity)) return []
      const isPassed = listedAt === null && reported >= statusRank[status]
      return [{ status, since, isReported: isPassed || statuses.webhook.has(status) }]
    })
    .toSorted((left, right) => left.since.getTime() - right.since.getTime())
}

export function countSteps(
  evidence: DepositEvidence,
  { state, ...proofs }: Proofs & { state: string },
  policy: StepPolicy,
): { known: number; reported: number; unreportedSince: Date | null } {
  const steps = state === 'ignored' ? [] : stepsOf(evidence, proofs, policy)
  const unreported = steps.filter(({ isReported }) => !isReported)
  return {
    known: steps.length,
    reported: steps.length - unreported.length,
    unreportedSince: unreported[0]?.since ?? null,
  }
}
