/** `thin`: without what happened, which the receiver reads from the API. */
export const eventPayloads = ['thin', 'full'] as const
export type EventPayload = (typeof eventPayloads)[number]

export const eventTypes = [
  'deposit.observed',
  'deposit.final',
  'deposit.settled',
  'deposit.reconciled',
  'deposit.credit_safe',
  'deposit.reversed',
  'deposit.merged',
  'mismatch.opened',
  'mismatch.changed',
  'mismatch.cleared',
  'mismatch.resolved',
  'approval.requested',
  'period.closed',
  'seal.published',
] as const
export type EventType = (typeof eventTypes)[number]
