/** `thin`: without what happened, which the receiver reads from the API. */
export const eventPayloads = ['thin', 'full'] as const
export type EventPayload = (typeof eventPayloads)[number]
