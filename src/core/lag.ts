import type { NetworkName } from './asset.ts'
import type { ServiceName } from './evidence.ts'

export type Milestones = {
  depositedAt: Date | null
  webhookAt: Date | null
  apiAt: Date | null
  chainAt: Date | null
  finalAt: Date | null
  settledAt: Date | null
  reconciledAt: Date | null
}

/** `delivery` and `apply` measure single messages. */
export const lagStages = [
  'delivery',
  'apply',
  'api_detection',
  'chain_detection',
  'finality',
  'settlement',
  'reconciliation',
] as const
export type LagStage = (typeof lagStages)[number]

export type Lag = { stage: LagStage; network: NetworkName; seconds: number }
/** `service`: null for what no service sent. `of`: the deposit or inbox row that was measured. */
export type MeasuredLag = Lag & {
  service: ServiceName | null
  of: { depositId: bigint } | { inboxId: bigint }
}

export const stages: Partial<Record<LagStage, { from: keyof Milestones; to: keyof Milestones }>> = {
  api_detection: { from: 'depositedAt', to: 'apiAt' },
  chain_detection: { from: 'depositedAt', to: 'chainAt' },
  finality: { from: 'depositedAt', to: 'finalAt' },
  settlement: { from: 'finalAt', to: 'settledAt' },
  reconciliation: { from: 'depositedAt', to: 'reconciledAt' },
}

export function completedStages(before: Milestones | null, after: Milestones, network: NetworkName): Lag[] {
  return Object.entries(stages).flatMap(([stage, { from, to }]) => {
    const [start, end] = [after[from], after[to]]
    const wasComplete = before !== null && before[from] !== null && before[to] !== null
    if (start === null || end === null || wasComplete) return []
    return [{ stage: stage as LagStage, network, seconds: secondsBetween(start, end) }]
  })
}

/** Clocks differ between machines: a stage that seems to end before it began took no time. */
export function secondsBetween(start: Date, end: Date): number {
  return Math.max(0, (end.getTime() - start.getTime()) / 1000)
}
